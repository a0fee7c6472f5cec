"""The wait of a user's own query divided, and which of a driver's settings are explained."""

from __future__ import annotations

import msgspec
import pytest

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import ServerTimes
from rowpath.errors import UsageError
from rowpath.explain.own_query import MOST_PATHS, chosen, divided_wait
from rowpath.model.explanation import Explanation, Part
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.report.explanation import server_sentence

CLOCK = ENGINES["postgresql"].probe.server_clock
CLIENT = Part("client", "libpq", 40_000.0, "a clock")
WAIT = Part("core", "waiting", 960_000.0, "a clock")
WHOLE = Explanation("C", {"statement": "prepared"}, "your query", 1e6, 9e5, 1.1e6, 10, (CLIENT, WAIT), 0.0)


def parts(found: Explanation) -> dict[str, float]:
    return {part.name: part.ns for part in found.parts}


def test_a_wait_is_a_round_trip_what_the_server_executes_and_the_rest() -> None:
    found = divided_wait(WHOLE, 60_000.0, "SELECT 1", ServerTimes(0.1, 0.5), CLOCK)
    assert parts(found) == {"libpq": 40_000, "executing": 500_000, "round trip": 60_000, "waiting": 400_000}
    assert found.server_says is not None and not found.server_says.overlaps
    assert server_sentence(found.server_says, found.operation_ns) == (
        "The server reports 500 µs (EXPLAIN ANALYZE), 50.0 % of it."
    )
    unprepared = msgspec.structs.replace(WHOLE, path={"statement": "text"})
    assert parts(divided_wait(unprepared, 60_000.0, "", ServerTimes(0.1, 0.5), CLOCK))["executing"] == 600_000


def test_a_wait_shorter_than_what_the_server_says_stays_whole() -> None:
    found = divided_wait(WHOLE, 60_000.0, "SELECT 1", ServerTimes(0.0, 2.0), CLOCK)
    assert parts(found) == {"libpq": 40_000, "waiting": 960_000}
    assert found.server_says is not None and found.server_says.overlaps
    assert "both sides work at once for a part of it" in server_sentence(found.server_says, found.operation_ns)
    both = divided_wait(WHOLE, 60_000.0, "SELECT 1", ServerTimes(0.0, 0.93), CLOCK)
    assert parts(both) == {"libpq": 40_000, "waiting": 960_000}
    assert both.server_says is not None and not both.server_says.overlaps


def test_a_server_that_says_nothing() -> None:
    found = divided_wait(WHOLE, 60_000.0, "SELECT 1", None, CLOCK)
    assert parts(found) == {"libpq": 40_000, "round trip": 60_000, "waiting": 900_000}
    assert found.server_says is None


@pytest.mark.parametrize(
    ("engine", "text", "times"),
    [
        ("postgresql", '[{"Plan": {}, "Planning Time": 0.25, "Execution Time": 1.5}]', ServerTimes(0.25, 1.5)),
        (
            "mariadb",
            '{"query_optimization": {"r_total_time_ms": 0.5}, "query_block": {"r_total_time_ms": 2.0}}',
            ServerTimes(0.5, 2.0),
        ),
        ("mysql", "-> Rows fetched (cost=0..0 rows=1) (actual time=0.1..2.5e-1 rows=20 loops=2)", ServerTimes(0, 0.5)),
    ],
)
def test_what_servers_say(engine: str, text: str, times: ServerTimes) -> None:
    clock = ENGINES[engine].probe.server_clock
    assert clock is not None
    assert clock.read_ms(text) == times


def test_which_settings_are_explained() -> None:
    found = candidates(Wanted("sqlite", "embedded", Phase("query", "query", "SELECT 1"), transport="none"))
    usual = chosen(found, {})
    assert {planned.path.id for planned in usual} == set(found.baselines)
    (one,) = chosen(found, {"driver": ("sqlite3",)})
    assert (one.path.language, one.path.driver) == ("python", "sqlite3")
    blocks = chosen(found, {"driver": ("sqlite3",), "fetch": ("block:1000",)})
    assert blocks and all(planned.path.get("fetch") == "block:1000" for planned in blocks)
    with pytest.raises(UsageError, match="unknown coordinate 'colour'"):
        chosen(found, {"colour": ("red",)})
    with pytest.raises(UsageError, match="no setting of a driver matches"):
        chosen(found, {"driver": ("sqlite3",), "fetch": ("nothing",)})
    with pytest.raises(UsageError, match=f"explain takes at most {MOST_PATHS}"):
        chosen(found, {"engine": ("sqlite",)})
