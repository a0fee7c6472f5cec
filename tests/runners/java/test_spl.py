"""esProc SPL: whole tables, parts of them and aggregates, from text and from composite tables, proven by digest."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES, table_files
from rowpath.engines.base import Place
from rowpath.errors import EnvironmentMissing
from rowpath.machine import cpus, jvm
from rowpath.model.workload import Column
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import (
    Facts,
    FactsReply,
    ParameterSlice,
    PhaseSpec,
    Prepare,
    PrepareReply,
    Verify,
    VerifyReply,
)
from rowpath.workloads import codec, generators
from rowpath.workloads.workload_file import load_workload
from tests.runners.java.talk import ADAPTERS, Talk, path_of

java: Any = toolchain("java")
pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
ENGINE = ENGINES["spl"]
ADAPTER = ADAPTERS["esproc"]
BOUNDS = (Column("low", "integer"), Column("high", "integer"))


TABLE = load_workload("scan").tables["hits"]
ROWS = list(generators.rows(TABLE))
WHOLE = codec.digest(ROWS, TABLE.columns)


@pytest.fixture(scope="module", params=table_files.Spl.storages)
def options(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    table_files.ESPROC.fetch()
    java.build([(ADAPTER, table_files.ESPROC_VERSION)])
    folder = tmp_path_factory.mktemp('a "b" é')
    instance = ENGINE.instance("embedded", "none", Place(folder, folder, tuple(cpus.usable()), storage=request.param))
    instance.start()
    instance.load({"hits": TABLE})
    yield instance.options(path_of("esproc"))
    instance.stop()


@pytest.fixture(scope="module")
def talk(options: dict[str, Any]) -> Iterator[Talk]:
    talk = Talk(ADAPTER, path_of("esproc", clients="3"), options)
    yield talk
    talk.runner.stop()


def prepare(talk: Talk, columns: tuple[Column, ...], parameters: ParameterSlice | None = None, **more: Any) -> None:
    table = TABLE.columns
    spec = PhaseSpec(
        name="q",
        kind="query",
        table="hits",
        columns=columns,
        parameter_columns=BOUNDS if parameters else (),
        table_columns=table,
        **more,
    )
    talk.ask(Prepare, PrepareReply, phase=spec, parameters=parameters)


def digest(talk: Talk, count: int = 1) -> str:
    return str(talk.ask(Verify, VerifyReply, phase="q", first=0, count=count).digest)


def test_every_row_comes(talk: Talk, options: dict[str, Any]) -> None:
    prepare(talk, TABLE.columns, scan=True)
    assert digest(talk) == WHOLE
    facts = talk.ask(Facts, FactsReply)
    assert (facts.settings["fetch_size"], facts.settings["storage"]) == ("10000", options["storage"])
    assert table_files.ESPROC_VERSION in facts.engine_version


def test_the_parts_together_are_the_whole(talk: Talk, tmp_path: Path) -> None:
    file = tmp_path / "bounds.rows"
    count = codec.write_rows(file, [(0, 1), (1, 2), (2, 3)], BOUNDS)
    prepare(talk, TABLE.columns, ParameterSlice(file=str(file), first=0, count=count), access="segment")
    assert digest(talk, count=3) == WHOLE
    reply = talk.sample("q", operations=3)
    assert (reply.operations, reply.failed, reply.rows) == (3, 0, len(ROWS))


def test_an_aggregate(talk: Talk) -> None:
    at = [column.name for column in TABLE.columns].index("REQSIZE")
    sizes = [row[at] for row in ROWS]
    columns = (
        Column("count", "integer", bits=64),
        Column("sum_REQSIZE", "decimal", precision=30),
        Column("min_REQSIZE", "integer"),
        Column("max_REQFILE", "varchar"),
    )
    prepare(talk, columns, access="aggregate")
    files = [row[TABLE.columns.index(next(c for c in TABLE.columns if c.name == "REQFILE"))] for row in ROWS]
    row = (len(ROWS), Decimal(sum(sizes)), min(sizes), max(files))
    assert digest(talk) == codec.digest([row], columns)


def test_what_it_cannot_read_exactly_is_said(talk: Talk) -> None:
    for column in (Column("x", "boolean"), Column("x", "float64")):
        with pytest.raises(RunnerFailure, match=column.type.upper()) as failure:
            prepare(talk, (column,), scan=True)
        assert failure.value.kind == "unsupported"
    with pytest.raises(RunnerFailure, match="no aggregate sum_nothing"):
        prepare(talk, (Column("sum_nothing", "integer"),), access="aggregate")
    with pytest.raises(RunnerFailure, match="whole tables"):
        prepare(talk, TABLE.columns)


def test_nothing_is_fetched_unasked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    for here in (ENGINE.availability(), java.availability(ADAPTER, table_files.ESPROC_VERSION)):
        assert (here.ok, here.remedy) == (False, "rowpath engine fetch esproc")
        assert "Apache-2.0" in here.reason
    with pytest.raises(EnvironmentMissing, match="not fetched"):
        ENGINE.instance("embedded", "none", Place(tmp_path, tmp_path, (0,)))
    assert not list(tmp_path.rglob("*.jar"))
