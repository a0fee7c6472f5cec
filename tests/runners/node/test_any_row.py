"""Any row through Node's drivers: each value is delivered, touched and counted, with the bytes that its SQL says."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from rowpath.checks.conformance.paths import planned, reason_against
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.model.workload import Column, LogicalType, Phase
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.workloads import codec
from tests.runners.node.any_row_cases import (
    DUCKDB,
    MARIADB,
    MYSQL,
    MYSQL_TABLE,
    POSTGRESQL,
    SQLITE,
    As,
    Case,
    fields,
    of,
)
from tests.runners.protocol.any_result import started

TIMEOUT_S = 30.0
CASES = {"postgresql": POSTGRESQL, "mariadb": MARIADB, "mysql": MYSQL, "sqlite": SQLITE, "duckdb": DUCKDB}
DECLARED = {kind: of(kind, fields=fields(a="integer", b="text")) for kind in ("struct", "map", "rows")}
SETTING_UP = {"mariadb": MYSQL_TABLE, "mysql": MYSQL_TABLE}


def paths(engine: str) -> list[PlannedPath]:
    """Of each of Node's drivers of the engine one path for each statement mode and each form of results."""
    found: dict[tuple[str, ...], PlannedPath] = {}
    for adapter in manifest.load_manifest("node").adapter:
        deployment = ENGINES[engine].deployments[0]
        if engine not in adapter.engines or not manifest.availability(adapter, adapter.versions[0]).ok:
            continue
        for each in planned(adapter, "values", {"engine": (engine,), "deployment": (deployment,)}):
            if not reason_against(each):
                found.setdefault((adapter.driver, each.path.get("statement"), each.path.get("result")), each)
    manifest.build([(each.adapter, each.path.get("version")) for each in found.values()])
    return list(found.values())


def served(engine: str) -> bool:
    return ENGINES[engine].deployments[0] == "server"


def unloaded(engine: str, folder: Path) -> Iterator[Instance]:
    """An embedded engine whose database its first connection makes."""
    kind = ENGINES[engine]
    instance = kind.instance(kind.deployments[0], kind.durabilities[-1], Place(folder / "d", folder / "s", (0,)))
    instance.start()
    yield instance
    instance.stop()


@pytest.fixture(scope="module", params=CASES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def workers(engine: str) -> Iterator[list[Worker]]:
    """A runner on each path of the engine; all are stopped once every test of the engine has used them."""
    if not (there := ENGINES[engine].availability()).ok:
        pytest.skip(there.reason)
    if not (every := paths(engine)):
        pytest.skip("no Node")
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.contextmanager(started if served(engine) else unloaded)(engine, Path(folder)) as instance,
        contextlib.ExitStack() as opened,
    ):
        workers = []
        for each in every:
            if not served(engine):
                Path(instance.options(each.path)["path"]).parent.mkdir(parents=True)
            worker = Worker(each, instance, log=lambda _line: None, timeout_s=TIMEOUT_S)
            opened.callback(worker.close)
            worker.open()
            workers.append(worker)
        workers[0].run(SETTING_UP.get(engine, []))
        yield workers


def work_of(sql: str, columns: tuple[Column, ...]) -> PreparedPhase:
    return PreparedPhase("any.row", Phase("row", "query", sql, columns=columns), sql, columns, (), None, 0)


def bytes_of(value: Any, column: Column) -> bytes:
    """A foreign value is given by its bytes."""
    if isinstance(value, As):
        return codec.encode_value(value.value, value.column)
    return value if isinstance(value, bytes) and value[:1] == b"?" else codec.encode_value(value, column)


def kept(worker: Worker, work: PreparedPhase, file: Path) -> tuple[list[bytes], Any]:
    """The rows' bytes and what `verify` replied; inside the clock the same was touched, and nothing failed."""
    worker.prepare(work)
    reply = worker.verify(work, 0, 1, keep=str(file))
    timed = worker.sample(work, "steady", operations=2, first=0).reply
    touch = f"{2 * int(reply.touch, 16) % 2**64:016x}"
    assert (timed.touch, timed.rows, timed.failed) == (touch, 2 * reply.rows, 0), timed
    data, at, rows = file.read_bytes(), 0, []
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        rows.append(data[at + 4 : end])
        at = end
    return rows, reply


def mistake(worker: Worker, case: Case, engine: str, file: Path) -> str:
    """What a path made of the value that it should not have; empty: nothing."""
    driver = worker.planned.adapter.driver
    table = " FROM awkward" if engine in SETTING_UP else ""
    sql = f"SELECT {case.sql}{table}" if " FROM " not in case.sql else f"SELECT {case.sql}"
    expected = bytes_of(case.own.get(driver, case.value), case.column)
    (row,), reply = kept(worker, work_of(sql, (case.column,)), file)
    foreign = sum(column.foreign for column in reply.columns)
    if not (foreign or case.other_kind) and int(reply.touch, 16) not in touches(case, driver):
        return f"{worker.planned.name} {case.sql}: touched as {reply.touch}, not {touches(case, driver)}"
    if row == expected and bool(foreign) == expected.startswith(b"?"):
        return ""
    return f"{worker.planned.name} {case.sql}: {row!r}, not {expected!r} {[column.reason for column in reply.columns]}"


def touches(case: Case, driver: str) -> list[int]:
    """What the value may add to the sum: a CHAR as it is padded or not."""
    value = case.own.get(driver, case.value)
    return [codec.touch_value(value, case.column, padded, "utf-16") for padded in (False, True)]


def test_every_value_is_delivered_and_touched(engine: str, workers: list[Worker], tmp_path: Path) -> None:
    found = []
    for worker in workers:
        for case in CASES[engine]:
            try:
                found.append(mistake(worker, case, engine, tmp_path / "kept"))
            except Exception as error:  # every other value is tried too
                found.append(f"{worker.planned.name} {case.sql}: {error!r}")
    assert [each for each in found if each] == []


def test_a_value_of_any_type_in_a_column_of_any_other_type(engine: str, workers: list[Worker], tmp_path: Path) -> None:
    values = ", ".join(case.sql for case in CASES[engine] if " FROM " not in case.sql)
    number = sum(" FROM " not in case.sql for case in CASES[engine])
    sql = f"SELECT {values}{' FROM awkward' if engine in SETTING_UP else ''}"
    for worker in {each.planned.adapter.driver: each for each in workers}.values():
        for kind in get_args(LogicalType):
            for nullable in (True, False):
                declared = msgspec.structs.replace(DECLARED.get(kind, of(kind)), nullable=nullable)
                rows, _ = kept(worker, work_of(sql, (declared,) * number), tmp_path / "kept")
                assert len(rows) == 1


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True, scope="module")
def test_rows_without_columns_and_columns_of_one_name(workers: list[Worker], tmp_path: Path) -> None:
    for worker in workers:
        rows, reply = kept(worker, work_of("SELECT FROM generate_series(1, 1000)", ()), tmp_path / "kept")
        assert (reply.rows, rows) == (1000, [b""] * 1000), worker.planned.name
        columns = (of("integer"), of("text"))
        rows, _ = kept(worker, work_of("SELECT 1 AS a, 'b' AS a", columns), tmp_path / "kept")
        assert rows == [codec.encode_row((1, "b"), columns)], worker.planned.name
