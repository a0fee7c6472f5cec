"""Every type of an engine with its awkward values, through every Rust driver: what its SQL says is delivered."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.checks.conformance.paths import planned, reason_against
from rowpath.engines import ENGINES
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.model.workload import Column, Phase
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import DescribedColumn
from rowpath.workloads import codec
from tests.runners.protocol.any_result import Bench, started
from tests.runners.protocol.codec_vectors import natural
from tests.runners.rust import awkward
from tests.runners.rust.awkward import Of

pytestmark = pytest.mark.apart
CASES = {
    "postgresql": awkward.POSTGRESQL,
    "mariadb": awkward.MARIADB,
    "duckdb": awkward.DUCKDB,
    "sqlite": awkward.SQLITE,
}
LENIENT = {"mariadb": ["SET sql_mode = 'ALLOW_INVALID_DATES'"]}
# What a driver makes of a value by itself: NULL, text, or its own words.
OWN: dict[tuple[str, str], dict[str, str]] = {}


def rust_paths(engine: str) -> list[PlannedPath]:
    """A path of each driver for each way of a statement and of a result."""
    found: dict[tuple[str, ...], PlannedPath] = {}
    deployment = ENGINES[engine].deployments[0]
    for adapter in manifest.load_manifest("rust").adapter:
        if engine in adapter.engines:
            for each in planned(adapter, "values", {"engine": (engine,), "deployment": (deployment,)}):
                shape = (adapter.driver, *(each.path.get(key) for key in ("statement", "fetch", "result", "format")))
                if not reason_against(each) and each.path.get("clients", "1") == "1":
                    found.setdefault(shape, each)
    manifest.build([(each.adapter, each.path.get("version")) for each in found.values()])
    return list(found.values())


def column_of(spec: dict[str, Any]) -> Column:
    return msgspec.convert(spec, Column)


def made(number: int, case: Of) -> list[str]:
    """The statements that make the table of a type: NULL, then its values."""
    rows = ["NULL", *case.values]
    table = f"CREATE TABLE t{number} (i INT, v {case.sql})"
    return [*case.setting_up, table, *(f"INSERT INTO t{number} VALUES ({at}, {row})" for at, row in enumerate(rows))]


def rows_of(file: Path) -> list[bytes]:
    data, rows = file.read_bytes(), []
    while data:
        end = 4 + int.from_bytes(data[:4], "little")
        rows.append(data[4:end])
        data = data[end:]
    return rows


@pytest.mark.parametrize("engine", CASES)
def test_awkward_values(engine: str, tmp_path: Path) -> None:
    availability = ENGINES[engine].availability()
    if not availability.ok:
        pytest.skip(availability.reason)
    setting_up = [*LENIENT.get(engine, []), *(sql for at, case in enumerate(CASES[engine]) for sql in made(at, case))]
    wrong: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.contextmanager(started)(engine, Path(folder)) as instance,
    ):
        bench = Bench(instance, rust_paths(engine), setting_up)
        try:
            if instance.deployment == "server":
                bench.worker(bench.paths[0]).run(setting_up)
            for each in bench.paths:
                for at, case in enumerate(CASES[engine]):
                    wrong += [f"{each.name} {case.sql}: {what}" for what in mistakes(bench, each, at, case, tmp_path)]
        finally:
            bench.close()
    assert wrong == []


def mistakes(bench: Bench, each: PlannedPath, at: int, case: Of, folder: Path) -> list[str]:
    """What came out differently than the literals say."""
    sql = f"SELECT v FROM t{at} ORDER BY i"
    column = column_of(case.column)
    work = PreparedPhase("any.result", Phase("result", "query", sql, columns=(column,)), sql, (column,), (), None, 0)
    kept = folder / "kept"
    try:
        found = []
        if each.path.get("engine") in each.adapter.describes:
            (described,) = bench.describe(each, sql)
            if (said := spelt(described)) != spelt(column):
                found.append(f"described as {said}")
        worker = bench.worker(each)
        worker.prepare(work)
        reply = worker.verify(work, 0, 1, keep=str(kept))
        timed = worker.sample(work, "steady", operations=1, first=0).reply
    except RunnerFailure as failure:
        return [f"{failure.kind}: {failure.text}"]
    if (timed.touch, timed.rows, timed.failed) != (reply.touch, reply.rows, 0):
        found.append(f"inside the clock: {timed}")
    expected = [b"\0", *(codec.encode_value(natural(value, column), column) for value in case.values.values())]
    own = OWN.get((each.adapter.driver, case.sql), {})
    for literal, came, right in zip(["NULL", *case.values], rows_of(kept), expected, strict=True):
        if came != right and own.get(literal) != came.hex():
            found.append(f"{literal[:60]} is {came.hex()[:80]}, not {right.hex()[:80]}")
    return found


def spelt(column: Column | DescribedColumn) -> str:
    """A column's type without names that engines give."""
    fields = ",".join(f"{one.name} {spelt(one)}" for one in column.fields)
    return f"{column.type} {column.length} {column.precision} {column.scale} {column.bits} ({fields})"
