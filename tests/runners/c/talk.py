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
from rowpath.model.workload import Phase
from rowpath.runners.manifest import Adapter, load_manifest, toolchain
from rowpath.runners.process import Runner
from rowpath.runners.protocol import Close, CloseReply
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import load_workload
from tests.runners.protocol import talk

c: Any = toolchain("c")
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


class Talk(talk.Talk):
    """A runner on a path, connected."""

    def __init__(self, driver: str, instance: Instance, **coordinates: str) -> None:
        self.start_runner(driver, instance, coordinates)
        instance.own_copy(self.path)
        try:
            self.opened = self.open(self.options)
        except BaseException:
            self.runner.stop()
            raise

    @classmethod
    def start_only(cls, driver: str, instance: Instance, **coordinates: str) -> Talk:
        """A runner that is not connected yet."""
        started = cls.__new__(cls)
        started.start_runner(driver, instance, coordinates)
        return started

    def start_runner(self, driver: str, instance: Instance, coordinates: dict[str, str]) -> None:
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
            self.hello = self.runner.hello(driver, requires=("clients", "interrupt"))
        except BaseException:
            self.runner.stop()
            raise

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.runner.stop()

    def prepare(self, expected: Expected, phase: Phase, folder: Path, sql: str = "") -> None:
        """Make a phase of the workload ready, its table reset first."""
        self.make_ready(expected.workload, phase, folder, sql)

    def stored(self, expected: Expected, phase: Phase, folder: Path) -> str:
        """The digest of the whole table that the phase writes."""
        return self.digest_after(expected.workload, phase, folder)

    def statements_seen(self, expected: Expected, folder: Path, mark: str) -> tuple[int, int]:
        """Round trips and texts with the mark that 20 reads send to a server reached over TCP, seen from between."""
        proxy = Proxy(int(self.options["port"]))
        try:
            self.ask(Close, CloseReply)
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
