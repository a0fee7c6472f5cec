"""A run whose hosts are lost and come back as a test says, and what it wrote, noted and asked of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from typing_extensions import override

from rowpath.execution.prepared_phases import PhaseCache
from rowpath.execution.run_context import Instances, RunContext
from rowpath.execution.several_hosts import HostLost, Hosts, LostHosts
from rowpath.journal.record_base import Record
from rowpath.journal.records import NoteRecord
from rowpath.journal.writer import Journal, RunDirectory
from rowpath.model.experiment import Experiment, StageTable
from rowpath.model.path import AccessPath
from rowpath.model.progress import Progress
from rowpath.planning.plan import Key, Plan, PlannedPath
from rowpath.runners.manifest import adapter_of
from rowpath.scrubber import Scrubber

WHAT = NoteRecord("what the host is")


class WrittenRecords(Journal):
    """A journal without a file."""

    def __init__(self) -> None:
        self.written: list[Record] = []

    @override
    def write(self, record: Record) -> None:
        self.written.append(record)


class Notes(Progress):
    """Keeps what a run says."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @override
    def note(self, text: str) -> None:
        self.texts.append(text)


class EveryInstance(Instances):
    """Every instance is up."""

    @override
    def __contains__(self, key: Key) -> bool:
        return True


class Context(RunContext):
    """A run that began three seconds ago."""

    @override
    def now_ns(self) -> int:
        return 3_000_000_000


class SomeHosts(Hosts):
    """Hosts, and what was asked of them."""

    wait_s = 60.0

    def __init__(self, hosts: dict[str, tuple[str, ...]]) -> None:
        """`hosts`: those that a path needs, by its name."""
        self._hosts = hosts
        self._lost: dict[str, HostLost] = {}
        self.called: list[str] = []
        self.awaited: list[str] = []
        self.there: dict[str, list[Record]] = {}
        self.looks_before_back = 0
        self.ended: HostLost | None = None  # what joins the hosts

    @property
    @override
    def lost(self) -> dict[str, HostLost]:
        return self._lost

    @override
    def needed_by(self, planned: PlannedPath) -> frozenset[str]:
        return frozenset(self._hosts[planned.name])

    @override
    def loads(self, planned: PlannedPath, client_groups: Iterable[str]) -> frozenset[str]:
        return frozenset(("load1", "load2") if "readers" in client_groups else ())

    @override
    def call_back(self, lost: HostLost) -> None:
        self.called.append(lost.host)

    @override
    def wait_until_idle(self, host: str) -> None:
        self.awaited.append(host)

    @override
    def back(self) -> Mapping[str, list[Record]]:
        if self.ended is not None:
            raise self.ended
        self.looks_before_back -= 1
        return self.there if self.looks_before_back < 0 else {}


class World:
    """Paths on two clients' hosts, behind one server; what is said and forgotten."""

    def __init__(self, *hosts: tuple[str, ...], stages: tuple[StageTable, ...] = ()) -> None:
        needed = {f"path {number}": each for number, each in enumerate(hosts)} | {"null": ("app2",)}
        self.paths = tuple(_path(name, *each) for name, each in needed.items())
        self.forgotten: list[str] = []
        self.brought_up: list[str] = []
        self.hosts = SomeHosts(needed)
        self.journal, self.progress = WrittenRecords(), Notes()
        experiment = Experiment(1, "lost", "Lost", (), (), stages=stages)
        context = Context(
            Plan(experiment, {}, self.paths, (), (self.paths,), (), 5, {}, False),
            RunDirectory(Path()),
            self.journal,
            Scrubber(),
            self.progress,
            1.0,
            EveryInstance(),  # type: ignore[abstract]
            cast(PhaseCache, None),  # no phase is prepared
        )
        self.lost = LostHosts(context, self.hosts, self.forgotten.append, lambda key: self.brought_up.append(key[-1]))

    @property
    def notes(self) -> list[str]:
        return self.progress.texts

    def lose(self, host: str) -> None:
        with self.lost.left_out():
            raise HostLost(host, "it is gone")


def _path(name: str, client: str, server: str = "") -> PlannedPath:
    where = {"client_host": client, "server_host": server or client}
    engine = "null" if name == "null" else "postgresql"
    path = AccessPath.of({"engine": engine, "deployment": "server", **where})
    return PlannedPath(path, adapter_of("c", "null"), (), name)
