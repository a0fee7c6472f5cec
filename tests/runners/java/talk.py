"""What the Java runner's tests share: loaded engines, and a runner that is spoken to."""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.machine import cpus, maven
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase, Table, Workload
from rowpath.runners.manifest import Adapter, Command, load_manifest, toolchain
from rowpath.runners.process import Runner
from rowpath.runners.protocol import Close, CloseReply
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import for_engine, load_workload
from tests.runners.protocol import talk

java: Any = toolchain("java")
ADAPTERS = {adapter.driver: adapter for adapter in load_manifest("java").adapter}
Instances = dict[tuple[str, str], Instance]


@contextmanager
def loaded(keys: list[tuple[str, str]], workloads: Sequence[str | Workload], version: str = "") -> Iterator[Instances]:
    """One loaded instance of each engine and deployment that can run here, these workloads in it."""
    started: Instances = {}
    directory = Path(tempfile.mkdtemp(prefix="rowpath-é "))
    directory.chmod(0o711)  # as root a server runs as another user
    served = {engine for engine, _deployment in keys}
    mine = [adapter for adapter in ADAPTERS.values() if served.intersection(adapter.engines)]
    java.build([(each, one) for each in mine for one in each.versions if java.availability(each, one).ok])
    try:
        for key in keys:
            engine = ENGINES[key[0]]
            if not engine.availability().ok:
                continue
            place = Place(directory / "-".join(key), directory / f"{key[0]}-s", tuple(cpus.usable()), version=version)
            instance = engine.instance(key[1], "none", place)
            instance.start()
            started[key] = instance
            tables: dict[str, Table] = {}
            for named in workloads:
                workload = load_workload(named) if isinstance(named, str) else named
                tables |= for_engine(workload, engine.supports)[0].tables
            instance.load(tables)
        yield started
    finally:
        for instance in started.values():
            instance.stop()
        shutil.rmtree(directory, ignore_errors=True)


def path_of(driver: str, **coordinates: str) -> AccessPath:
    """A path through this driver: the first value of each coordinate that is not named."""
    adapter = ADAPTERS[driver]
    first = {key: values[0] for key, values in adapter.coordinates.items()}
    fixed = {"engine": adapter.engines[0], "deployment": adapter.deployments[0], "durability": "none"}
    return AccessPath.of({"driver": driver, "version": adapter.versions[0], **fixed, **first, **coordinates})


@functools.cache
def expected_of(workload_name: str, engine_name: str) -> Expected:
    return Expected(load_workload(workload_name), ENGINES[engine_name].supports)


def short_lived(command: Command) -> Command:
    """The command for a JVM that takes less CPU as it ends after seconds; tests/conformance has it as it is."""
    at = command.arguments.index("sh") + 2
    arguments = (*command.arguments[:at], maven.SHORT_LIVED, *command.arguments[at:])
    return msgspec.structs.replace(command, arguments=arguments)


@dataclass
class Idle:
    """A process without a connection, kept because a JVM's start costs more than most tests."""

    command: Command
    runner: Runner
    log: list[str]


_idle: list[Idle] = []  # one at most: each JVM holds its whole heap


def process_of(command: Command) -> tuple[Runner, list[str]]:
    """The idle process where it is one of this command, else a new one; and what it logs."""
    kept = _idle.pop() if _idle else None
    if kept is not None and kept.command == command and kept.runner.alive():
        return kept.runner, kept.log
    if kept is not None:
        kept.runner.stop()
    log: list[str] = []
    return Runner.start(command, tuple(cpus.usable()), log.append), log


def keep(command: Command, runner: Runner, log: list[str]) -> None:
    """Let a process that has no connection wait for the next path of the same command."""
    log.clear()
    _idle.append(Idle(command, runner, log))


class Talk(talk.Talk):
    """A runner on a path, connected; each operation is stamped, and a sample begins at the first row."""

    SAMPLE = MappingProxyType({**talk.Talk.SAMPLE, "first": 0})

    def __init__(self, adapter: Adapter, path: AccessPath, options: dict[str, Any]) -> None:
        self.engine = ENGINES[path.get("engine")]
        self._command = short_lived(java.command(adapter, path.get("version"), path))
        self.runner, self.log = process_of(self._command)
        self.runner.hello(adapter.driver, requires=("clients", "interrupt"))
        try:
            self.opened = self.open(path.as_dict() | options)
        except BaseException:
            self.keep()
            raise

    def close(self) -> None:
        """Close the connection and keep the process for the next path of the same command."""
        if not self.runner.alive():
            self.runner.stop()
            return
        self.ask(Close, CloseReply)
        self.keep()

    def keep(self) -> None:
        """Keep the process, which has no connection, for the next path of the same command."""
        keep(self._command, self.runner, self.log)

    def prepare_phase(self, workload: Workload, phase: Phase, sql: str, folder: Path, **changed: Any) -> str:
        return super().prepare_phase(workload, phase, sql, folder, **({"stamps": True} | changed))
