"""Findings about paths that do not do what they declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import journal_factory as factory
from tests.unit.analysis.findings.test_findings import found, of, settle


@pytest.mark.parametrize(("trips", "severity"), [(0.0, "error"), (200.0, "warning")])
def test_round_trips_not_as_declared(tmp_path: Path, trips: float, severity: str) -> None:
    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "psycopg", workload="keyed")[0]["round_trips"] = trips

    findings = found(tmp_path, bend)["round-trips-not-as-declared"]
    assert [(f.paths, f.severity) for f in findings] == [(("psycopg tcp",), severity)]


def test_a_stand_in_is_named(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        of(records, "path", "psycopg")[0]["stands_in"] = "stand-in: client side only"

    (finding,) = found(tmp_path, bend)["stand-in"]
    assert finding.evidence == "stand-in: client side only"
    assert finding.paths == ("psycopg tcp",)


@pytest.mark.parametrize(("most", "expected"), [(0, True), (2, False), (1, True)])
def test_round_trips_that_a_manifest_declares(tmp_path: Path, most: int, expected: bool) -> None:
    paths = [factory.path("p", "derby server java derby transport=tcp statement=prepared", {"keyed.read": 90_000})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "path", "derby")[0]["most_round_trips"] = most
        of(records, "counted", "derby")[0] |= {"round_trips": 200, "operations": 100}

    assert ("round-trips-not-as-declared" in found(tmp_path, bend, paths=paths)) is expected


@pytest.mark.parametrize(("trips", "expected"), [(20, False), (19, False), (15, True)])
def test_operations_that_clients_share_unevenly(tmp_path: Path, trips: int, expected: bool) -> None:
    words = "postgresql server c libpq transport=tcp statement=prepared clients=8"
    paths = [factory.path("p", words, {"keyed.read": 90_000})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"round_trips": trips, "operations": 20}

    assert ("round-trips-not-as-declared" in found(tmp_path, bend, paths=paths)) is expected


@pytest.mark.parametrize(
    ("statement", "prepares", "executes", "expected"),
    [
        ("prepared", 0, 100, False),
        ("prepared", 0, 0, True),  # emulated by the driver
        ("text", 0, 0, False),
        ("text", 100, 100, True),
        ("bound", 0, 0, False),  # the driver's own way
        ("bound", 100, 100, False),
    ],
)
def test_statement_not_as_declared(
    tmp_path: Path, statement: str, prepares: int, executes: int, expected: bool
) -> None:
    paths = [factory.path("p", f"mariadb server c libpq transport=tcp statement={statement}", {"keyed.read": 9_000})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"prepares": prepares, "executes": executes, "operations": 100}

    assert ("statement-not-as-declared" in found(tmp_path, bend, paths=paths)) is expected


@pytest.mark.parametrize(
    ("engine", "durability", "syncs", "expected"),
    [
        ("postgresql", "full", 3, True),
        ("postgresql", "full", 100, False),
        ("postgresql", "none", 100, True),
        ("cobol", "none", 100, False),  # which has no other
    ],
)
def test_syncs_not_as_declared(tmp_path: Path, engine: str, durability: str, syncs: int, expected: bool) -> None:
    paths = [factory.path("p", f"{engine} server c libpq transport=tcp durability={durability}", {"keyed.read": 9_000})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"syncs": syncs, "commits": 100}
        records += settle(records)

    assert ("syncs-not-as-declared" in found(tmp_path, bend, paths=paths)) is expected


def test_syncs_of_durability_none_are_no_finding_where_the_engine_s_durabilities_are_not_known(tmp_path: Path) -> None:
    paths = [factory.path("p", "postgresql server c libpq transport=tcp durability=none", {"keyed.read": 9_000})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"syncs": 100, "commits": 100}
        records += settle(records)
        for path in records:
            path.pop("durabilities", None)

    assert "syncs-not-as-declared" not in found(tmp_path, bend, paths=paths)


@pytest.mark.parametrize("writes", [True, False])
def test_durability_differs(tmp_path: Path, writes: bool) -> None:
    paths = [
        factory.path(value, f"postgresql server c libpq durability={value}", {"keyed.read": 9_000})
        for value in ("full", "none")
    ]
    findings = found(tmp_path, lambda records: records.extend(settle(records) if writes else []), paths=paths)
    assert ("durability-differs" in findings) is writes


def test_fetch_size_ignored(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "pgjdbc", workload="scan")[0]["round_trips"] = 10

    assert [f.paths for f in found(tmp_path, bend)["fetch-size-ignored"]] == [("pgjdbc tcp",)]


@pytest.mark.parametrize(("result", "severity"), [("whole", "note"), ("single-row", "warning")])
def test_result_buffered_whole(tmp_path: Path, result: str, severity: str) -> None:
    words = f"postgresql server c libpq transport=tcp result={result}"
    paths = [factory.path("p", words, {"keyed.read": 9_000, "scan.read": 5e6})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq", workload="scan")[0]["payload_bytes"] = 10 * 30_000_000
        for memory in of(records, "memory", "libpq", workload="scan"):
            memory["client_peak_bytes"] = 34_000_000

    assert [f.severity for f in found(tmp_path, bend, paths=paths)["result-buffered-whole"]] == [severity]
    assert "result-buffered-whole" not in found(tmp_path / "calm", paths=paths)


@pytest.mark.parametrize(("commits", "expected"), [(100, False), (1, True), (200, True)])
def test_commits_not_as_declared(tmp_path: Path, commits: int, expected: bool) -> None:
    paths = [factory.path("p", "postgresql server c libpq transport=tcp durability=full", {"keyed.read": 9_000})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"commits": commits, "operations": 100}

    assert ("commits-not-as-declared" in found(tmp_path, bend, paths=paths)) is expected


@pytest.mark.parametrize(("statement", "expected"), [("bound", False), ("prepared", True)])
def test_parsing_in_a_round_trip_of_its_own_commits_there(tmp_path: Path, statement: str, expected: bool) -> None:
    words = f"postgresql server c libpq transport=tcp durability=full statement={statement}"
    paths = [factory.path("p", words, {"keyed.read": 9_000})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"commits": 200, "round_trips": 200, "operations": 100}

    assert ("commits-not-as-declared" in found(tmp_path, bend, paths=paths)) is expected
