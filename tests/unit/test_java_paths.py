"""Every path of the Java runner delivers every row of every workload, exactly: digests against the truth."""

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
from rowpath.languages import Adapter, java, load_manifest
from rowpath.model import Path, Phase, Table, Workload
from rowpath.protocol import (
    Bye,
    Close,
    CloseReply,
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
ADAPTERS = {adapter.driver: adapter for adapter in load_manifest("java").adapter}
pytestmark = pytest.mark.skipif(bool(java._problem()), reason="no JDK")


def exists(adapter: Adapter, coordinates: dict[str, str]) -> bool:
    return not any(rule.when.items() <= coordinates.items() for rule in adapter.unsupported)


def paths() -> list[tuple[Adapter, Path]]:
    """Every point of each adapter's lattice that exists, but the other transports and versions once only."""
    found = []
    for adapter in ADAPTERS.values():
        for engine, deployment in itertools.product(adapter.engines, adapter.deployments):
            if engine == "null":
                continue
            fixed = {"engine": engine, "deployment": deployment, "durability": "none", "driver": adapter.driver}
            axes = {"version": adapter.versions, **adapter.coordinates}
            first = {key: values[0] for key, values in axes.items()}
            for point in itertools.product(*axes.values()):
                coordinates = dict(zip(axes, point, strict=True))
                usual = all(coordinates[key] == first[key] for key in ("version", "transport") if key in axes)
                alone = sum(coordinates[key] != first[key] for key in axes) == 1
                if exists(adapter, coordinates) and (usual or alone):
                    found.append((adapter, Path.of(fixed | coordinates)))
    return found


@pytest.fixture(scope="module")
def instances() -> Iterator[dict[tuple[str, str], Instance]]:
    """One loaded instance of each engine and deployment, all workloads in it."""
    started: dict[tuple[str, str], Instance] = {}
    directory = FilePath(tempfile.mkdtemp(prefix="rowpath-é "))
    directory.chmod(0o711)  # as root a server runs as another user
    java.build([(adapter, version) for adapter in ADAPTERS.values() for version in adapter.versions])
    try:
        for key in sorted({(path.get("engine"), path.get("deployment")) for _adapter, path in paths()}):
            engine = ENGINES[key[0]]
            if not engine.availability().ok:
                continue
            place = Place(directory / "-".join(key), directory / f"{key[0]}-s", tuple(cores.usable()))
            instance = engine.instance(key[1], "none", place)
            instance.start()
            started[key] = instance
            tables: dict[str, Table] = {}
            for workload_name in names():
                tables |= for_engine(load_workload(workload_name), engine.supports)[0].tables
            instance.load(tables)
        yield started
    finally:
        for instance in started.values():
            instance.stop()
        shutil.rmtree(directory, ignore_errors=True)


class Talk:
    """A runner on a path, connected."""

    def __init__(self, adapter: Adapter, path: Path, options: dict[str, Any]) -> None:
        command = java.command(adapter, path.get("version"), path)
        self.log: list[str] = []
        self.runner = Runner.start(command, tuple(cores.usable()), self.log.append)
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
            stamps=True,
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
def test_every_workload(
    adapter: Adapter, path: Path, instances: dict[tuple[str, str], Instance], folder: FilePath
) -> None:
    key = path.get("engine"), path.get("deployment")
    if key not in instances:
        pytest.skip(ENGINES[key[0]].availability().reason)
    instance = instances[key]
    instance.own_copy(path)
    talk = Talk(adapter, path, instance.options(path))
    try:
        for workload_name in names():
            truth = truth_of(workload_name, key[0])
            for phase in truth.workload.phases:
                if serves(adapter, phase):
                    check_phase(talk, truth, phase, path, folder)
        check_facts(talk.ask(Facts, FactsReply), path, instance)
        talk.ask(Close, CloseReply)
        talk.ask(Open, OpenReply, options=path.as_dict() | instance.options(path))
        talk.ask(Bye, Reply)
        assert talk.runner.process.wait(10) == 0
        assert talk.log == []
    finally:
        talk.runner.stop()


def check_phase(talk: Talk, truth: Truth, phase: Phase, path: Path, folder: FilePath) -> None:
    workload, engine = truth.workload, ENGINES[path.get("engine")]
    if reset := list(reset_for(workload, phase, engine)):
        talk.ask(RunStatements, RunReply, statements=reset, ignore_errors=True)
    talk.prepare(phase.name, phase, workload, sql_for(workload, phase, engine), folder)
    operations = phase.operations or 7
    if not phase.writes:
        operations = 1 if phase.scan else operations
        verified = talk.ask(Verify, VerifyReply, phase=phase.name, first=3, count=operations)
        expected_digest = truth.verify_digest(phase, 3, operations, 100_000)
        assert verified.digest == expected_digest, (phase.name, verified)
        assert len(verified.delivered) == len(result_columns(workload, phase))
    fields = {"phase": phase.name, "regime": "steady", "lead_in_ns": 0, "duration_ns": 0}
    sampled = talk.ask(Sample, SampleReply, operations=operations, first=0, **fields)
    assert (sampled.operations, sampled.failed, sampled.failure) == (operations, 0, None), phase.name
    assert 0 < sampled.execute_ns <= sampled.ns
    expected = truth.touches(phase).expected(0, operations)
    if expected is not None:
        if not workload.conformance_only:  # its text is not ASCII
            assert int(sampled.touch, 16) in expected
        assert sampled.rows == truth.rows(phase, 0, operations)
        assert sampled.execute_ns <= sampled.first_row_ns <= sampled.ns
    if phase.after:
        query = Phase(name="after", kind="query", table=phase.after)
        talk.prepare("after", query, workload, after_sql(workload, phase), folder)
        verified = talk.ask(Verify, VerifyReply, phase="after", first=0, count=1)
        assert verified.digest == truth.after_digest(phase, operations), phase.name


def check_facts(facts: FactsReply, path: Path, instance: Instance) -> None:
    assert "-Xmx256m" in facts.runtime
    assert "-XX:+UseSerialGC" in facts.runtime
    for secret in instance.secrets():
        assert secret not in repr(facts)
    settings = facts.settings
    engine = path.get("engine")
    if engine != "file":
        assert settings["autocommit"] == "on"
        assert path.get("version") in facts.driver_version
    if engine == "sqlite":
        assert settings["synchronous"] == "0"
    if path.get("deployment") == "embedded" and engine == "derby":
        assert settings["durability"] == "none"
    if engine == "postgresql":
        statement, asked = path.get("statement"), path.get("prepare_threshold")
        assert settings["prepare_threshold"] == ("0" if statement == "bound" else "5" if asked == "auto" else asked)
        assert settings["query_mode"] == ("simple" if path.get("statement") == "text" else "extended")
        assert settings["fetch_size"] == ("1000" if path.get("result") == "cursor:1000" else "0")
        assert settings["tls"] == "off"
        assert settings["TimeZone"] == "UTC"
