"""The syncs of a server: whether it counts them from its next start on, and how many there were."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from typing_extensions import override

from rowpath.engines.base import External, Instance, Place
from rowpath.machine.counters import syncs
from rowpath.machine.counters.syncs import SyncCount


class ServerSyncs(Protocol):
    """The syncs of one server."""

    def method(self) -> str:
        """The method by which they can be counted, or why not; empty without a private server."""

    def count(self, wanted: bool) -> None:
        """Whether the server counts them from its next start on."""

    def read(self) -> SyncCount:
        """How many there were since that start."""


class LocalServerSyncs(ServerSyncs):
    """The syncs of a server on this host."""

    def __init__(self, instance: Instance, place: Place, folder: Path) -> None:
        """`place`: where the server is started; `folder`: for the counters."""
        self._instance = instance
        self._place = place
        self._folder = folder
        self._file: Path | None = None
        self._added: dict[str, str] = {}

    @override
    def method(self) -> str:
        ours = self._instance.deployment == "server" and not isinstance(self._instance, External)
        return syncs.method() if ours else ""

    @override
    def count(self, wanted: bool) -> None:
        for name in self._added:
            self._place.environment.pop(name, None)
        self._file = syncs.make_file(self._folder) if wanted else None
        self._added = syncs.environment(self._file) if self._file else {}
        self._place.environment.update(self._added)

    @override
    def read(self) -> SyncCount:
        if self._file is not None:
            return SyncCount(syncs.read(self._file)["total"], syncs.METHOD)
        method = self.method()
        return SyncCount(method="" if method == syncs.METHOD else method)
