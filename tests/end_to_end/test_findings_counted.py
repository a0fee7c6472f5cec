"""Findings of what is counted or set: each is provoked beside a path without it, while other tests run."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import pytest

from rowpath.execution import measured as collected
from rowpath.runners.manifest import adapter_of, availability, load_manifest
from tests import provoked
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


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block counts: other tests' noise is not what is tested."""
    monkeypatch.setattr(collected, "ACCOUNTED_LEAST", -1.0)
    for limit in ("WAIT_MOST", "FOREIGN_MOST"):
        monkeypatch.setattr(collected, limit, math.inf)


def large(tmp_path: Path) -> tuple[str, ...]:
    """The file of the workload with the large result."""
    file = tmp_path / "large.toml"
    file.write_text(LARGE, encoding="utf-8")
    return (str(file),)


def test_fetch_size_ignored(tmp_path: Path) -> None:
    selection = PGJDBC | {"statement": "prepared", "result": ("fetch-size:1000", "cursor:1000")}
    analysis = measured(tmp_path, ["scan.read"], selection)
    names = blamed(analysis, "fetch-size-ignored")
    assert "fetch-size:1000" in names
    assert "cursor" not in names


def test_result_buffered_whole(tmp_path: Path) -> None:
    selection = LIBPQ | {"statement": "prepared", "result": ("whole", "single-row")}
    analysis = measured(tmp_path, ["large.first", "large.all"], selection, files=large(tmp_path))
    names = blamed(analysis, "result-buffered-whole")
    assert "whole" in names
    assert "single-row" not in names


def test_implicit_transaction(tmp_path: Path) -> None:
    analysis = measured(tmp_path, ["keyed.read"], PSYCOPG | {"profile": ("shipped", "tuned")})
    (finding,) = told(analysis, "implicit-transaction")
    assert "shipped" in finding.paths[0]
    assert "3 round trips and 1 commits per operation" in finding.evidence


@pytest.mark.parametrize("selection", [LIBPQ, PSYCOPG, PGJDBC], ids=["libpq", "psycopg", "pgjdbc"])
def test_what_is_prepared_each_time_is_counted(tmp_path: Path, selection: Select) -> None:
    analysis = measured(tmp_path, ["keyed.read"], selection | {"statement": ("prepared", "bound", "text")})
    sent = {r.path["statement"]: r.median for r in analysis.results if r.metric == "texts_sent"}
    assert sent == {"prepared": 0, "bound": 1, "text": 1}
    (finding,) = told(analysis, "prepared-each-time")
    assert "20 times in 20 operations" in finding.evidence
    assert "×" in finding.text


@pytest.mark.skipif(not availability(adapter_of("node", "null"), "bundled").ok, reason="no Node")
@pytest.mark.parametrize("driver", ["pg", "postgres-js"])
def test_a_statement_without_parameters_is_prepared_once_too(tmp_path: Path, driver: str) -> None:
    own = {"engine": "postgresql", "language": "node", "driver": driver, "transport": "tcp"}
    analysis = measured(tmp_path, ["scan.read"], own | {"statement": "prepared", "result": "whole"})
    assert [r.median for r in analysis.results if r.metric == "texts_sent"] == [0]
    assert not told(analysis, "prepared-each-time")


def test_a_manifest_declares_the_round_trip_of_derbys_commit(tmp_path: Path) -> None:
    selection: Select = {"engine": "derby", "deployment": "server", "driver": "derby", "statement": "prepared"}
    analysis = measured(tmp_path, ["keyed.read"], selection)
    assert [r.median for r in analysis.results if r.metric == "round_trips"] == [2]
    assert told(analysis, "round-trips-not-as-declared") == []


def test_a_bound_statement_commits_where_it_is_parsed_and_where_it_is_executed(tmp_path: Path) -> None:
    drivers: dict[str, Select] = {"pgx": {"exec_mode": "auto"}, "pq": {"format": "text"}}
    for driver in drivers:
        if not (here := availability(adapter_of("go", driver), adapter_of("go", driver).versions[0])).ok:
            pytest.skip(here.reason)
    go: Select = {"engine": "postgresql", "language": "go", "transport": "tcp", "statement": "bound"}
    analysis = measured(tmp_path, ["keyed.read"], *(go | {"driver": name} | own for name, own in drivers.items()))
    for metric in ("round_trips", "commits"):
        found = {r.path["driver"]: r.median for r in analysis.results if r.metric == metric}
        assert found == pytest.approx(dict.fromkeys(drivers, 2), abs=0.1)  # a backend may report late
    assert told(analysis, "commits-not-as-declared") == []


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
