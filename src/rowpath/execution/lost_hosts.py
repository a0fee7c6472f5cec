"""What a run does without a host that is lost: paths that do not need it go on, the others are left for --resume."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import HostLost, Hosts
from rowpath.planning.plan import PlannedPath


class LostHosts:
    """The hosts that a run has lost since its sets began."""

    def __init__(self, context: RunContext, hosts: Hosts | None, forget: Callable[[str], None]) -> None:
        """`forget`: the instances on a host."""
        self._context = context
        self._hosts = hosts
        self._forget = forget
        self._first: HostLost | None = None
        self._names: set[str] = set()

    def needed_by(self, planned: PlannedPath) -> bool:
        """Whether the path needs one of them."""
        return bool(self._hosts is not None and self._names.intersection(self._hosts.needed_by(planned)))

    @contextlib.contextmanager
    def left_out(self) -> Iterator[None]:
        """A host that is lost within is named, and left out from then on.

        Errors: HostLost where no other path has rows to deliver, and of what joins the hosts.
        """
        try:
            yield
        except HostLost as lost:
            self._leave_out(lost)

    def _leave_out(self, lost: HostLost) -> None:
        context, hosts = self._context, self._hosts
        assert hosts is not None
        able = [each for each in context.plan.paths if context.runnable(each) and not self.needed_by(each)]
        gone = [each for each in able if lost.host in hosts.needed_by(each)]
        if not gone or all(each.path.is_null for each in able if each not in gone):
            raise lost
        self._first = self._first or lost
        self._names.add(lost.host)
        self._forget(lost.host)
        names = ", ".join(each.name for each in gone)
        context.note(f"{lost}; {context.now_ns() / 1e9:.1f} s after the run's begin; without it go on all but: {names}")

    def end(self) -> None:
        """Errors: HostLost, the first, when there was one: the run is not complete."""
        if self._first is not None:
            raise self._first
