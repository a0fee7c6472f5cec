"""A runner that does at once, without a database, what client groups ask for; backups likewise."""

from __future__ import annotations

import mmap
import struct
import time
from pathlib import Path
from typing import Any, cast

from typing_extensions import override

from rowpath.engines.base import BackedUp, Backup
from rowpath.engines.base import Instance as AnyInstance
from rowpath.execution.mixed_load.shared_counters import DONE, WAITS, WORKS
from rowpath.model.path import AccessPath
from rowpath.runners.process import AnyReply, RunnerFailure
from rowpath.runners.protocol import (
    ClientGroups,
    ClientGroupsEnd,
    ClientGroupsEndReply,
    ClientGroupsReply,
    GroupSpec,
    GroupTotal,
    Reply,
)
from tests.order.order_world import Instance, Runner, World

OPERATIONS = 7  # of each client and stage


class GroupsRunner(Runner):
    """Its clients work whenever they are looked at: between the words to begin and to end."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.groups: list[GroupSpec] = []
        self.shared_counters: mmap.mmap | None = None

    @override
    def request(self, message: type, timeout_s: float, *, expect: type[AnyReply], **fields: Any) -> AnyReply:
        if message is ClientGroups:
            super().request(message, timeout_s, expect=Reply, **fields)
            with open(fields["shared_counters"], "r+b") as file:  # noqa: PTH123
                self.shared_counters = mmap.mmap(file.fileno(), 0)
            self.groups = fields["client_groups"]
            for spec in self.groups:
                self._each(spec, 0, WAITS)
            return cast(AnyReply, ClientGroupsReply(id=0, clients=sum(spec.clients for spec in self.groups)))
        if message is ClientGroupsEnd:
            self.world.say("clientgroupsend", self.name)
            return cast(AnyReply, ClientGroupsEndReply(id=0, client_groups=[self._total(spec) for spec in self.groups]))
        return super().request(message, timeout_s, expect=expect, **fields)

    @override
    def listen(self) -> None:
        self.world.say("listen", self.name, *(spec.name for spec in self.groups))
        now_ns = time.monotonic_ns()
        for spec in self.groups:
            begin_ns, end_ns = self._words(spec.control, 2)
            (state,) = self._words(spec.slots, 1)
            if state == WAITS and begin_ns and begin_ns <= now_ns:
                self._work(spec, begin_ns < (end_ns or now_ns))
            elif state == WORKS and (spec.operations or (end_ns and end_ns <= now_ns)):
                self.world.say("done", spec.name)
                self._each(spec, 11, now_ns)
                self._each(spec, 0, DONE)

    def _work(self, spec: GroupSpec, in_time: bool) -> None:
        """Until it is looked at again; a group that begins at its end does nothing."""
        self.world.say("begun", spec.name)
        self._each(spec, 0, WORKS)
        if in_time:
            self._each(spec, 1, spec.operations or OPERATIONS)
            if spec.acknowledged:
                self._write(spec.slots + spec.acknowledged, spec.operations or OPERATIONS)

    @override
    def lost(self) -> RunnerFailure:
        return RunnerFailure("crashed", "the runner ended with status 1")

    def _total(self, spec: GroupSpec) -> GroupTotal:
        operations = self._words(spec.slots, 2)[1] * spec.clients
        counts: dict[str, Any] = dict.fromkeys(("failed", "rows", "values", "begun_ns", "ended_ns", "cpu_ns"), 0)
        return GroupTotal(name=spec.name, operations=operations, touch="0" * 16, **counts)

    def _each(self, spec: GroupSpec, word: int, value: int) -> None:
        for client in range(spec.clients):
            self._write(spec.slots + client * spec.slot_bytes + 8 * word, value)

    def _write(self, at: int, value: int) -> None:
        assert self.shared_counters is not None
        struct.pack_into("<Q", self.shared_counters, at, value)

    def _words(self, at: int, count: int) -> tuple[int, ...]:
        assert self.shared_counters is not None
        return struct.unpack_from(f"<{count}Q", self.shared_counters, at)


class BackedUpInstance(Instance, BackedUp):
    """An engine whose backups are a statement, or a program where the world says so."""

    @override
    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        kept = folder / "kept"
        self.world.say("backup", self.name, folder.name)
        if self.world.program:
            return Backup(way, kept, command=self.world.program)
        return Backup(way, kept, statement=f"BACKUP TO '{kept}'")

    @override
    def restored(self, backup: Backup, folder: Path) -> AnyInstance:
        self.world.say("restored", self.name)
        return self
