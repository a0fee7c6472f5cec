"""The search's own decisions, without a database: the budget, halving, candidates, what settings matter."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.model.progress import Silent
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates, in_words
from rowpath.own_database.probed_query import confirmed
from rowpath.own_database.question import ProbeOptions, query_of
from rowpath.own_database.target import Target
from rowpath.own_database.throttled_worker import RowConsistency
from rowpath.probe.command import probe
from rowpath.probe.snippets import ABOUT, changed
from rowpath.runners.manifest import every_adapter
from rowpath.runners.protocol import SampleReply

QUERY = Phase("query", "query", "SELECT 1")


def test_candidates_are_ordered_from_the_drivers_defaults_outwards() -> None:
    found = candidates(Wanted("sqlite", "embedded", QUERY, languages=("c", "python")))
    drivers = [planned.adapter.driver for planned in found.paths]
    assert set(drivers[:2]) <= {"sqlite", "libsqliteodbc", "sqlite3", "adbc-sqlite"}
    assert drivers[0] == "sqlite"
    first: dict[str, dict[str, str]] = {}
    farthest: dict[str, int] = {}
    for planned in found.paths:
        driver = planned.adapter.driver
        default = first.setdefault(driver, planned.path.as_dict())
        apart = sum(1 for key, value in planned.path.as_dict().items() if value != default[key])
        assert apart >= farthest.get(driver, 0) or planned.path.id in found.baselines, planned.name
        farthest[driver] = max(farthest.get(driver, 0), apart)
    # Breadth first: no driver has its third turn before all that have a second one had it.
    turns = [drivers[:place].count(driver) for place, driver in enumerate(drivers)]
    assert turns == sorted(turns)
    assert len({planned.path.id for planned in found.paths}) == len(found.paths)
    assert len({planned.name for planned in found.paths}) == len(found.paths)
    assert {planned.path.get("durability") for planned in found.paths} == {"none"}  # nothing is to be brought about


def test_a_server_that_is_not_ours_has_neither_version_nor_placement() -> None:
    found = candidates(Wanted("postgresql", "server", QUERY, drivers=("libpq",), transport="tcp", tls="default"))
    assert found.paths
    for planned in found.paths:
        said = [planned.path.get(key) for key in ("engine_version", "placement", "transport", "tls", "clients")]
        assert said == ["by-url", "none", "tcp", "default", "1"]
    assert {planned.path.fetch_form for planned in found.paths} >= {"row"}
    assert {"single-row", "whole"} <= {planned.path.get("result") for planned in found.paths}


def test_rows_blocks_and_columns_are_ranked_together() -> None:
    found = candidates(Wanted("sqlite", "embedded", QUERY))
    assert {planned.comparison for planned in found.paths} == {""}


def test_every_language_has_its_usual_driver_as_it_ships_to_compare_with() -> None:
    found = candidates(Wanted("postgresql", "server", QUERY, languages=("c", "python")))
    named = {planned.path.id: planned for planned in found.paths}
    usual = [named[path_id] for path_id, kind in found.baselines.items() if kind == "usual"]
    assert {in_words(planned) for planned in usual} == {"libpq as it ships", "psycopg2 as it ships"}
    for engine in ("postgresql", "sqlite", "mariadb", "mysql", "duckdb", "parquet", "file"):
        languages = [each.language for each in every_adapter() if engine in each.usual]
        assert languages and len(languages) == len(set(languages)), engine


def test_the_users_present_way_takes_part_whatever_else_is_chosen() -> None:
    mine = "psycopg2,result=cursor:500"
    found = candidates(Wanted("postgresql", "server", QUERY, drivers=("libpq",), mine=mine))
    ((path_id, kind),) = found.baselines.items()
    (planned,) = [each for each in found.paths if each.path.id == path_id]
    assert kind == "yours"
    assert in_words(planned) == "psycopg2 with a server-side cursor of 500"
    assert {each.adapter.driver for each in found.paths} == {"libpq", "psycopg2"}
    assert found.paths.index(planned) < 3  # it is among the first tries


@pytest.mark.parametrize(
    ("mine", "message", "hint"),
    [
        ("psycopg4", "unknown driver 'psycopg4' in --mine", "did you mean"),
        ("psycopg2,fetsch=row", "unknown setting 'fetsch' of psycopg2", "did you mean 'fetch'?"),
        ("psycopg2,result=all", "unknown value 'all' of result", "whole, cursor:1000"),
        ("psycopg2,fetch=block:100,result=cursor:1000", "is not possible: a server cursor", "change one"),
        ("sqlite3", "unknown driver 'sqlite3'", "did you mean"),
        ("psycopg2,transport=unix", "unknown setting 'transport'", "one of"),
    ],
)
def test_a_way_of_the_users_that_is_none_is_refused_with_a_hint(mine: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        candidates(Wanted("postgresql", "server", QUERY, mine=mine))
    assert message in error.value.message
    assert hint in error.value.hint


def test_paths_are_named_by_what_differs_from_how_their_driver_ships() -> None:
    found = candidates(Wanted("postgresql", "server", QUERY, drivers=("psycopg",)))
    words = {in_words(planned) for planned in found.paths}
    assert {"psycopg as it ships", "psycopg with binary values"} <= words
    assert "psycopg with a plain statement and blocks of 1,000 rows" in words


@pytest.mark.parametrize(("what", "value"), [("languages", "cobolt"), ("drivers", "libqp")])
def test_an_unknown_language_or_driver_is_refused_by_name(what: str, value: str) -> None:
    with pytest.raises(UsageError, match=value):
        candidates(Wanted("sqlite", "embedded", QUERY, **{what: (value,)}))  # type: ignore[arg-type]


def test_the_lines_of_a_program_that_differ_are_named_without_its_comment() -> None:
    before = f"# {ABOUT} a\nimport x\n\nrows = x.all()\nend()\n"
    after = f"# {ABOUT} b\nimport x\n\nwith y:\n    rows = x.some()\nend()\nmore()\n"
    assert changed(before, after) == "4–5, 7"
    assert changed(after, after) == ""


def reply(operations: int, touch: int) -> SampleReply:
    return SampleReply(
        id=1, ns=1, operations=operations, failed=0, rows=1, values=1, touch=f"{touch & (1 << 64) - 1:016x}", first=0,
        lead_in_operations=0, window_ns=1, window_cpu_ns=1, cpu_ns=1, min_ns=1, max_ns=1,
    )  # fmt: skip


def test_every_block_must_deliver_what_the_executions_before_it_did() -> None:
    same = RowConsistency()
    assert same.fits(reply(3, 77))  # nothing is known yet
    same.learn(1000)
    same.learn(-5)  # another language's unit; negative sums wrap
    assert same.fits(reply(3, 3000)) and same.fits(reply(3, -15)) and not same.fits(reply(3, 3001))
    assert same.expected_of([(0, 2), (2, 1)]) == {3000, -15 & (1 << 64) - 1}
    with same.unwatched():
        assert same.fits(reply(3, 3001))
    assert not same.fits(reply(3, 3001))
    same.changed = True
    assert same.fits(reply(3, 3001)) and same.expected_of([(0, 1)]) is None


def test_one_connection_is_too_few_for_taking_turns() -> None:
    with pytest.raises(UsageError, match="--connections 1"):
        probe(ProbeOptions("sqlite:///x", connections=1), Silent())


SERVER = Target("postgresql", "server", host="h", port=1, shown="postgresql://h:1/d")


def test_the_query_is_said_once(tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text("SELECT 'ä'\n;\n", encoding="utf-8")
    assert query_of(ProbeOptions("", query="SELECT 1;"), SERVER) == "SELECT 1"
    assert query_of(ProbeOptions("", query_file=file), SERVER) == "SELECT 'ä'"
    assert query_of(ProbeOptions("", table="a.b"), SERVER) == 'SELECT * FROM "a"."b"'
    for wrong in (
        ProbeOptions(""),
        ProbeOptions("", query="SELECT 1", table="t"),
        ProbeOptions("", query_file=tmp_path / "gone"),
    ):
        with pytest.raises(UsageError):
            query_of(wrong, SERVER)
    whole = Target("parquet", "file", path=tmp_path / "x.parquet", shown="file:///x.parquet")
    assert query_of(ProbeOptions(""), whole) == ""
    with pytest.raises(UsageError, match="read whole"):
        query_of(ProbeOptions("", query="SELECT 1"), whole)


def test_nobody_agrees_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert confirmed("copy 3 GB?") is False
