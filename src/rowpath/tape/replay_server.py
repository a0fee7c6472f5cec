"""The replay server's process: it gets a tape's content and serves it on loopback until it is stopped."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rowpath.errors import InternalError
from rowpath.machine import c_tools, processes
from rowpath.tape.format import Tape, damaged

READY = re.compile(r"ready tcp=(\d+) requests=(\d+) ambiguous=(\d+)")
ENDED = re.compile(r"answered=(\d+) refused=(\d+)")
READY_TIMEOUT_S = 60.0  # of reading and indexing a tape of some gigabytes


@dataclass(frozen=True)
class Served:
    """What a replay server did until it was stopped."""

    answered: int
    refused: int
    reasons: tuple[str, ...]  # the first refusals


class ReplayServer:
    """A replay server; `requests` and `ambiguous` are the tape's, known once it has started."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._process: processes.Process | None = None
        self._errors: IO[bytes] | None = None
        self.port = self.requests = self.ambiguous = 0

    def start(
        self,
        *,
        port: int = 0,
        unix: Path | None = None,
        cpus: Iterable[int] = (),
        chunk_bytes: int = 0,
        late_ns: int = 0,
        environment: Mapping[str, str] = {},
    ) -> None:
        """Start it and wait until it serves; UsageError for a tape that is damaged.

        It sends in pieces of `chunk_bytes`; 0: whatever the kernel takes. It answers `late_ns` late.
        """
        options = ["--tcp", str(port), "--chunk-bytes", str(chunk_bytes), "--late-ns", str(late_ns)]
        self._launch(options + (["--unix", str(unix)] if unix else []), cpus, environment)

    def check(self) -> None:
        """Read the tape as if to serve it; UsageError when it is damaged."""
        self._launch(["--check", "yes"])
        self.stop()

    @property
    def pids(self) -> list[int]:
        """Its process, while it lives."""
        return [self._process.pid] if self._process is not None and self._process.poll() is None else []

    def refusals(self) -> list[str]:
        """The first requests that it refused so far, in words."""
        if self._errors is None:
            return []
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace").splitlines()

    def stop(self) -> Served:
        """Stop it; harmless when it has ended."""
        ended = None
        if self._process is not None:
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            if processes.wait(self._process, 2.0):
                ended = ENDED.search(_line(self._process, 1.0))
            processes.stop(self._process)
            self._process = None
        reasons = self.refusals()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
        return Served(int(ended[1]) if ended else 0, int(ended[2]) if ended else 0, tuple(reasons))

    def _launch(self, options: list[str], cpus: Iterable[int] = (), environment: Mapping[str, str] = {}) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        command = (c_tools.replay_program(), *options)
        self._process = process = processes.start(
            command,
            environment=environment,
            cpus=cpus,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

        def write() -> None:
            assert process.stdin is not None
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(len(self._tape.content).to_bytes(8, "little"))
                process.stdin.write(self._tape.content)
                process.stdin.flush()

        # A thread of its own writes: a server that ends early must not leave us waiting in `write`.
        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        line = _line(process, READY_TIMEOUT_S)
        ready = READY.match(line)
        if not ready:
            code = process.poll() if processes.wait(process, 1.0) else None
            reasons = self.refusals()
            self.stop()
            if code == 2 and reasons:
                raise damaged(self._tape.file, reasons[0])
            raise InternalError(f"the replay server did not start: {' '.join(reasons) or line or code}", "run again")
        writer.join()
        self.port, self.requests, self.ambiguous = map(int, ready.groups())


def _line(process: processes.Process, timeout_s: float) -> str:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], timeout_s)
    return os.read(process.stdout.fileno(), 4096).decode(errors="replace") if ready else ""
