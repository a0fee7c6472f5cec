"""Clocks and the way between two hosts, measured by runners/c/tools/network.c; whether a way still carries."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import select
import socket
import struct
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rowpath import text
from rowpath.errors import EnvironmentMissing
from rowpath.execution.several_hosts import HostLost
from rowpath.machine import c_tools, cpus, processes

METHOD = (
    "clocks: the quickest of at most 400 UDP exchanges, its middle as offset and half its time as bound; "
    "network: round trips by size of the reply on one TCP connection, rates over the later half of a long send each way"
)
TIMEOUT_S = 60.0
FEW_WAYS, WAY_S = 8, 2.0
_SIOCGIFADDR, _SIOCGIFMTU = 0x8915, 0x8921
EACH_S = 1.0
SILENT_S = 4.0  # the kernel has sent its request three times by then
OK = (0, errno.ECONNREFUSED)


def serve(address: str, peer: str) -> tuple[processes.Process, int]:
    """Answer one peer on our address, on the server's core; the process and its port."""
    words = [c_tools.network_program(), "serve", "--listen", address, "--peer", peer]
    return processes.start_listener("the network measurement", words, cpus=cpus.server_cpus())


def measure(address: str, to: str, port: int, *, only_clocks: bool = False) -> dict[str, Any]:
    """Clocks and way from our address. Errors: EnvironmentMissing when nothing answers."""
    what = "clocks" if only_clocks else "measure"
    words = [c_tools.network_program(), what, "--to", to, "--port", str(port), "--from", address]
    done = processes.run([*words, "--cpu", str(cpus.client_cpus("apart")[0])], timeout_s=TIMEOUT_S)
    if done.returncode != 0:
        said = done.stderr.strip()
        raise EnvironmentMissing(f"cannot measure the way from {address} to {to}: {said}", f"ping {to}; any firewall")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def ways_take(count: int) -> str:
    """How long measuring this many ways takes, for a person who waits; empty for few."""
    if count <= FEW_WAYS:
        return ""
    return f"{count:,} ways are measured one after the other: about {text.clock(count * WAY_S)}"


def mtu(address: str) -> int:
    """The MTU in bytes of the interface that has the address; 0: unknown."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _number, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                if socket.inet_ntoa(fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)[20:24]) == address:
                    return int(struct.unpack_from("i", fcntl.ioctl(probe.fileno(), _SIOCGIFMTU, request), 16)[0])
            except OSError:
                continue
    return 0


@dataclass
class WayWatch:
    """The ways from this host. A host that never answered is not watched: a firewall may drop what it does not know."""

    _name: str
    _addresses: Mapping[str, str]
    _port: int  # one on which probably nothing listens; a refusal is an answer
    _pending: dict[str, tuple[socket.socket, float]] = field(default_factory=dict)
    _answered: dict[str, float] = field(default_factory=dict)

    def look(self, names: Iterable[str]) -> None:
        """Errors: HostLost of one that answered before and no longer does."""
        for name in names:
            now_s = time.monotonic()
            if name in self._pending:
                pending, since_s = self._pending[name]
                if _over(pending) and pending.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) in OK:
                    self._answered[name] = now_s
                elif now_s - since_s < SILENT_S:
                    continue
                self._forget(name)
                if name in self._answered and now_s - self._answered[name] > SILENT_S:
                    raise HostLost(name, f"the network between it and {self._name} broke")
            if now_s - self._answered.get(name, 0.0) > EACH_S:
                self._ask(name, now_s)

    def _ask(self, name: str, now_s: float) -> None:
        pending = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        pending.setblocking(False)
        with contextlib.suppress(OSError):
            pending.connect((self._addresses[name], self._port))
        self._pending[name] = (pending, now_s)

    def _forget(self, name: str) -> None:
        self._pending.pop(name)[0].close()

    def close(self) -> None:
        """Ask no more."""
        for name in list(self._pending):
            self._forget(name)


def _over(pending: socket.socket) -> bool:
    """Whether its connecting has come to an end. `select` fails for descriptors above 1,023."""
    poll = select.poll()
    poll.register(pending, select.POLLOUT)
    return bool(poll.poll(0))
