"""The wait of a user's own query divided, and which of a driver's settings are explained."""

from __future__ import annotations

import pytest
from msgspec import structs

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import ServerTimes
from rowpath.errors import UsageError
from rowpath.explain.own_query import MOST_PATHS, chosen, divided_wait, left_out
from rowpath.explain.server_times import Reported
from rowpath.model.explanation import Explanation, Part
from rowpath.model.path import AccessPath, Dropped
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Candidates, Wanted, candidates
from rowpath.report.explanation import server_sentence

CLOCK = ENGINES["postgresql"].probe.server_clock
CLIENT = Part("client", "libpq", 40_000.0, "a clock")
WAIT = Part("core", "waiting", 960_000.0, "a clock")
WHOLE = Explanation("C", {"statement": "prepared"}, "your query", 1e6, 9e5, 1.1e6, 10, (CLIENT, WAIT), 0.0)


def parts(found: Explanation) -> dict[str, float]:
    return {part.name: part.ns for part in found.parts}


def divided(reported: Reported, trip_ns: float = 60_000.0, cpu_ns: float | None = None) -> Explanation:
    found = divided_wait(WHOLE, trip_ns, "SELECT 1", reported, CLOCK, cpu_ns)
    assert sum(part.ns for part in found.parts) == pytest.approx(sum(part.ns for part in WHOLE.parts))
    assert all(part.ns > 0 for part in found.parts)
    assert found.server_says is not None and (found.server_says.ns or 0) <= found.operation_ns
    return found


def sentence_of(found: Explanation) -> str:
    assert found.server_says is not None
    return server_sentence(found.server_says, found.operation_ns)


def test_a_wait_is_a_round_trip_what_the_server_executes_and_the_rest() -> None:
    found = divided(Reported(100_000, 500_000))
    assert parts(found) == {
        "libpq": 40_000, "planning": 100_000, "executing": 500_000, "round trip": 60_000, "waiting": 300_000
    }  # fmt: skip
    assert sentence_of(found) == (
        "The server reports 600 µs (EXPLAIN ANALYZE), 60.0 % of it; 100 µs of it plans. "
        "This leaves out detoasting values and making the output."
    )


def test_making_the_output_is_what_the_server_says_else_what_its_process_had_beyond_that() -> None:
    reported = divided(Reported(0, 100_000, 600_000))
    assert parts(reported) | {"making the output": 600_000, "executing": 100_000, "waiting": 200_000} == parts(reported)
    assert "600 µs of it makes the output." in sentence_of(reported) and "leaves out" not in sentence_of(reported)
    by_process = divided(Reported(0, 100_000), cpu_ns=500_000)
    assert parts(by_process)["output and sending"] == 400_000
    assert sentence_of(by_process).endswith("Its process used 500 µs of CPU.")


def test_a_round_trip_is_at_most_what_the_server_leaves_of_the_wait() -> None:
    found = divided(Reported(0, 930_000))
    assert parts(found) == {"libpq": 40_000, "executing": 930_000, "round trip": 30_000}


def test_a_server_that_reports_more_than_the_client_waits() -> None:
    assert parts(divided(Reported(0, 1_050_000))) == {"libpq": 40_000, "executing": 960_000}
    found = divided_wait(
        structs.replace(WHOLE, parts=(Part("client", "libpq", 600_000.0, ""), Part("core", "waiting", 4e5, ""))),
        60_000.0, "SELECT 1", Reported(0, 700_000), CLOCK,
    )  # fmt: skip
    assert parts(found) == {"libpq": 600_000, "waiting": 400_000}
    assert "both sides work at once for a part of it" in sentence_of(found)


def test_a_server_s_part_never_exceeds_the_operation() -> None:
    found = divided(Reported(0, 4_750_000))
    assert parts(found) == {"libpq": 40_000, "round trip": 60_000, "waiting": 900_000}
    assert sentence_of(found) == (
        "The server's part is unknown: EXPLAIN ANALYZE reports 4.75 ms, more than the operation takes."
    )
    by_process = divided(Reported(0, 4_750_000), cpu_ns=300_000)
    assert parts(by_process)["executing"] == 300_000
    assert "The server reports 300 µs (the CPU clock of its process), 30.0 % of it." in sentence_of(by_process)


def test_a_server_that_says_nothing() -> None:
    found = divided(Reported(why="permission denied"))
    assert parts(found) == {"libpq": 40_000, "round trip": 60_000, "waiting": 900_000}
    assert "unknown: it refuses EXPLAIN ANALYZE: permission denied." in sentence_of(found)


@pytest.mark.parametrize(
    ("engine", "text", "times"),
    [
        (
            "postgresql",
            '[{"Plan": {"Node Type": "Sort", "Plans": [{"Node Type": "Seq Scan"}]}, '
            '"Planning Time": 0.25, "Execution Time": 1.5}]',
            ServerTimes(0.25, 1.5, ("Sort", "Seq Scan")),
        ),
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


def test_a_driver_that_is_named_and_left_out_is_said_with_its_reason() -> None:
    dropped = [Dropped(AccessPath.of({"language": "node", "driver": name}), f"{name} takes one host") for name in "ab"]
    found = Candidates((), (), (dropped[0], *dropped))
    assert left_out(found, {"driver": ("a", "c")}) == ["a is left out: a takes one host"]
    assert not left_out(found, {"driver": ("a",), "language": ("c",)}) and not left_out(found, {})
