"""What a terminal shows of groups at work at once while a stage goes on: a line for each group with its last minute."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from rich.console import Group
from rich.table import Table
from rich.text import Text

from rowpath import text as fmt
from rowpath.model.progress import GroupNow, StageSecond

KEPT_S = 60
STALL_NS = 1_000_000_000
FAR_LONGER = 10
LEVELS = "▁▂▃▄▅▆▇█"
NOTHING = "×"  # a second at work in which nothing ended
RESTING = " "
BACKUP = "━"
LEAST_SPARKS = 10
STATE = "        p99"  # as wide as a stall: columns must not move when one begins
GAP = 2


@dataclass
class GroupsHistory:
    """The last minute of one path's groups, and what failed in the stage."""

    last: StageSecond | None = None
    seconds: deque[StageSecond] = field(default_factory=lambda: deque(maxlen=KEPT_S))
    failed: dict[str, int] = field(default_factory=dict)

    def add(self, second: StageSecond) -> bool:
        """Keeps a second; whether it is the first of its stage. Another path begins again."""
        before = self.last
        if before is None or before.path_name != second.path_name:
            self.seconds.clear()
        first = not self.seconds or before is None or before.stage != second.stage or second.at_s <= before.at_s
        if first:
            self.failed = {}
        for name, now in second.groups.items():
            self.failed[name] = self.failed.get(name, 0) + now.failed
        self.seconds.append(second)
        self.last = second
        return first

    def line(self) -> str:
        """The last second in one line."""
        if self.last is None:
            return ""
        listed = " · ".join(f"{fmt.clean(name)} {self._words(name, now)}" for name, now in self.last.groups.items())
        return f"{self._where()} · {listed}"

    def _words(self, name: str, now: GroupNow) -> str:
        state = _stall(now) or (f"p99 {fmt.duration(now.p99_ns)}" if now.p99_ns is not None else "")
        failed = self.failed.get(name, 0)
        words = (fmt.rate(now.rate_per_s), state, f"{failed:,} failed" if failed else "")
        return ", ".join(word for word in words if word)

    def _where(self) -> str:
        if self.last is None:
            return ""
        at = f"{self.last.at_s:.0f} of {self.last.seconds:g} s"
        words = (fmt.clean(self.last.path_name), fmt.clean(self.last.stage), at, "backup" if self.last.backup else "")
        return " · ".join(word for word in words if word)

    def drawing(self, width: int, left: str) -> Group:
        """The groups as a table of this width, with the rate of each over the last minute; `left`: of the run."""
        cells = [
            (fmt.clean(name), fmt.rate(now.rate_per_s), _stall(now) or fmt.duration(now.p99_ns), f"{failed:,}")
            for name, now in (self.last.groups if self.last else {}).items()
            for failed in (self.failed.get(name, 0),)
        ]
        titles = ("", "now", STATE, "failed")
        widths = [max(len(row[at]) for row in (titles, *cells)) for at in range(len(titles))]
        room = min(KEPT_S, width - sum(widths) - GAP * len(titles))
        table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
        for title in titles:
            table.add_column(title.strip(), justify="right" if title else "left", no_wrap=True, min_width=len(title))
        if room >= LEAST_SPARKS:
            table.add_column(f"last {room} s", no_wrap=True)
        names = list(self.last.groups) if self.last else []
        for name, row in zip(names, cells, strict=True):
            sparks = [Text(self.sparkline(name, room))] if room >= LEAST_SPARKS else []
            stalled = bool(self.last and _stall(self.last.groups[name]))
            table.add_row(*map(Text, row), *sparks, style="bold red" if stalled else None)
        if room >= LEAST_SPARKS and any(second.backup for second in self.seconds):
            marks = "".join(BACKUP if second.backup else RESTING for second in self._shown(room))
            table.add_row("backup", "", "", "", Text(marks), style="cyan")
        return Group(Text(f"{self._where()} · {left}", style="bold"), table)

    def sparkline(self, name: str, width: int) -> str:
        """A group's rate in each of the last seconds against its greatest; `×` where nothing ended at work."""
        shown = self._shown(width)
        rates = [second.groups[name].rate_per_s if name in second.groups else None for second in shown]
        most = max((rate for rate in rates if rate), default=1.0)
        return "".join(_spark(rate, most) for rate in rates)

    def _shown(self, width: int) -> list[StageSecond]:
        return list(self.seconds)[-width:]


def _spark(rate: float | None, most: float) -> str:
    if rate is None:
        return RESTING
    if rate <= 0:
        return NOTHING
    return LEVELS[min(len(LEVELS) - 1, int(rate / most * len(LEVELS)))]


def _stall(now: GroupNow) -> str:
    """`stalled 3 s` where an operation has been under way for over a second, and far longer than others take."""
    if now.under_way_ns < max(STALL_NS, FAR_LONGER * (now.p99_ns or 0)):
        return ""
    return f"stalled {now.under_way_ns // 1_000_000_000} s"
