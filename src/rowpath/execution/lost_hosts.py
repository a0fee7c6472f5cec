"""What a run does without a host that is lost, and when it is back: the rest goes on, what lacks is for --resume."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import HostLost, Hosts
from rowpath.journal.record_base import Record
from rowpath.planning.hosts import together
from rowpath.planning.plan import Key, PlannedPath, key_of

LOOK_S = 0.1  # at hosts that are waited for


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
        self._lost: dict[str, HostLost] = {}  # those that are not back
        self._uncalled: list[HostLost] = []  # not called back yet: nothing can be measured until they are

    def needed_by(self, planned: PlannedPath) -> bool:
        """Whether nothing of the path can be measured without them."""
        return bool(self._hosts is not None and self._lost.keys() & self._hosts.needed_by(planned))

    def load(self, planned: PlannedPath, client_groups: Iterable[str]) -> bool:
        """Whether clients of one of these groups of the path would be on one of them: fewer hosts are another load."""
        return bool(self._hosts is not None and self._lost.keys() & self._hosts.loads(planned, client_groups))

    @property
    def leave_nothing(self) -> bool:
        """Whether some are lost, and without them no path that delivers rows can be measured."""
        return bool(self._lost) and all(planned.path.is_null for planned in self._able())

    def _able(self) -> list[PlannedPath]:
        context = self._context
        return [each for each in context.plan.paths if context.runnable(each) and not self.needed_by(each)]

    @contextlib.contextmanager
    def left_out(self) -> Iterator[None]:
        """A host that is lost within is named, and left out until it is back.

        Errors: HostLost of what joins the hosts, and of a host that no path needs.
        """
        try:
            yield
        except HostLost as lost:
            self._leave_out(lost)
            assert self._hosts is not None
            for other in list(self._hosts.lost.values()):
                if other.host not in self._lost and self._takes_part(other.host):
                    self._leave_out(other)

    def _takes_part(self, host: str) -> bool:
        assert self._hosts is not None
        stages = together(self._context.plan.experiment).values()
        return any(
            host in self._hosts.needed_by(each).union(*(self._hosts.loads(each, groups) for groups in stages))
            for each in self._context.plan.paths
        )

    def _leave_out(self, lost: HostLost) -> None:
        context, hosts = self._context, self._hosts
        assert hosts is not None
        if lost.host in self._lost or not self._takes_part(lost.host):
            raise lost
        able, stages = self._able(), together(context.plan.experiment)
        self._first = self._first or lost
        self._lost[lost.host] = lost
        self._forget(lost.host)
        when = f"{lost}; {context.now_ns() / 1e9:.1f} s after the run's begin"
        if self.leave_nothing:
            context.note(f"{when}; nothing can be measured without it")
            if not hosts.wait_s:
                raise lost
            self._uncalled.append(lost)
            return
        names = [each.name for each in able if self.needed_by(each)]
        for name, groups in stages.items():
            if any(lost.host in hosts.loads(each, groups) for each in self._able()):
                names.append(f"stage '{name}'")
        context.note(f"{when}; all paths continue without it{', except: ' if names else ''}{', '.join(names)}")
        hosts.call_back(lost)
        hosts.wait_until_idle(lost.host)

    def look(self, where: str) -> None:
        """Let paths of hosts that are back take part from `where` on.

        Waits for one while nothing can be measured. Errors: HostLost when none came back in time.
        """
        if not self._lost or self._hosts is None:
            return
        self._take_back(where)
        if not self.leave_nothing:
            return
        wait_s, until_s = self._hosts.wait_s, time.monotonic() + self._hosts.wait_s
        if wait_s:
            hosts = "host" if len(self._lost) == 1 else "hosts"
            self._context.note(f"waiting for {hosts} {', '.join(self._lost)}, at most {wait_s:g} s")
        while self.leave_nothing:
            if time.monotonic() > until_s:
                self.end()
            time.sleep(LOOK_S)
            self._take_back(where)

    def _take_back(self, where: str) -> None:
        context, hosts = self._context, self._hosts
        assert hosts is not None
        while self._uncalled:
            hosts.call_back(self._uncalled.pop())
        back: Mapping[str, list[Record]] = {}
        with self.left_out():
            back = hosts.back()
        for host, records in back.items():
            del self._lost[host]
            for record in records:
                context.journal.write(record)
        keys = dict.fromkeys(key_of(planned.path) for planned in context.plan.paths)
        for host in back:
            with self.left_out():
                for key in keys:
                    if key[-1] == host:
                        self._bring_up(key)
                context.note(f"{host} is back: its paths are measured again from {where} on")

    def end(self) -> None:
        """Errors: HostLost when there was one: the run is not complete. One that is not back is named first."""
        for lost in [*self._lost.values(), self._first]:
            if lost is not None:
                raise lost
