"""A switch of our own between network namespaces, in user space: delays and rates as stated, changed as it runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rowpath.machine import c_compiler

SOURCE = Path(__file__).parent / "switch.c"
TOOLS = Path(__file__).parents[2] / "runners" / "c" / "tools"
STRICT = ("-Werror", "-Wshadow", "-Wconversion", "-Wno-sign-conversion")
S = 1_000_000_000


def missing() -> str:
    """Why there can be none here; empty when there can."""
    return "" if Path("/dev/net/tun").exists() else "this kernel has no TAP devices"


class Switch:
    """Its links: one from each host and one to it. Needs root."""

    def __init__(self, cleanup: ExitStack, folder: Path, ports: Mapping[str, tuple[str, int]]) -> None:
        """`ports`: of each host the device to be made, and a process in the network that gets it."""
        program = folder / "switch"
        words = [*c_compiler.words(), *c_compiler.FLAGS, *STRICT, f"-I{TOOLS}", "-o", str(program), str(SOURCE)]
        subprocess.run(words, check=True)
        named = [f"{name}/{device}/{pid}" for name, (device, pid) in ports.items()]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([program, *named], stdin=pipe, stdout=pipe, text=True)
        cleanup.callback(self._process.wait)
        cleanup.callback(self._process.kill)
        os.sched_setaffinity(self._process.pid, {min(os.sched_getaffinity(0))})  # what is measured has the last core
        self._names = tuple(ports)
        self.dropped = self._answer()  # frames, up to the last change

    def _answer(self) -> int:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("dropped "), "the switch has ended"
        return int(line.split()[1])

    def _tell(self, what: str, name: str, direction: str, value: float) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what} {name} {direction} {round(value)}\n")
        self._process.stdin.flush()
        self.dropped = self._answer()

    def delay(self, name: str, *, from_s: float, to_s: float) -> None:
        """Delay what the host sends and what is sent to it, from now on."""
        self._tell("delay", name, "from", from_s * S)
        self._tell("delay", name, "to", to_s * S)

    def rate(self, name: str, *, from_bytes_per_s: float, to_bytes_per_s: float) -> None:
        """Limit what the host sends and what is sent to it, from now on; 0: no limit."""
        self._tell("rate", name, "from", from_bytes_per_s)
        self._tell("rate", name, "to", to_bytes_per_s)

    def ways(self, delay_s: float, bytes_per_s: float = 0.0) -> None:
        """Give every way between two hosts this delay and rate (0: no limit); each link has half of the delay."""
        for name in self._names:
            self.delay(name, from_s=delay_s / 2, to_s=delay_s / 2)
            self.rate(name, from_bytes_per_s=bytes_per_s, to_bytes_per_s=bytes_per_s)

    @contextmanager
    def late(self, name: str, delay_s: float) -> Iterator[None]:
        """What a host sends arrives that late, until the end; nothing else is delayed then."""
        self.delay(name, from_s=delay_s, to_s=0.0)
        try:
            yield
        finally:
            self.delay(name, from_s=0.0, to_s=0.0)
