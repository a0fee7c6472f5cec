"""The coordinate `pipeline`: which paths and phases it has, what it is compared with, what counters must show of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rowpath.analysis import floors
from rowpath.analysis.analyse import analyse
from rowpath.analysis.cells import Cells
from rowpath.analysis.comparison.pairs import pair
from rowpath.analysis.comparison.side import Run, Side
from rowpath.analysis.evidence import Evidence
from rowpath.errors import UsageError
from rowpath.journal.reader import read
from rowpath.model.experiment import Experiment, Selection
from rowpath.model.path import AccessPath
from rowpath.model.workload import Parameters, Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.planning.availability import unpipelined_reason
from rowpath.planning.client_groups import only_alone
from rowpath.planning.experiment_file import load_experiment, load_workloads
from rowpath.planning.make_plan import make_plan
from rowpath.planning.plan import Plan
from rowpath.report.view import view
from rowpath.runners.manifest import every_adapter
from rowpath.site.read import SitePath
from tests.unit import journal_factory as factory
from tests.unit.analysis.findings.test_findings import found, of

LIBPQ: dict[str, str | tuple[str, ...]] = {"engine": "postgresql", "driver": "libpq", "transport": "tcp"}
OFF = " pipeline=off"
READ = Phase("read", "query", "SELECT 1 WHERE 1 = ?", parameters=Parameters("sequence", 10, columns=("id",)))


def plan_of(*selects: dict[str, str | tuple[str, ...]], phases: tuple[str, ...] = ("keyed.read",)) -> Plan:
    experiment = Experiment(1, "p", "P", phases, tuple(Selection(select=select) for select in selects))
    return make_plan(experiment, load_workloads(experiment), {}, seed=1)


def test_any_size_is_a_pipeline_where_the_driver_has_them() -> None:
    sizes = ("off", "10", "7", "1000")
    assert {each.path.get("pipeline") for each in plan_of(LIBPQ | {"pipeline": sizes}).paths} == set(sizes)
    assert [each.path.pipeline for each in plan_of(LIBPQ | {"pipeline": ("off", "7")}).paths] == [1, 7]


def test_a_driver_without_pipelines_has_no_such_path() -> None:
    with pytest.raises(UsageError, match="pipeline"):
        plan_of({"engine": "sqlite", "driver": "sqlite3", "pipeline": "10"})


@pytest.mark.parametrize("size", ["0", "-1", "ten", "10ms"])
def test_what_is_no_size_is_refused(size: str) -> None:
    with pytest.raises(UsageError, match=f"invalid pipeline '{size}'"):
        plan_of(LIBPQ | {"pipeline": size})


def test_a_pipeline_parts_comparisons() -> None:
    plan = plan_of(LIBPQ | {"pipeline": ("off", "10")}, {"engine": "sqlite", "driver": "sqlite3"})
    compared = {(each.path.engine, each.path.get("pipeline")): each.comparison for each in plan.paths}
    assert "pipeline=10" in compared["postgresql", "10"]
    assert "pipeline=off" in compared["sqlite", "none"]
    assert compared["postgresql", "off"].startswith(compared["sqlite", "none"].split(", link")[0])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"kind": "load"}, "queries and single writes"),
        ({"kind": "connect"}, "queries and single writes"),
        ({"parameters": None}, "cannot be pipelined"),
        ({"union": True}, "cannot be pipelined"),
        ({"transaction": "transaction"}, "COMMIT waits for its reply"),
        ({"stamps": True}, "no stamps"),
        ({}, ""),
        ({"kind": "execute"}, ""),
    ],
)
def test_phases_that_cannot_be_pipelined_say_why(changed: dict[str, object], reason: str) -> None:
    why = unpipelined_reason(msgspec.structs.replace(READ, **changed))
    assert reason in why
    assert bool(reason) == bool(why)


@pytest.mark.parametrize(
    ("driver", "writes"),
    [
        ("libpq", True),
        ("psycopg", False),
        ("pgx", False),
        ("tokio-postgres", True),
        ("postgres-js", True),
        ("mariadb", True),
    ],
)
def test_writes_are_pipelined_where_each_keeps_its_own_transaction(driver: str, writes: bool) -> None:
    engine = "mariadb" if driver == "mariadb" else "postgresql"
    select: dict[str, str | tuple[str, ...]] = {"engine": engine, "driver": driver, "pipeline": "10"}
    plan = plan_of(select, phases=("keyed.read", "keyed.insert"))
    (path,) = plan.paths
    assert path.phases == (("keyed.read", "keyed.insert") if writes else ("keyed.read",))
    left_out = [phase for _, phase, why in plan.ineligible if "one transaction" in why]
    assert left_out == ([] if writes else ["keyed.insert"])


def test_groups_of_clients_send_no_pipelines() -> None:
    experiment = load_experiment("reads-writes-backup").experiment
    libpq = next(each for each in every_adapter() if each.driver == "libpq")
    assert "no pipelines" in only_alone(libpq, AccessPath.of({"pipeline": "10"}), experiment)
    assert not only_alone(libpq, AccessPath.of({"pipeline": "off"}), experiment)


@pytest.mark.parametrize("statement", ["SELECT 1", "SELECT 1 WHERE 1 = ?"])
def test_a_probe_tries_no_pipelines(statement: str) -> None:
    keyed = "?" in statement
    phase = Phase("query", "query", statement, parameters=READ.parameters if keyed else None)
    tried = candidates(Wanted("postgresql", "server", phase, transport="tcp", tls="off", keyed=keyed)).paths
    sizes = {each.path.get("pipeline") for each in tried if "pipeline" in each.adapter.coordinates}
    assert sizes == {"off"}
    with pytest.raises(UsageError, match="unknown setting 'pipeline'"):
        candidates(Wanted("postgresql", "server", phase, mine="libpq,pipeline=10"))


@pytest.mark.parametrize(
    ("words", "trips", "severity"),
    [
        ("pipeline=10", 10, ""),
        ("pipeline=10", 12, ""),  # a client that lost its core twice
        ("pipeline=10", 100, "warning"),
        ("pipeline=10", 5, "error"),
        ("pipeline=10 statement=bound", 20, ""),
        ("pipeline=10 clients=2", 10, ""),
        ("pipeline=off", 100, ""),
        ("pipeline=off", 10, "error"),
    ],
)
def test_round_trips_are_those_of_the_pipeline(tmp_path: Path, words: str, trips: int, severity: str) -> None:
    paths = [factory.path("p", f"postgresql server c libpq transport=tcp {words}", {"keyed.read": 9_000})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"round_trips": trips, "operations": 100}

    findings = found(tmp_path, bend, paths=paths).get("round-trips-not-as-declared", [])
    assert [each.severity for each in findings] == ([severity] if severity else [])
    assert not severity or ("pipeline" in findings[0].text) == ("pipeline=10" in words)


@pytest.mark.parametrize(("size", "commits", "told"), [("10", 10, False), ("10", 100, False), ("off", 10, True)])
def test_reads_of_a_pipeline_may_share_a_transaction(tmp_path: Path, size: str, commits: int, told: bool) -> None:
    words = f"postgresql server c libpq transport=tcp pipeline={size}"
    paths = [factory.path("p", words, {"keyed.read": 9_000})]

    def bend(records: list[factory.Record]) -> None:
        of(records, "counted", "libpq")[0] |= {"commits": commits, "operations": 100}

    assert ("commits-not-as-declared" in found(tmp_path, bend, paths=paths)) is told


@pytest.mark.parametrize(("size", "told"), [("10", False), ("off", True)])
def test_the_clock_is_read_once_a_pipeline(tmp_path: Path, size: str, told: bool) -> None:
    words = f"postgresql server c libpq transport=tcp pipeline={size}"
    paths = [factory.path("p", words, {"keyed.read": 1_500})]
    assert ("clock-too-coarse" in found(tmp_path, paths=paths)) is told


@pytest.mark.parametrize(("size", "floor"), [("10", "null c"), ("off", "ping c")])
def test_a_pipelined_operation_may_take_less_than_a_ping_pong(size: str, floor: str, tmp_path: Path) -> None:
    paths = [
        *factory.usual_paths()[:2],
        factory.path("p", f"postgresql server c libpq transport=unix pipeline={size}", {"keyed.read": 1_000}),
    ]
    cells = cells_of(tmp_path, paths)
    cell = next(each for each in cells.cells.values() if each.path.name == "p" and each.regime == "steady")
    against = floors.floor_of(cells, cell)
    assert against is not None
    assert against.path.name == floor


def test_a_run_from_before_there_were_pipelines_is_paired_and_followed(tmp_path: Path) -> None:
    words = "postgresql server c libpq transport=unix"

    def side(name: str, told: str) -> Side:
        run = factory.Run(paths=[factory.path("p", told, {"keyed.read": 9_000})])
        return Side("base", [Run(factory.write(tmp_path / name, factory.records(run)))])

    def followed(side: Side) -> str:
        (path,) = side.paths.values()
        return SitePath("", "", path.coordinates, "1", "1", "", False).key

    before, now, tens = (side(f"run{at}", f"{words}{more}") for at, more in enumerate(("", OFF, " pipeline=10")))
    assert len(pair(before, now).pairs) == 1
    assert not pair(before, tens).pairs
    assert followed(before) == followed(now) != followed(tens)


def test_the_report_shows_a_path_beside_itself_without_pipelines(tmp_path: Path) -> None:
    words = "postgresql server c libpq transport=unix"
    paths = [
        factory.path("one by one", f"{words} pipeline=off", {"keyed.read": 9_000}),
        factory.path("in tens", f"{words} pipeline=10", {"keyed.read": 3_000}),
        factory.path("another", f"{words} pipeline=10 format=binary", {"keyed.read": 2_000}),
    ]
    shown = view(analyse(factory.write(tmp_path, factory.records(factory.Run(paths=paths, disturbed_share=0.0)))))
    (section,) = (each for op in shown.operations for each in op.sections if "In pipelines" in each.grid.caption)
    assert section.leading
    cells = [row.cells for row in section.grid.rows]
    assert [row[:2] for row in cells] == [("one by one", "off"), ("in tens", "10")]
    assert cells[1][3].startswith(("2.9", "3.0"))
    assert section.opening.sentence.startswith("in tens gains most: ")


def cells_of(folder: Path, paths: list[factory.MadePath]) -> Cells:
    directory = factory.write(folder, factory.records(factory.Run(paths=paths)))
    return Evidence.of(directory, read(directory)).cells
