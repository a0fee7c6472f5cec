"""Clocks and the way between two hosts, measured by the program runners/c/tools/network.c on both."""

from __future__ import annotations

import fcntl
import json
import socket
import struct
from typing import Any

from rowpath import text
from rowpath.errors import EnvironmentMissing
from rowpath.machine import c_tools, cpus, processes

METHOD = (
    "clocks: the quickest of at most 400 UDP exchanges, its middle as offset and half its time as bound; "
    "network: round trips by size of the reply on one TCP connection, rates over the later half of a long send each way"
)
TIMEOUT_S = 60.0
FEW_WAYS, WAY_S = 8, 2.0
_SIOCGIFADDR, _SIOCGIFMTU = 0x8915, 0x8921


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
    found: dict[str, Any] = json.loads(done.stdout)
    return found


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
