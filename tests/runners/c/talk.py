"""What tests of the C runner on real engines share: engines that are started once, and a runner on a path of theirs."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Engine, Instance, Place
from rowpath.machine import cpus
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.model.path import AccessPath
from rowpath.model.result_columns import result_columns
from rowpath.model.workload import Phase, Workload
from rowpath.runners import protocol
from rowpath.runners.manifest import Adapter, load_manifest
from rowpath.runners.process import Runner
from rowpath.runners.toolchains import c
from rowpath.workloads import codec, generators
from rowpath.workloads.expected import Expected
from rowpath.workloads.sql import reset_for, sql_for, whole_sql
from rowpath.workloads.workload_file import load_workload

TIMEOUT_S = 60.0
ADAPTERS: dict[str, Adapter] = {adapter.driver: adapter for adapter in load_manifest("c").adapter}


def expected_of(workload: str, engine: Engine) -> Expected:
    """The right answers of a workload of ours on an engine."""
    return Expected(load_workload(workload), engine.supports)


@contextlib.contextmanager
def started(engine_name: str, version: str = "", deployment: str = "") -> Iterator[Instance]:
    """An instance of the engine, empty, in its first deployment or that one; stopped and removed at the end."""
    directory = Path(tempfile.mkdtemp(prefix="rowpath-"))
    directory.chmod(0o711)  # as root a server runs as another user
    engine = ENGINES[engine_name]
    place = Place(directory / engine_name, directory / "sockets", tuple(cpus.usable()))
    place.version = version
    instance = engine.instance(deployment or engine.deployments[0], "none", place)
    try:
        instance.start()
        yield instance
    finally:
        instance.stop()
        shutil.rmtree(directory, ignore_errors=True)


class Talk:
    """A runner on a path, connected."""

    def __init__(self, driver: str, instance: Instance, **coordinates: str) -> None:
        self._start(driver, instance, coordinates)
        instance.own_copy(self.path)
        try:
            self.opened = self.open(self.options)
        except BaseException:
            self.runner.stop()
            raise

    @classmethod
    def start_only(cls, driver: str, instance: Instance, **coordinates: str) -> Talk:
        """A runner that is not connected yet."""
        talk = cls.__new__(cls)
        talk._start(driver, instance, coordinates)
        return talk

    def _start(self, driver: str, instance: Instance, coordinates: dict[str, str]) -> None:
        adapter = ADAPTERS[driver]
        version = coordinates.get("version", adapter.versions[0])
        if not (here := c.availability(adapter, version)).ok:
            pytest.skip(f"{here.reason} ({here.remedy})")
        self.engine = ENGINES[adapter.engines[0]]
        first = {key: values[0] for key, values in adapter.coordinates.items()}
        fixed = {"engine": self.engine.name, "driver": driver, "durability": "none"}
        self.path = AccessPath.of(fixed | first | coordinates)
        self.options = self.path.as_dict() | instance.options(self.path)
        log: list[str] = []
        self.runner = Runner.start(c.command(adapter, version, self.path), tuple(cpus.usable()), log.append)
        try:
            self.hello = self.runner.hello(driver, TIMEOUT_S, ("clients", "interrupt"))
        except BaseException:
            self.runner.stop()
            raise

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.runner.stop()

    def open(self, options: dict[str, Any]) -> protocol.OpenReply:
        """Connect, with these options alone."""
        reply: protocol.OpenReply = self.ask(protocol.Open, protocol.OpenReply, options=options)
        return reply

    def ask(self, message: type, expect: type, **fields: Any) -> Any:
        """The reply to a request."""
        return self.runner.request(message, TIMEOUT_S, expect=expect, **fields)

    def prepare(self, expected: Expected, phase: Phase, folder: Path, sql: str = "") -> None:
        """Make a phase of the workload ready, its table reset first."""
        workload: Workload = expected.workload
        if reset := list(reset_for(workload, phase, self.engine)):
            self.ask(protocol.RunStatements, protocol.RunReply, statements=reset, ignore_errors=True)
        columns, rows = generators.parameter_rows(workload, phase)
        parameters = None
        if columns:
            file = folder / f"{workload.name}.{phase.name}.rows"
            count = (
                phase.parameters.count if phase.parameters and file.is_file() else codec.write_rows(file, rows, columns)
            )
            parameters = protocol.ParameterSlice(file=str(file), first=0, count=count)
        spec = protocol.PhaseSpec(
            name=phase.name,
            kind=phase.kind,
            sql=sql or sql_for(workload, phase, self.engine),
            table=phase.table,
            columns=result_columns(workload, phase),
            parameter_columns=columns,
            transaction=phase.transaction,
            rows_per_operation=phase.rows_per_operation,
            way=phase.way,
            access="scan" if phase.scan else phase.access,
            table_columns=workload.tables[phase.table].columns if phase.table else (),
            key_columns=list(workload.tables[phase.table].primary_key if phase.table else ()),
        )
        self.ask(protocol.Prepare, protocol.PrepareReply, phase=spec, parameters=parameters)

    def sample(self, phase: str, **fields: int) -> protocol.SampleReply:
        """One sample, without a lead-in when none is asked for."""
        asked: dict[str, Any] = {"regime": "steady", "lead_in_ns": 0, "duration_ns": 0, "operations": 0, "first": -1}
        reply: protocol.SampleReply = self.ask(protocol.Sample, protocol.SampleReply, phase=phase, **(asked | fields))
        return reply

    def stored(self, expected: Expected, phase: Phase, folder: Path) -> str:
        """The digest of the whole table that the phase writes."""
        query = Phase(name="after", kind="query", table=phase.after)
        self.prepare(expected, query, folder, whole_sql(phase.after, expected.workload.tables[phase.after]))
        verified: protocol.VerifyReply = self.ask(
            protocol.Verify, protocol.VerifyReply, phase="after", first=0, count=1
        )
        return verified.digest

    def statements_seen(self, expected: Expected, folder: Path, mark: str) -> tuple[int, int]:
        """Round trips and texts with the mark that 20 reads send to a server reached over TCP, seen from between."""
        proxy = Proxy(int(self.options["port"]))
        try:
            self.ask(protocol.Close, protocol.CloseReply)
            self.open(self.options | {"port": proxy.port})
            self.prepare(expected, expected.workload.phase("read"), folder)
            self.sample("read", operations=1, first=0)
            proxy.watch(mark)
            proxy.reset()
            assert self.sample("read", operations=20, first=0).failed == 0
            seen = proxy.read()
        finally:
            proxy.stop()
        return seen.round_trips, seen.texts_sent

    def facts(self) -> protocol.FactsReply:
        """What the live connection says."""
        reply: protocol.FactsReply = self.ask(protocol.Facts, protocol.FactsReply)
        return reply
