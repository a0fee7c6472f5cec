"""Our C programs beside the runner: the ping server, the emulated link, the counter of syncs, the codec's trial."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.machine import processes
from rowpath.machine.counters import syncs
from rowpath.runners.toolchains import c

START_TIMEOUT_S = 10.0


class PortProgram:
    """A running program of ours that listens on a port of 127.0.0.1; it ends with its parent or its stdin."""

    def __init__(
        self, what: str, command: Sequence[str], *, cpus: Iterable[int], environment: Mapping[str, str] = {}
    ) -> None:
        """Start it and wait for its line `ready tcp=PORT`. Errors: EnvironmentMissing when it does not start."""
        self._process = processes.start(
            command, environment=environment, cpus=cpus, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.pid = self._process.pid
        line = processes.first_line(self._process, START_TIMEOUT_S)
        if not line.startswith("ready tcp="):
            self.stop()
            raise EnvironmentMissing(f"the {what} did not start (output: {json.dumps(line)})", "rowpath doctor")
        self.port = int(line.removeprefix("ready tcp="))

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Stop it by pid; harmless when it has ended."""
        processes.stop(self._process, processes.AT_ONCE)


def echo_command(
    *,
    unix: Path | None = None,
    tcp: int | None = 0,
    cpu: int | None = None,
    burn_ns: int = 0,
    stall_ns: int = 0,
    stall_every: int = 0,
) -> tuple[str, ...]:
    """How to start the ping server, a PortProgram.

    `tcp` 0: any free port of 127.0.0.1; None: no TCP (then PORT is 0). It burns `burn_ns` of CPU per answer and
    sleeps `stall_ns` before each `stall_every`-th one.
    """
    program = c.built("echo", [c.runner_file("tools/echo.c")], [], [], core=False)
    options = {
        "--burn-ns": burn_ns,
        "--stall-ns": stall_ns,
        "--stall-every": stall_every,
        "--unix": unix,
        "--tcp": tcp,
        "--cpu": cpu,
    }
    return str(program), *(word for name, value in options.items() if value is not None for word in (name, str(value)))


def link_command(to_port: int, delay_ns: int) -> tuple[str, ...]:
    """How to start the emulated link, a PortProgram.

    Every chunk is handed on `delay_ns` after it arrived, in both directions.
    """
    program = c.built("link", [c.runner_file("tools/link.c")], [], [], core=False)
    return str(program), "--to", str(to_port), "--delay-ns", str(delay_ns)


def counting_syncs(file: Path) -> dict[str, str]:
    """What to add to a process's environment so that its syncs are counted in `file`: a library is preloaded.

    Errors: EnvironmentMissing without a C compiler. The counters' layout stands in runners/c/tools/sync_count.c.
    """
    sources = [c.runner_file("tools/sync_count.c")]
    library = c.built("sync_count.so", sources, ["-fPIC", "-shared"], ["-ldl"], core=False)
    return {"LD_PRELOAD": str(library), syncs.VARIABLE: str(file)}


def codec_trial() -> Path:
    """The program through which tests drive the codec (runners/c/tests/codec_trial.c describes how)."""
    return c.built("codec_trial", [c.runner_file("tests/codec_trial.c")], [f"-I{c.runner_file('core')}"], ["-lm"])
