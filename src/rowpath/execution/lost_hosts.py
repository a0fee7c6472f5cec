"""What a run does without a host that is lost, and when it is back: the rest goes on, what lacks is for --resume."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import HostLost, Hosts
from rowpath.planning.hosts import together
from rowpath.planning.instance_key import Key, key_of
from rowpath.planning.plan import PlannedPath


class LostHosts:
    """The hosts that a run has lost since its sets began, and that are not back."""

    def __init__(
        self,
        context: RunContext,
        hosts: Hosts | None,
        forget: Callable[[str], None],
        bring_up: Callable[[Key], None],
    ) -> None:
        """`forget`: the instances on a host; `bring_up`: an instance, whose failure is one of its paths."""
        self._context = context
        self._hosts = hosts
        self._forget = forget
        self._bring_up = bring_up
        self._first: HostLost | None = None
        self._names: set[str] = set()

    def needed_by(self, planned: PlannedPath) -> bool:
        """Whether nothing of the path can be measured without them."""
        return bool(self._hosts is not None and self._names.intersection(self._hosts.needed_by(planned)))

    def load(self, planned: PlannedPath, client_groups: Iterable[str]) -> bool:
        """Whether clients of one of these groups of the path would be on one of them: fewer hosts are another load."""
        return bool(self._hosts is not None and self._names.intersection(self._hosts.loads(planned, client_groups)))

    @contextlib.contextmanager
    def left_out(self) -> Iterator[None]:
        """A host that is lost within is named, and left out until it is back.

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
        left = [each for each in able if each not in gone]
        stages = [
            name
            for name, groups in together(context.plan.experiment).items()
            if any(lost.host in hosts.loads(each, groups) for each in left)
        ]
        known = lost.host in self._names
        if known or not (gone or stages) or all(each.path.is_null for each in left):
            raise lost
        self._first = self._first or lost
        self._names.add(lost.host)
        self._forget(lost.host)
        names = ", ".join([*(each.name for each in gone), *(f"stage '{name}'" for name in stages)])
        context.note(f"{lost}; {context.now_ns() / 1e9:.1f} s after the run's begin; without it go on all but: {names}")
        hosts.call_back(lost)

    def look(self, where: str) -> None:
        """Before `where`: paths of hosts that are back take part from there on."""
        if not self._names or self._hosts is None:
            return
        context = self._context
        with self.left_out():
            for host, records in self._hosts.back().items():
                self._names.discard(host)
                for record in records:
                    context.journal.write(record)
                for key in dict.fromkeys(key_of(planned.path) for planned in context.plan.paths):
                    if key[-1] == host:
                        self._bring_up(key)
                context.note(f"{host} is back: its paths take part from {where} on")

    def end(self) -> None:
        """Errors: HostLost, the first, when there was one: the run is not complete."""
        if self._first is not None:
            raise self._first
