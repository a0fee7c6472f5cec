"""Findings of what is counted or set: each is provoked beside a path without it, while other tests run."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.analysis.answer_model import Finding
from rowpath.analysis.model import Analysis
from rowpath.execution import measured as collected
from rowpath.model.experiment import Selection
from rowpath.runners.manifest import adapter_of, availability, load_manifest
from tests import provoked
from tests.end_to_end.command import records
from tests.provoked import LIBPQ, PGJDBC, PSYCOPG, SQLITE, Select, blamed, told

# What is counted or set is seen in the first block.
measured = functools.partial(provoked.measured, sets=1, rounds=1, warm_cap_s=0.05)

# A result of about 5 MB of payload, and a small one of the same table.
LARGE = """
name = "large"
title = "A result that is worth holding against memory"

[tables.hits]
rows = 120000
generator = "hits"
primary_key = ["REQTS"]
columns = [
  { name = "REQTYPE", type = "char", length = 10 },
  { name = "REQFILE", type = "char", length = 80 },
  { name = "BROWSER", type = "char", length = 10 },
  { name = "REQTS", type = "timestamp" },
  { name = "REQSIZE", type = "integer" },
]

[[phases]]
name = "all"
kind = "query"
sql = "SELECT REQTYPE, REQFILE, BROWSER, REQTS, REQSIZE FROM hits"
table = "hits"
scan = true
rows_per_operation = 120000
expected = "whole-table"

[[phases]]
name = "first"
kind = "query"
sql = "SELECT REQTYPE, REQFILE, BROWSER, REQTS, REQSIZE FROM hits ORDER BY REQTS LIMIT 100"
table = "hits"
rows_per_operation = 100
expected = "first-rows"
"""


NODE: Select = {"engine": "postgresql", "language": "node", "transport": "tcp", "statement": "prepared"}
GO: Select = {"engine": "postgresql", "language": "go", "transport": "tcp", "statement": "bound"}
NODE_DRIVERS = ("pg", "postgres-js")
GO_DRIVERS: dict[str, Select] = {"pgx": {"exec_mode": "auto"}, "pq": {"format": "text"}}
DERBY: Select = {"engine": "derby", "deployment": "server", "driver": "derby", "statement": "prepared"}


@pytest.fixture(autouse=True, scope="module")
def undisturbed() -> Iterator[None]:
    """Every block counts: other tests' noise is not what is tested."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(collected, "ACCOUNTED_LEAST", -1.0)
        for limit in ("WAIT_MOST", "FOREIGN_MOST"):
            patched.setattr(collected, limit, math.inf)
        yield


def missing(language: str, *drivers: str) -> str:
    """Why one of these drivers is not here, empty when all are."""
    adapters = [adapter_of(language, driver) for driver in drivers]
    return next((here.reason for a in adapters if not (here := availability(a, a.versions[0])).ok), "")


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """One run of what is only counted; each path has the phase in which its finding would be."""
    keyed = [
        *(each | {"statement": ("prepared", "bound", "text")} for each in (LIBPQ, PSYCOPG, PGJDBC)),
        PSYCOPG | {"profile": "shipped"},
        DERBY,
        *(GO | {"driver": name} | own for name, own in GO_DRIVERS.items() if not missing("go", *GO_DRIVERS)),
    ]
    whole = [
        PGJDBC | {"statement": "prepared", "result": ("fetch-size:1000", "cursor:1000")},
        *(NODE | {"driver": name, "result": "whole"} for name in NODE_DRIVERS if not missing("node", *NODE_DRIVERS)),
    ]
    parts = {"keyed.read": keyed, "scan.read": whole}
    chosen = [Selection(select=dict(each), phases=(phase,)) for phase, several in parts.items() for each in several]
    return measured(tmp_path_factory.mktemp("counted"), list(parts), *chosen)


def of_driver(analysis: Analysis, driver: str, rule: str) -> list[Finding]:
    """A rule's findings of one driver's paths."""
    mine = {result.name for result in analysis.results if result.path["driver"] == driver}
    return [finding for finding in told(analysis, rule) if mine.intersection(finding.paths)]


def large(tmp_path: Path) -> tuple[str, ...]:
    """The file of the workload with the large result."""
    file = tmp_path / "large.toml"
    file.write_text(LARGE, encoding="utf-8")
    return (str(file),)


def test_fetch_size_ignored(counted: Analysis) -> None:
    names = blamed(counted, "fetch-size-ignored")
    assert "fetch-size:1000" in names
    assert "cursor" not in names


def test_result_buffered_whole(tmp_path: Path) -> None:
    selection = LIBPQ | {"statement": "prepared", "result": ("whole", "single-row")}
    analysis = measured(tmp_path, ["large.first", "large.all"], selection, files=large(tmp_path))
    names = blamed(analysis, "result-buffered-whole")
    assert "whole" in names
    assert "single-row" not in names


def test_implicit_transaction(counted: Analysis) -> None:
    (finding,) = told(counted, "implicit-transaction")
    assert "shipped" in finding.paths[0]
    assert "3 round trips and 1 commits per operation" in finding.evidence


@pytest.mark.parametrize("driver", ["libpq", "psycopg", "pgjdbc"])
def test_what_is_prepared_each_time_is_counted(counted: Analysis, driver: str) -> None:
    mine = [r for r in counted.results if (r.path["driver"], r.path["profile"], r.phase) == (driver, "tuned", "read")]
    mine = [r for r in mine if r.workload == "keyed" and r.metric == "texts_sent"]
    assert {r.path["statement"]: r.median for r in mine} == {"prepared": 0, "bound": 1, "text": 1}
    (finding,) = of_driver(counted, driver, "prepared-each-time")
    assert "20 times in 20 operations" in finding.evidence
    assert "×" in finding.text


@pytest.mark.skipif(bool(missing("node", *NODE_DRIVERS)), reason=missing("node", *NODE_DRIVERS))
@pytest.mark.parametrize("driver", NODE_DRIVERS)
def test_a_statement_without_parameters_is_prepared_once_too(counted: Analysis, driver: str) -> None:
    sent = [r.median for r in counted.results if (r.path["driver"], r.metric) == (driver, "texts_sent")]
    assert sent == [0]
    assert not of_driver(counted, driver, "prepared-each-time")


def test_a_manifest_declares_the_round_trip_of_derbys_commit(counted: Analysis) -> None:
    trips = [r.median for r in counted.results if (r.path["driver"], r.metric) == ("derby", "round_trips")]
    assert trips == [2]
    assert of_driver(counted, "derby", "round-trips-not-as-declared") == []


@pytest.mark.skipif(bool(missing("go", *GO_DRIVERS)), reason=missing("go", *GO_DRIVERS))
def test_a_bound_statement_commits_where_it_is_parsed_and_where_it_is_executed(counted: Analysis) -> None:
    for metric in ("round_trips", "commits"):
        mine = (r for r in counted.results if r.metric == metric and r.path["driver"] in GO_DRIVERS)
        # A backend may report late.
        assert {r.path["driver"]: r.median for r in mine} == pytest.approx(dict.fromkeys(GO_DRIVERS, 2), abs=0.1)
    for driver in GO_DRIVERS:
        assert of_driver(counted, driver, "commits-not-as-declared") == []


def test_confounded_version(tmp_path: Path) -> None:
    if not any(adapter.driver == "sqlite-jdbc" for adapter in load_manifest("java").adapter):
        pytest.skip("there is no such driver")
    analysis = measured(tmp_path, ["keyed.read"], SQLITE, SQLITE | {"driver": "sqlite-jdbc"})
    (finding,) = told(analysis, "confounded-version")
    assert "sqlite-jdbc" in finding.paths[0]
    assert len({ranking.comparison for ranking in analysis.rankings if ranking.phase == "read"}) == 2


def test_unrequested_tls(tmp_path: Path) -> None:
    """libpq takes TLS where the server offers it."""
    selection = PSYCOPG | {"statement": "prepared", "tls": ("default", "off", "on")}
    analysis = measured(tmp_path, ["keyed.read"], selection)
    (finding,) = told(analysis, "unrequested-tls")
    assert finding.severity == "warning"
    assert "default" in finding.paths[0]
    texts = {r.path["tls"] for r in analysis.results if r.metric == "texts_sent"}
    assert texts == {"off"}, "what is encrypted cannot be counted"


def test_compressed_messages(tmp_path: Path) -> None:
    """The rows are proven, the server itself has the connection compressed, fewer bytes cross, texts are unknown."""
    selection: Select = {"engine": "mariadb", "driver": "libmariadb", "transport": "tcp", "durability": "none"}
    plain: Select = selection | {"compression": ("none", "zlib"), "statement": "text"}
    drained: Select = selection | {"driver": "drain", "compression": ("none", "zlib")}
    analysis = measured(tmp_path, ["scan.read"], plain, drained)
    (finding,) = (one for one in told(analysis, "compressed-messages") if "drain" not in one.paths[0])
    assert "zlib" in finding.paths[0] and not told(analysis, "bytes-below-payload")
    counts = {(r.path["driver"], r.path["compression"], r.metric): r.median for r in analysis.results}
    assert ("libmariadb", "none", "texts_sent") in counts and ("libmariadb", "zlib", "texts_sent") not in counts
    received = {key[:2]: value for key, value in counts.items() if key[2] == "bytes_received"}
    for driver in ("libmariadb", "drain"):
        assert 0 < (received[driver, "zlib"] or 0) < (received[driver, "none"] or 0) / 2
    assert received["drain", "zlib"] == counts["drain", "zlib", "bytes_drained"]
    facts = records(tmp_path / "run", "facts")
    on = {("compression=zlib" in fact["path_id"], fact["facts"]["settings"].get("compression")) for fact in facts}
    assert on == {(False, None), (True, "on")}
    method = next(c["method"] for c in records(tmp_path / "run", "counted") if "compression=zlib" in c["path_id"])
    assert method["texts_sent"] == "unavailable: the connection is compressed"
