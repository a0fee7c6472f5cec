"""A probe on the host that it is asked from: the program that the host's agent starts. It reads what is asked on stdin,
so that no secret is in arguments, and writes its progress into a file beside its run directory.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from dataclasses import dataclass, field
from functools import partial, partialmethod
from pathlib import Path
from typing import Any

import msgspec

from rowpath.hosts.agent import like_a_users_program
from rowpath.hosts.replies import Reply, reply_of
from rowpath.machine import processes
from rowpath.model.progress import Progress
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

    begin = partialmethod(write, "begin")
    phase = partialmethod(write, "phase")
    block = partialmethod(write, "block")
    tried = partialmethod(write, "tried")
    note = partialmethod(write, "note")
    end = partialmethod(write, "end")


def main() -> None:
    """Probe, and leave the run directory, the events and what it came to."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    request: ProbeRequest = pickle.loads(sys.stdin.buffer.read())  # of our own controller
    events = Events(Path(EVENTS))

    def probed() -> bool:
        like_a_users_program()
        sys.argv = ["rowpath", *request.command]
        environment = os.environ | ({PASSWORD_VARIABLE: request.password} if request.password else {})
        say = partial(events.write, SAY)
        return command.probe(request.options, events, environment=environment, say=say)[0].interrupted

    try:
        reply = reply_of(probed)
    except KeyboardInterrupt:
        reply = INTERRUPTED
    finally:
        processes.stop_all()
    events.write(RESULT, *reply)


if __name__ == "__main__":
    main()
