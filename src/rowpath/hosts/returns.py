"""Lost hosts on their way back: what joins them is started again while the run goes on, by us where it is ours."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from rowpath.errors import RowpathError
from rowpath.hosts import cluster, foreign, reach

ENDED_S = 15.0  # until nothing of a run is left on a host that was lost, whatever became of it
AGAIN_S = 5.0  # between two tries


class Returns:
    """The hosts that a run has lost. Each is tried again and again; a node of others is awaited."""

    def __init__(self, state: cluster.State, is_node: Callable[[str], bool]) -> None:
        """`is_node`: whether the cluster has a living node that is the host."""
        self._is_node = is_node
        self._state = state
        self._errands: dict[str, reach.Errand | None] = {}
        self._tried_s: dict[str, float] = {}
        self._started: set[str] = set()
        self._said: dict[str, str] = {}
        self.note: Callable[[str], None] = lambda _text: None

    def call(self, host: str) -> None:
        """Begin to end what is left there, and to start it again."""
        self._try(host)

    def wait_until_idle(self, host: str) -> None:
        """Wait until that is done, or until nothing can be left there."""
        until_s = time.monotonic() + ENDED_S
        while time.monotonic() < until_s and not self._look(host):
            time.sleep(cluster.LOOK_S)

    def joined(self) -> Iterator[str]:
        """Yield the hosts that have joined again; try the others again, or name how they join."""
        for host in list(self._errands):
            if self._look(host):
                del self._errands[host]
                yield host
            elif self._state.foreign:
                self.say(host, f"start its node again, there: {foreign.start_command(self._state, host)}")
            elif self._errands[host] is None and time.monotonic() - self._tried_s[host] > AGAIN_S:
                self._try(host)

    def _try(self, host: str) -> None:
        self._tried_s[host] = time.monotonic()
        self._started.discard(host)
        self._errands[host] = None
        if not self._state.foreign:
            with self._failure_said(host):
                self._errands[host] = cluster.begin_again(self._state, host)

    def _look(self, host: str) -> bool:
        if self._state.foreign:
            return self._is_node(host)
        errand = self._errands[host]
        if errand is not None and errand.over():
            self._errands[host] = None
            with self._failure_said(host):
                errand.answer()
                self._started.add(host)
        return host in self._started

    @contextlib.contextmanager
    def _failure_said(self, host: str) -> Iterator[None]:
        try:
            yield
        except RowpathError as error:
            self.say(host, error.message)

    def say(self, host: str, why: str) -> None:
        """Say why a host is not back, once."""
        if self._said.get(host) != why:
            self._said[host] = why
            self.note(f"{host} is not back: {why}")
