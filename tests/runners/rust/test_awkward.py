"""Every type of an engine with its awkward values, through every Rust driver: what its SQL says is delivered."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import pytest

from rowpath.checks.conformance.paths import planned, reason_against
from rowpath.engines import ENGINES
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, ColumnSpec
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import DescribedColumn, PhaseSpec
from rowpath.workloads import codec
from tests.runners.protocol.any_result import started
from tests.runners.protocol.codec_vectors import natural
from tests.runners.protocol.talk import Talk
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
# What a driver makes of a value by itself, by its type: other bytes.
OWN: dict[tuple[str, str], dict[str, str]] = {
    ("sqlx-postgres", '"char"'): {"''": "530100000000"},  # the byte of the wire
    ("sqlx-mysql", "DATE"): {"'0000-00-00'": "00"},  # as the binary protocol has it: NULL
    ("sqlx-mysql", "DATETIME(6)"): {"'0000-00-00 00:00:00'": "00"},
    # Its NaiveTime loses the sign of what is shorter than a day.
    ("sqlx-mysql", "TIME(6)"): {"'-01:00:00'": "7400a0b83046030000", "'-00:00:00.5'": "740065cd1d00000000"},
}
# What a driver refuses by itself, by a way of its statements: a word of what it says.
REFUSED = {
    # To learn the type's name it asks the server, which forgets the unnamed statement then.
    ("sqlx-postgres", "bound", kind): "unnamed prepared statement does not exist"
    for kind in ("xid8", "mood", "mood[]", "short[]")
}


def rust_paths(engine: str) -> list[PlannedPath]:
    """A path of each driver for each way of a statement and of a result."""
    found: dict[tuple[str, ...], PlannedPath] = {}
    deployment = ENGINES[engine].deployments[0]
    for adapter in manifest.load_manifest("rust").adapter:
        if engine in adapter.engines:
            for each in planned(adapter, "values", {"engine": (engine,), "deployment": (deployment,)}):
                shape = (adapter.driver, *(each.path.get(key) for key in ("statement", "fetch", "result", "format")))
                if not reason_against(each) and each.path.clients == 1:
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


class Embedded:
    """A folder instead of an instance, whose loader is another language's runner."""

    deployment = "embedded"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def options(self, path: AccessPath) -> dict[str, Any]:
        """What opens a database that no other path has."""
        return {"path": str(self.folder / f"{crc32(path.id.encode())}.db")}


@contextlib.contextmanager
def running(engine: str) -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        if ENGINES[engine].deployments[0] == "embedded":
            yield Embedded(Path(folder))
        else:
            yield from started(engine, Path(folder))


@contextlib.contextmanager
def talking(each: PlannedPath, instance: Any, setting_up: list[str]) -> Iterator[Talk]:
    """A runner on the path, the tables made."""
    runner = Runner.start(manifest.command(each.adapter, each.path.version, each.path), ())
    try:
        runner.hello(each.adapter.driver)
        talk = Talk(runner)
        talk.open(each.path.as_dict() | instance.options(each.path))
        talk.run(*setting_up)
        yield talk
    finally:
        runner.stop()


@pytest.mark.parametrize("engine", CASES)
def test_awkward_values(engine: str, tmp_path: Path) -> None:
    availability = ENGINES[engine].availability()
    if not availability.ok:
        pytest.skip(availability.reason)
    setting_up = [*LENIENT.get(engine, []), *(sql for at, case in enumerate(CASES[engine]) for sql in made(at, case))]
    wrong: list[str] = []
    with running(engine) as instance:
        for number, each in enumerate(rust_paths(engine)):
            is_first = number == 0 or instance.deployment == "embedded"
            with talking(each, instance, setting_up if is_first else []) as talk:
                for at, case in enumerate(CASES[engine]):
                    wrong += [f"{each.name} {case.sql}: {what}" for what in mistakes(talk, each, at, case, tmp_path)]
    assert not wrong, "\n".join(wrong)


def mistakes(talk: Talk, each: PlannedPath, at: int, case: Of, folder: Path) -> list[str]:
    """What came out differently than the literals say."""
    sql = f"SELECT v FROM t{at} ORDER BY i"
    column = column_of(case.column)
    kept = folder / "kept"
    try:
        found = []
        if each.path.get("engine") in each.adapter.describes:
            (described,) = talk.describe(sql)
            if (said := spelt(described)) != spelt(column):
                found.append(f"described as {said}")
        talk.prepare_spec(PhaseSpec(name="any", kind="query", sql=sql, columns=(column,)))
        reply = talk.verify("any", keep=str(kept))
        timed = talk.sample("any", operations=1, first=0)
    except RunnerFailure as failure:
        word = REFUSED.get((each.adapter.driver, each.path.get("statement"), case.sql))
        return [] if word and word in failure.text else [f"{failure.kind}: {failure.text}"]
    if (timed.touch, timed.rows, timed.failed) != (reply.touch, reply.rows, 0):
        found.append(f"inside the clock: {timed}")
    expected = [b"\0", *(codec.encode_value(natural(value, column), column) for value in case.values.values())]
    own = OWN.get((each.adapter.driver, case.sql), {})
    for literal, came, right in zip(["NULL", *case.values], rows_of(kept), expected, strict=True):
        if came != right and own.get(literal) != came.hex():
            found.append(f"{literal[:60]} is {came.hex()[:80]}, not {right.hex()[:80]}")
    return found


def spelt(column: ColumnSpec | DescribedColumn) -> str:
    """A column's type without names that engines give."""
    fields = ",".join(f"{one.name} {spelt(one)}" for one in column.fields)
    return f"{column.type} {column.length} {column.precision} {column.scale} {column.bits} ({fields})"
