"""Whether the network to other hosts still carries: an empty TCP connection to each, each second, never awaited."""

from __future__ import annotations

import contextlib
import errno
import select
import socket
import time
from collections.abc import Iterable, Mapping

from rowpath.execution.several_hosts import HostLost

EACH_S = 1.0
SILENT_S = 4.0  # the kernel has sent its request three times by then
OK = (0, errno.ECONNREFUSED)


class WayWatch:
    """The ways from this host. A host that never answered is not watched: a firewall may drop what it does not know."""

    def __init__(self, name: str, addresses: Mapping[str, str], port: int) -> None:
        """`port`: one on which probably nothing listens; a refusal is an answer."""
        self._name = name
        self._addresses = dict(addresses)
        self._port = port
        self._pending: dict[str, tuple[socket.socket, float]] = {}
        self._answered: dict[str, float] = {}

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
