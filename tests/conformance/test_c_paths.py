"""Every path of the C runner delivers every row of every workload, exactly: digests against the controller's truth."""

from __future__ import annotations

import functools
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest

from rowpath import codec, cores, generators
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.invocation import column_specs
from rowpath.languages import Adapter, c, load_manifest
from rowpath.model import Path, Phase, Workload
from rowpath.protocol import (
    Bye,
    Facts,
    FactsReply,
    Open,
    OpenReply,
    ParameterSlice,
    PhaseSpec,
    Prepare,
    PrepareReply,
    Reply,
    RunReply,
    RunStatements,
    Sample,
    SampleReply,
    Verify,
    VerifyReply,
)
from rowpath.runners import Runner
from rowpath.truth import Truth
from rowpath.workloads import after_sql, for_engine, load_workload, names, reset_for, result_columns, sql_for

TIMEOUT_S = 60.0
WRITTEN: dict[FilePath, int] = {}  # parameter files, each written once for all paths
DEPLOYMENTS = {"sqlite": "embedded", "postgresql": "server", "file": "file"}
pytestmark = pytest.mark.skipif(shutil.which(c._compiler()[0]) is None, reason="no C compiler")


def paths() -> list[tuple[Adapter, Path]]:
    """Every point of each adapter's lattice that exists."""
    found = []
    for adapter in load_manifest("c").adapter:
        if adapter.engines[0] not in DEPLOYMENTS:
            continue
        for point in itertools.product(*adapter.coordinates.values()):
            coordinates = dict(zip(adapter.coordinates, point, strict=True))
            if any(rule.when.items() <= coordinates.items() for rule in adapter.unsupported):
                continue
            engine = adapter.engines[0]
            fixed = {"engine": engine, "deployment": DEPLOYMENTS[engine], "durability": "none"}
            found.append((adapter, Path.of(fixed | {"driver": adapter.driver} | coordinates)))
    return found


@pytest.fixture(scope="module")
def instances() -> Iterator[dict[str, Instance]]:
    """One loaded instance of each engine, all workloads in it."""
    started: dict[str, Instance] = {}
    directory = FilePath(tempfile.mkdtemp(prefix="rowpath-"))
    directory.chmod(0o711)  # as root a server runs as another user
    try:
        for name, deployment in DEPLOYMENTS.items():
            if not ENGINES[name].availability().ok:
                continue
            place = Place(directory / name, directory / f"{name}-sockets", tuple(cores.usable()))
            instance = ENGINES[name].instance(deployment, "none", place)
            instance.start()
            started[name] = instance
            for workload_name in names():
                workload = for_engine(load_workload(workload_name), ENGINES[name].supports)[0]
                instance.load(workload.tables)
        yield started
    finally:
        for instance in started.values():
            instance.stop()
        shutil.rmtree(directory, ignore_errors=True)


class Talk:
    """A runner on a path, connected."""

    def __init__(self, adapter: Adapter, path: Path, options: dict[str, Any]) -> None:
        log: list[str] = []
        self.runner = Runner.start(c.command(adapter, adapter.versions[0], path), tuple(cores.usable()), log.append)
        self.runner.hello(adapter.driver, TIMEOUT_S)
        self.opened = self.ask(Open, OpenReply, options=path.as_dict() | options)

    def ask(self, message: type, expect: type, **fields: Any) -> Any:
        return self.runner.request(message, TIMEOUT_S, expect=expect, **fields)

    def prepare(self, name: str, phase: Phase, workload: Workload, sql: str, folder: FilePath) -> None:
        columns, rows = generators.parameter_rows(workload, phase)
        parameters = None
        if columns:
            file = folder / f"{workload.name}.{phase.name}.rows"
            if file not in WRITTEN:
                WRITTEN[file] = codec.write_rows(file, rows, columns)
            parameters = ParameterSlice(file=str(file), first=0, count=WRITTEN[file])
        spec = PhaseSpec(
            name=name,
            kind=phase.kind,
            sql=sql,
            table=phase.table,
            scan=phase.scan,
            columns=column_specs(result_columns(workload, phase)),
            parameter_columns=column_specs(columns),
            transaction=phase.transaction,
            stamps=phase.stamps,
        )
        self.ask(Prepare, PrepareReply, phase=spec, parameters=parameters)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    return tmp_path_factory.mktemp("parameters")


@functools.cache
def truth_of(workload_name: str, engine_name: str) -> Truth:
    return Truth(load_workload(workload_name), ENGINES[engine_name].supports)


def serves(adapter: Adapter, phase: Phase) -> bool:
    return phase.scan if "scan" in adapter.phases else phase.kind in adapter.phases


@pytest.mark.parametrize(("adapter", "path"), paths(), ids=lambda value: value.id if isinstance(value, Path) else "")
def test_every_workload(adapter: Adapter, path: Path, instances: dict[str, Instance], folder: FilePath) -> None:
    name = path.get("engine")
    if name not in instances:
        pytest.skip(ENGINES[name].availability().reason)
    instance, engine = instances[name], ENGINES[name]
    instance.own_copy(path)
    talk = Talk(adapter, path, instance.options(path))
    try:
        for workload_name in names():
            truth = truth_of(workload_name, name)
            for phase in truth.workload.phases:
                if serves(adapter, phase):
                    check_phase(talk, truth, phase, engine, folder)
        facts = talk.ask(Facts, FactsReply)
        assert facts.driver_version
        talk.ask(Bye, Reply)
    finally:
        talk.runner.stop()


def check_phase(talk: Talk, truth: Truth, phase: Phase, engine: Any, folder: FilePath) -> None:
    workload = truth.workload
    if reset := list(reset_for(workload, phase, engine)):
        talk.ask(RunStatements, RunReply, statements=reset, ignore_errors=True)
    talk.prepare(phase.name, phase, workload, sql_for(workload, phase, engine), folder)
    operations = phase.operations or 7
    if not phase.writes:
        operations = 1 if phase.scan else operations
        verified = talk.ask(Verify, VerifyReply, phase=phase.name, first=3, count=operations)
        assert verified.digest == truth.verify_digest(phase, 3, operations, 100_000), verified
    fields = {"phase": phase.name, "regime": "steady", "lead_in_ns": 0, "duration_ns": 0}
    sampled = talk.ask(Sample, SampleReply, operations=operations, first=0, **fields)
    assert (sampled.operations, sampled.failed, sampled.failure) == (operations, 0, None)
    expected = truth.touches(phase).expected(0, operations)
    if expected is not None and not workload.conformance_only:  # its text is not ASCII: C counts bytes
        assert int(sampled.touch, 16) in expected
    if phase.after:
        query = Phase(name="after", kind="query", table=phase.after)
        talk.prepare("after", query, workload, after_sql(workload, phase), folder)
        verified = talk.ask(Verify, VerifyReply, phase="after", first=0, count=1)
        assert verified.digest == truth.after_digest(phase, operations)
