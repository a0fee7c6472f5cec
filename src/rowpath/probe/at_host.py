"""A probe on the host that it is asked from: the program that the host's agent starts. It reads what is asked on stdin,
so that no secret is in arguments, and writes its progress into a file beside its run directory.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from typing_extensions import override

from rowpath.hosts.agent import like_a_users_program
from rowpath.hosts.replies import Reply, reply_of
from rowpath.machine import processes
from rowpath.model.progress import Estimate, Progress
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.target import PASSWORD_VARIABLE
from rowpath.probe import command

RUN, EVENTS = "run", "events"  # in the program's folder
SAY, RESULT = "say", "result"  # events that are no progress
INTERRUPTED: Reply = ("ok", True)


@dataclass(frozen=True)
class ProbeRequest:
    """What the host is to probe."""

    options: ProbeOptions
    command: list[str]  # the user's, which the journal has without secrets
    password: str = field(repr=False)  # of the user's environment


class Events(Progress):
    """Progress as lines of a file: a method's name and what it got."""

    def __init__(self, file: Path) -> None:
        self._stream = file.open("ab", buffering=0)

    def write(self, name: str, *values: Any) -> None:
        """Append one event."""
        self._stream.write(msgspec.json.encode([name, *values]) + b"\n")

    @override
    def begin(self, planned: Estimate | float, paths: list[str]) -> None:
        self.write("begin", planned, paths)

    @override
    def phase(self, set_number: int, sets: int, workload: str, phase: str, regime: str) -> None:
        self.write("phase", set_number, sets, workload, phase, regime)

    @override
    def block(self, path_name: str, ns_per_operation: float, blocks_done: int, blocks_total: int) -> None:
        self.write("block", path_name, ns_per_operation, blocks_done, blocks_total)

    @override
    def tried(self, path_name: str, ns_per_operation: float, done: int, total: int) -> None:
        self.write("tried", path_name, ns_per_operation, done, total)

    @override
    def note(self, text: str) -> None:
        self.write("note", text)

    @override
    def end(self) -> None:
        self.write("end")


def main() -> None:
    """Probe, and leave the run directory, the events and what it came to."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    request: ProbeRequest = pickle.loads(sys.stdin.buffer.read())  # of our own controller
    events = Events(Path(EVENTS))
    try:
        reply = reply_of(lambda: _probed(request, events))
    except KeyboardInterrupt:
        reply = INTERRUPTED
    finally:
        processes.stop_all()
    events.write(RESULT, *reply)


def _probed(request: ProbeRequest, events: Events) -> bool:
    like_a_users_program()
    sys.argv = ["rowpath", *request.command]
    environment = os.environ | ({PASSWORD_VARIABLE: request.password} if request.password else {})
    outcome, _ = command.probe(
        request.options, events, environment=environment, say=lambda text: events.write(SAY, text)
    )
    return outcome.interrupted


if __name__ == "__main__":
    main()
