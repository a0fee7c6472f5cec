"""The shared counters: shared memory in which every client of every group records each operation before the next.

The layout is part of the runner protocol (runners/PROTOCOL.md, `client-groups`).
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from rowpath.model.histogram import COUNTS, Counts
from rowpath.runners.protocol import GroupSpec

WORD = 8
CONTROL_BYTES = 64  # two words used: a cache line of its own
HEAD_WORDS = 16
SLOT_BYTES = WORD * (HEAD_WORDS + 3 * COUNTS)
PAGE = 4096
WAITS, WORKS, DONE, GAVE_UP = 1, 2, 3, 4
SUMS = {
    "operations": 1, "failed": 2, "service_ns": 6, "latency_ns": 7, "rows": 9, "arrivals": 10, "borrow_ns": 12,
    "return_ns": 13,
}  # words of a slot  # fmt: skip
BLOCKED = 14  # word of a slot
HISTOGRAMS = ("service", "latency", "lateness")  # in this order behind them


@dataclass(frozen=True)
class Snapshot:
    """One group at one instant: sums over its clients since its begin."""

    at_ns: int  # CLOCK_MONOTONIC
    operations: int
    failed: int
    service_ns: int
    latency_ns: int
    rows: int
    arrivals: int
    working: int  # clients
    done: int  # clients, those that gave up included
    gave_up: int
    under_way_ns: int  # how long the oldest operation under way has lasted; 0: none is
    service: Counts
    latency: Counts
    lateness: Counts
    blocked_ns: int = 0  # the longest time an event loop of its clients was blocked
    borrow_ns: int = 0  # sums: of borrowing connections from a pool, and of returning them
    return_ns: int = 0

    def since(self, before: Snapshot | None) -> Snapshot:
        """The snapshot with what was added since an earlier one (None: since the begin) in every sum."""
        if before is None:
            return self
        return replace(self, **{name: getattr(self, name) - getattr(before, name) for name in (*SUMS, *HISTOGRAMS)})


class SharedCounters:
    """Memory shared with the runners of one stage; gone when closed. It has no name in any file system."""

    def __init__(self, groups: Sequence[tuple[str, int, int]]) -> None:
        """`groups`: (name, clients, parameter rows whose acknowledged operations are counted or 0)."""
        self.client_groups: dict[str, GroupSpec] = {}  # by name, without a phase
        self._rows = {name: rows for name, _clients, rows in groups}
        end = _up(CONTROL_BYTES * len(groups))
        for number, (name, clients, rows) in enumerate(groups):
            slot_bytes = _up(SLOT_BYTES + 8 * rows)
            group = GroupSpec(name, "", 0, clients, "closed", CONTROL_BYTES * number, end, slot_bytes)
            group.acknowledged = SLOT_BYTES if rows else 0
            self.client_groups[name] = group
            end += clients * slot_bytes
        self._file = os.memfd_create("rowpath-shared_counters")
        os.ftruncate(self._file, end)
        self._memory = mmap.mmap(self._file, end)
        self._words: NDArray[np.uint64] = np.frombuffer(self._memory, dtype="<u8")

    @property
    def file(self) -> str:
        """The file that a runner maps; it is there while this process lives and the shared counters are open."""
        return f"/proc/{os.getpid()}/fd/{self._file}"

    def spec(self, name: str, phase: str, first_client: int = 0) -> GroupSpec:
        """The group as a runner gets it, closed loop; `first_client`: the first of the runner's clients that is its."""
        return msgspec.structs.replace(self.client_groups[name], phase=phase, first_client=first_client)

    def begin(self, name: str, at_ns: int) -> int:
        """Let a group's clients begin at that instant of CLOCK_MONOTONIC; when they can have begun."""
        self._words[self.client_groups[name].control // WORD] = at_ns
        return at_ns

    def end(self, name: str, at_ns: int) -> None:
        """No operation of the group begins from that instant on."""
        self._words[self.client_groups[name].control // WORD + 1] = at_ns

    def set_instants(self, begin_ns: Mapping[str, int], end_ns: int) -> None:
        """Let these groups begin at their instants; no operation of any group begins from `end_ns` on."""
        for name in self.client_groups:
            self.end(name, end_ns)
        for name, at_ns in begin_ns.items():
            self.begin(name, at_ns)

    def states(self, name: str) -> list[int]:
        """The clients' states: cheap enough to be read often."""
        return [int(slot[0]) for slot in self._slots(name)]

    def spans(self, name: str) -> list[tuple[int, int]]:
        """When each client's operation under way began (0: none is) and when its last ended (0: none has)."""
        return [(int(slot[4]), int(slot[11])) for slot in self._slots(name)]

    def ended_ns(self, name: str) -> int:
        """When an operation of the group last ended; 0: none has."""
        return max(ended for _begin, ended in self.spans(name))

    def stall_ns(self, name: str, now_ns: int) -> int:
        """How long operations of the group have been under way without one of them ending; 0: none is."""
        spans = self.spans(name)
        begun = [begin for begin, _ended in spans if begin]
        return max(0, now_ns - max(min(begun), *(ended for _begin, ended in spans))) if begun else 0

    def snapshot(self, name: str, now_ns: int) -> Snapshot:
        """The group now."""
        slots = self._slots(name)
        head = np.array([slot[:HEAD_WORDS] for slot in slots], dtype=np.uint64)
        sums = head.sum(axis=0)
        begun = [int(value) for value in head[:, 4] if value]
        states = head[:, 0]
        added: dict[str, Any] = {field: int(sums[word]) for field, word in SUMS.items()}
        for kind, field in enumerate(HISTOGRAMS):
            begin = HEAD_WORDS + kind * COUNTS
            added[field] = np.sum([slot[begin : begin + COUNTS] for slot in slots], axis=0)
        return Snapshot(
            at_ns=now_ns,
            working=int((states == WORKS).sum()),
            done=int((states >= DONE).sum()),
            gave_up=int((states == GAVE_UP).sum()),
            under_way_ns=max(0, now_ns - min(begun)) if begun else 0,
            blocked_ns=int(head[:, BLOCKED].max()),
            **added,
        )

    def acknowledged(self, name: str) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Operations acknowledged, and operations without a known outcome (failed, under way), by parameter row.

        An operation that ends during the call may be in both; one that began before is in at least one.
        """
        offsets, rows = self.client_groups[name], self._rows[name]
        known, doubtful = (np.zeros(rows, dtype=np.uint32) for _ in range(2))
        for client, slot in enumerate(self._slots(name)):
            if slot[4]:  # before the counts: it may be acknowledged while they are read
                doubtful[int(slot[3])] += 1
            begin = offsets.slots + client * offsets.slot_bytes
            counts = np.frombuffer(self._memory, "<u4", 2 * rows, begin + offsets.acknowledged)
            known += counts[:rows]
            doubtful += counts[rows:]
        return known, doubtful

    def close(self) -> None:
        """Give the memory back; a runner that still has it mapped keeps it."""
        del self._words
        with contextlib.suppress(BufferError):  # a view of it is still held: it goes with the view
            self._memory.close()
        os.close(self._file)

    def _slots(self, name: str) -> list[NDArray[np.uint64]]:
        offsets = self.client_groups[name]
        return [self._slot(offsets, client) for client in range(offsets.clients)]

    def _slot(self, offsets: GroupSpec, client: int) -> NDArray[np.uint64]:
        begin = (offsets.slots + client * offsets.slot_bytes) // WORD
        return self._words[begin : begin + HEAD_WORDS + 3 * COUNTS]


def _up(size: int) -> int:
    return (size + PAGE - 1) // PAGE * PAGE
