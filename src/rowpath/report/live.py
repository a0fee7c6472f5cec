"""What a user sees during a run: a live table in a terminal, plain lines elsewhere; on stderr, without a thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from rowpath import text as fmt
from rowpath.model.progress import Estimate, GroupsSecond, Progress, Silent, step_name
from rowpath.report.console import make_console
from rowpath.report.live_mixed_load import GroupsHistory
from rowpath.report.time_left import TimeLeft

REFRESH_S = 0.25  # drawing costs some milliseconds, between blocks but of the run's time
LINE_EVERY_S = 5.0
BAR_WIDTH = 40

# Half-width of a 95 % interval of the median in ranks: 1.96 / 2 · √n.
_RANKS = 0.98


def make(quiet: bool, color: str) -> Progress:
    """A run's progress on stderr: live in a terminal, lines elsewhere; nothing with `--quiet`."""
    return Silent() if quiet else LiveProgress(make_console(color, to_stderr=True))


class LiveProgress(Progress):
    """A run's progress. The scheduler calls these between blocks; nothing is drawn at any other moment."""

    def __init__(self, console: Console | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._console = console or make_console(to_stderr=True)
        self._now = now
        self._live: Live | None = None
        self._began = now()
        self._planned_s = 0.0
        self._time_left: TimeLeft | None = None
        self._drawn = float("-inf")
        self._where = ""
        self._paths: list[str] = []
        self._operation = ("", "")
        self._sets = (0, 1)
        self._figures: dict[tuple[str, str], dict[str, list[float]]] = {}  # by operation, over all sets
        self._blocks: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
        self._active = ""
        self._groups = GroupsHistory()

    @override
    def begin(self, planned: Estimate | float, paths: list[str]) -> None:
        """Starts the display of a run that is planned to take this long; a number is the most it may take."""
        self._began = self._now()
        self._time_left = TimeLeft(planned, self._began) if isinstance(planned, Estimate) else None
        self._planned_s = planned.total_s if isinstance(planned, Estimate) else planned
        self._paths = [fmt.clean(name) for name in paths]
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        else:
            self._line(f"{len(paths)} path{'s' if len(paths) != 1 else ''}, about {fmt.clock(self._planned_s)}")

    @override
    def phase(self, set_number: int, sets: int, workload: str, phase: str, regime: str) -> None:
        """Another phase begins; `set_number` counts from 0. Its figures of earlier sets stay."""
        self._where = f"set {set_number + 1}/{sets} · {step_name(workload, phase, regime)}"
        if self._time_left:
            self._time_left.begins(step_name(workload, phase, regime), self._now(), set_number)
        self._operation = (workload, phase)
        self._sets = (set_number, sets)
        self._active = ""
        if self._live:
            self._draw(force=True)
        else:
            self._line(f"{self._where} · {self._left()}")

    @override
    def second(self, second: GroupsSecond) -> None:
        """A second of groups at work at once has ended."""
        first = self._groups.add(second)
        if first and self._time_left:
            self._time_left.begins(step_name(second.path_name, second.stage), self._now())
        if self._live:
            self._drawn = self._now()
            self._live.update(self._groups.drawing(self._console.width, self._left()), refresh=True)
        elif first or self._now() - self._drawn >= LINE_EVERY_S:
            self._line(self._groups.line())

    @override
    def block(self, path_name: str, ns_per_operation: float, blocks_done: int, blocks_total: int) -> None:
        """A block has ended."""
        self._active = fmt.clean(path_name)
        set_number, sets = self._sets
        blocks_done, blocks_total = blocks_done + set_number * blocks_total, max(sets, set_number + 1) * blocks_total
        self._figures.setdefault(self._operation, {}).setdefault(self._active, []).append(ns_per_operation)
        self._blocks.setdefault(self._operation, {})[self._active] = (blocks_done, blocks_total)
        if self._live:
            self._draw()
        elif self._now() - self._drawn >= LINE_EVERY_S:
            figure, interval = self._figure(self._active)
            between = f" ({interval})" if interval else ""
            self._line(
                f"{self._where} · {self._active} {blocks_done}/{blocks_total} · {figure}{between} · {self._left()}"
            )

    @override
    def loading(self, what: str, done: int, total: int) -> None:
        """This many rows of a table are made or loaded: a bar, or a line now and then where there is no terminal."""
        if self._live:
            if done == total or self._now() - self._drawn >= REFRESH_S:
                self._drawn = self._now()
                bar = ProgressBar(total=total, completed=done, width=BAR_WIDTH)
                words = Text(f"{fmt.clean(what)}  {done:,} of {total:,} rows", style="bold")
                self._live.update(Group(words, bar), refresh=True)
        elif self._now() - self._drawn >= LINE_EVERY_S:
            self._line(f"{fmt.clean(what)}: {done:,} of {total:,} rows, {100 * done // max(total, 1)} %")

    @override
    def note(self, text: str) -> None:
        """Prints what a reader should know at once; it stays."""
        if self._live:
            self._live.console.print(Text(fmt.clean(text)), soft_wrap=True)
        else:
            self._line(fmt.clean(text))

    @override
    def end(self) -> None:
        """Takes the display away; safe to call twice and after an error."""
        if self._live:
            self._live.stop()
            self._live = None

    def _line(self, text: str) -> None:
        self._drawn = self._now()
        self._console.print(Text(text), soft_wrap=True)

    def _draw(self, *, force: bool = False) -> None:
        if self._live and (force or self._now() - self._drawn >= REFRESH_S):
            self._drawn = self._now()
            self._live.update(self._table(), refresh=True)

    def _left(self) -> str:
        if self._time_left is None:
            left_s = self._planned_s - (self._now() - self._began)
            return f"{fmt.clock(left_s)} left" if left_s > 0 else f"{fmt.clock(-left_s)} over the plan"
        found_s = self._time_left.seconds(self._now())
        return "more sets for wide intervals" if found_s is None else f"{fmt.clock(found_s)} left"

    def _figure(self, name: str) -> tuple[str, str]:
        """Median over this operation's blocks and its 95 % interval by ranks; no interval from fewer than 6 blocks."""
        values = sorted(self._figures.get(self._operation, {}).get(name, []))
        if not values:
            return fmt.MISSING, ""
        half = round(_RANKS * len(values) ** 0.5 + 0.5)
        interval = ""
        if len(values) >= 6:
            low, high = max(0, len(values) // 2 - half), min(len(values) - 1, (len(values) - 1) // 2 + half)
            interval = f"{fmt.duration(values[low])} – {fmt.duration(values[high])}"
        return fmt.duration(statistics.median(values)), interval

    def _table(self) -> Group:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.add_column("", no_wrap=True)
        table.add_column("path", overflow="fold")
        table.add_column("blocks", justify="right", no_wrap=True)
        table.add_column("now", justify="right", no_wrap=True)
        wide = self._console.width >= 70
        if wide:
            table.add_column("95 % interval", justify="right", no_wrap=True)
        for name in self._paths:
            done, total = self._blocks.get(self._operation, {}).get(name, (0, 0))
            figure, interval = self._figure(name)
            cells = ("▸" if name == self._active else " ", name, f"{done}/{total}" if total else fmt.MISSING, figure)
            style = "bold" if name == self._active else "" if total else "dim"
            table.add_row(*map(Text, (*cells, interval) if wide else cells), style=style)
        return Group(Text(f"{self._where} · {self._left()}", style="bold"), table)
