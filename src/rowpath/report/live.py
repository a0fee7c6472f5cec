"""What a user sees during a run: a line per phase or client group so far, and the time left; on stderr, no thread."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from rowpath import text as fmt
from rowpath.model.progress import GroupNow, Progress, Silent, StageSecond, Step, TimeEstimate, step_name
from rowpath.report.bars import CUT, shorten
from rowpath.report.console import make_console

REFRESH_S = 0.25  # drawing costs some milliseconds, between blocks but of the run's time
LINE_EVERY_S = 5.0
BAR_WIDTH = 40
PHASES_SHOWN = 12
GAP = 2  # between columns
WIDE = 70  # from here on the second path has room

Operation = tuple[str, str, str]  # workload, phase, regime
Cell = tuple[str, str]  # a name, which may be cut, and a figure, which may not
TRIES: Operation = ("settings", "tried", "once")

ENOUGH_SHARE = 0.2  # of a step's blocks, from which on their pace counts and not the plan
KEPT_S = 60
STALL_NS = 1_000_000_000
FAR_LONGER = 10
LEVELS = "▁▂▃▄▅▆▇█"
NOTHING = "×"  # a second at work in which nothing ended
RESTING = " "
BACKUP = "━"
LEAST_SPARKS = 10
STATE = "        p99"  # as wide as a stall: columns must not move when one begins


class TimeLeft:
    """Learns when steps begin and how far they are; times are seconds of any clock that goes on."""

    def __init__(self, estimate: TimeEstimate, now_s: float) -> None:
        self._last_set = max((step.set_number for step in estimate.steps if step.announced), default=-1)
        self._one_set_s = sum(step.seconds for step in estimate.steps if step.set_number == self._last_set)
        self._todo = list(estimate.steps[1:])
        self._current: Step | None = estimate.steps[0] if estimate.steps else None
        self._began_s = now_s
        self._seen: dict[str, tuple[float, float]] = {}  # by name: what steps were planned to take, and took
        self._beyond = False
        self._share = 0.0

    def begins(self, name: str, now_s: float, set_number: int | None = None) -> None:
        """A step begins, so that the one before has ended; `set_number`: None where only the name is known."""
        if self._current is not None:
            planned_s, took_s = self._seen.get(self._current.name, (0.0, 0.0))
            self._seen[self._current.name] = planned_s + self._current.seconds, took_s + (now_s - self._began_s)
        self._began_s, self._share = now_s, 0.0
        self._beyond = set_number is not None and set_number > self._last_set
        if set_number is not None:  # what was left out of earlier sets does not come any more
            self._todo = [step for step in self._todo if step.set_number >= set_number]
        self._current = next(
            (step for step in self._todo if step.name == name and set_number in (None, step.set_number)), None
        )
        if self._current is not None:
            self._todo.remove(self._current)

    def done(self, share: float) -> None:
        """This share of the current step's blocks has ended."""
        self._share = share

    def seconds(self, now_s: float) -> float | None:
        """What is left, never less than nothing; None in a set that was not planned."""
        if self._beyond:
            return None
        if self._share > ENOUGH_SHARE:
            rest_s = (now_s - self._began_s) * (1 - self._share) / self._share
            return rest_s + sum(self._expected_s(step) for step in self._todo)
        overdue_s = now_s - self._began_s
        if self._current is not None:
            overdue_s -= self._expected_s(self._current)
        announced_s = sum(self._expected_s(step) for step in self._todo if step.announced)
        silent_s = sum(self._expected_s(step) for step in self._todo if not step.announced)  # they may have begun
        return announced_s + max(0.0, silent_s - overdue_s)

    def _expected_s(self, step: Step) -> float:
        """As long as it was planned, or as steps of its name took; before there are any, as all steps of sets took.

        All steps together count beside one set on plan, because the first of them are short.
        """
        planned_s, took_s = self._seen.get(step.name, (0.0, 0.0))
        if not planned_s:
            every = [ended for name, ended in self._seen.items() if name]
            planned_s, took_s = map(sum, zip(*every, (self._one_set_s, self._one_set_s), strict=True))
        return step.seconds * (took_s / planned_s if planned_s else 1.0)


class TimeLeftOfBudget:
    """The time left of a search that is planned only by its time, and of the sets that end it."""

    def __init__(self, most_s: float, now_s: float) -> None:
        self._ends_s = now_s + most_s
        self._began_s: float | None = None  # of the first set
        self._set, self._sets, self._share = 0, 1, 0.0

    def begins(self, now_s: float, set_number: int, sets: int) -> None:
        """A phase of a set begins."""
        if self._began_s is None:
            self._began_s = now_s
        if set_number != self._set:
            self._share = 0.0
        self._set, self._sets = set_number, max(sets, set_number + 1)

    def done(self, share: float) -> None:
        """This share of the current set's blocks has ended."""
        self._share = share

    def seconds(self, now_s: float) -> float | None:
        """What is left by the pace of the sets, before there are any by the time; None when that is over."""
        share = (self._set + self._share) / self._sets
        if self._began_s is not None and share > 0:
            return (now_s - self._began_s) * (1 - share) / share
        left_s = self._ends_s - now_s
        return left_s if left_s > 0 else None


def make(quiet: bool, color: str) -> Progress:
    """A run's progress on stderr: live in a terminal, lines elsewhere; nothing with `--quiet`."""
    return Silent() if quiet else LiveProgress(make_console(color, to_stderr=True))


class LiveProgress(Progress):
    """A run's progress. The scheduler calls these between blocks; nothing is drawn at any other moment."""

    def __init__(self, console: Console | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._console = console or make_console(to_stderr=True)
        self._now = now
        self._live: Live | None = None
        self._planned_s = 0.0
        self._time_left: TimeLeft | TimeLeftOfBudget = TimeLeftOfBudget(0.0, now())
        self._drawn = float("-inf")
        self._where = ""
        self._operation: Operation = ("", "", "")
        self._sets = (0, 1)
        self._figures: dict[Operation, dict[str, list[float]]] = {}  # over all sets
        self._blocks: dict[Operation, tuple[int, int]] = {}  # of the path that has come furthest
        self._groups = GroupsHistory()

    @override
    def begin(self, planned: TimeEstimate | float, paths: list[str]) -> None:
        """Starts the display of a run that is planned to take this long; a number is the most it may take."""
        now_s = self._now()
        if isinstance(planned, TimeEstimate):
            self._time_left, self._planned_s = TimeLeft(planned, now_s), planned.total_s
        else:
            self._time_left, self._planned_s = TimeLeftOfBudget(planned, now_s), planned
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        else:
            self._line(f"{len(paths)} path{'s' if len(paths) != 1 else ''}, about {fmt.clock(self._planned_s)}")

    @override
    def phase(self, set_number: int, sets: int, workload: str, phase: str, regime: str) -> None:
        """Another phase begins; `set_number` counts from 0. Its figures of earlier sets stay."""
        self._where = f"set {set_number + 1}/{sets} · {step_name(workload, phase, regime)}"
        if isinstance(self._time_left, TimeLeft):
            self._time_left.begins(step_name(workload, phase, regime), self._now(), set_number)
        else:
            self._time_left.begins(self._now(), set_number, sets)
        self._operation = (workload, phase, regime)
        self._sets = (set_number, sets)
        self._show(force=True)

    @override
    def second(self, second: StageSecond) -> None:
        """A second of groups at work at once has ended."""
        first = self._groups.add(second)
        if first and isinstance(self._time_left, TimeLeft):
            self._time_left.begins(step_name(second.path_name, second.stage), self._now())
        if self._live:
            self._update(self._groups.drawing(self._console.width, self._left()))
        elif first or self._due(LINE_EVERY_S):
            self._line(self._groups.line())

    @override
    def block(self, path_name: str, ns_per_operation: float, blocks_done: int, blocks_total: int) -> None:
        """A block has ended."""
        set_number, sets = self._sets
        if self._operation[2] == "steady" and blocks_total:
            self._time_left.done(blocks_done / blocks_total)
        done, total = blocks_done + set_number * blocks_total, max(sets, set_number + 1) * blocks_total
        self._ended(path_name, ns_per_operation, done, total)

    @override
    def tried(self, path_name: str, ns_per_operation: float, done: int, total: int) -> None:
        """One try of a path of a probe has ended, the `done`th of all settings."""
        self._operation = TRIES
        self._where = "trying settings"
        self._ended(path_name, ns_per_operation, done, total)

    @override
    def loading(self, what: str, done: int, total: int) -> None:
        """This many rows of a table are made or loaded: a bar, or a line now and then where there is no terminal."""
        if self._live:
            if done == total or self._due(REFRESH_S):
                bar = ProgressBar(total=total, completed=done, width=BAR_WIDTH)
                self._update(Group(Text(f"{fmt.clean(what)}  {done:,} of {total:,} rows", style="bold"), bar))
        elif self._due(LINE_EVERY_S):
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

    def _update(self, drawing: Group) -> None:
        self._drawn = self._now()
        if self._live:
            self._live.update(drawing, refresh=True)

    def _due(self, after_s: float) -> bool:
        return self._now() - self._drawn >= after_s

    def _ended(self, path_name: str, ns_per_operation: float, done: int, total: int) -> None:
        self._figures.setdefault(self._operation, {}).setdefault(fmt.clean(path_name), []).append(ns_per_operation)
        self._blocks[self._operation] = (done, total)
        self._show()

    def _show(self, *, force: bool = False) -> None:
        """What has been measured so far: the table, or a line where there is no terminal."""
        if force or self._due(REFRESH_S if self._live else LINE_EVERY_S):
            self._update(self._table()) if self._live else self._line(self._progress())

    def _left(self) -> str:
        left_s = self._time_left.seconds(self._now())
        if left_s is None and isinstance(self._time_left, TimeLeft):
            return "more sets for wide intervals"
        return f"{fmt.clock(round(left_s, 3))} left" if left_s and left_s > 0 else "ending"

    def _progress(self) -> str:
        """Where the run is, which path leads there so far, and what is left, in one line."""
        done, total = self._blocks.get(self._operation, (0, 0))
        blocks = f"{done}/{total}" if total else ""
        leader = " ".join(word for leader in self._leaders(self._operation)[:1] for word in leader)
        return " · ".join(filter(None, (self._where, blocks, leader, self._left())))

    def _leaders(self, operation: Operation) -> list[Cell]:
        """`SQLite C`, `6.73 µs`; `next SQLite Python`, `1.63×`: medians over the blocks so far."""
        medians = {name: statistics.median(values) for name, values in self._figures.get(operation, {}).items()}
        first, *others = sorted(medians.items(), key=lambda item: item[1])[:2] or [("", 0.0)]
        if not first[0]:
            return []
        return [
            (first[0], fmt.duration(first[1])),
            *((f"next {name}", fmt.ratio(median / first[1])) for name, median in others if first[1] > 0),
        ]

    def _table(self) -> Group:
        titles = ("", "phase", "blocks", "fastest so far", "")[: 5 if self._console.width >= WIDE else 4]
        # A phase's steady blocks follow its cold ones: they are what the run is about.
        shown = {operation[:2]: operation for operation in (*self._figures, self._operation) if any(operation)}
        rows: list[tuple[Cell, ...]] = []
        for operation in list(shown.values())[-PHASES_SHOWN:]:
            # While a phase is warming up, its figures are those of the regime in which it was last measured.
            known = [one for one in self._figures if one[:2] == operation[:2]]
            measured = operation if operation in self._figures or not known else known[-1]
            done, total = self._blocks.get(measured, (0, 0))
            name = f"{fmt.clean(measured[0])}.{fmt.clean(measured[1])} {measured[2]}"
            leaders = [*self._leaders(measured), ("", ""), ("", "")][:2]
            blocks = f"{done}/{total}" if total else fmt.MISSING
            marker = "▸" if operation == self._operation else " "
            rows.append((("", marker), (name, ""), ("", blocks), *leaders)[: len(titles)])
        widths = _widths(titles, rows, self._console.width)
        table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
        for title, width in zip(titles, widths, strict=True):
            table.add_column(title, width=width, no_wrap=True, justify="right" if title == "blocks" else "left")
        for row in rows:
            cells = (_cell(*cell, width) for cell, width in zip(row, widths, strict=True))
            table.add_row(*map(Text, cells), style="bold" if row[0][1] != " " else "")
        return Group(Text(f"{self._where} · {self._left()}", style="bold"), table)


def _widths(titles: Sequence[str], rows: list[tuple[Cell, ...]], room: int) -> list[int]:
    """Of the columns: as wide as their cells; where that is too wide, the longest names are cut."""
    cells = list(zip(*rows, strict=True)) or [()] * len(titles)
    least = [max(len(figure) for _, figure in (*column, ("", ""))) for column in cells]
    widths = [
        max(len(title), *(len(_cell(*cell)) for cell in column)) for title, column in zip(titles, cells, strict=True)
    ]
    while sum(widths) + GAP * (len(widths) - 1) > room:
        spare = [width - figure for width, figure in zip(widths, least, strict=True)]
        widest = spare.index(max(spare))
        if spare[widest] <= 1:
            break
        widths[widest] -= 1
    return widths


def _cell(name: str, figure: str, width: int | None = None) -> str:
    """Both in at most `width` columns: a name alone loses its end, one with a figure its middle, no figure is cut."""
    end = f" {figure}" if name and figure else figure
    if width is None or len(name) + len(end) <= width:
        return name + end
    return shorten(name, max(0, width - len(end))) + end if end else f"{name[: width - 1]}{CUT}"


@dataclass
class GroupsHistory:
    """The last minute of one path's groups, and what failed in the stage."""

    seconds: deque[StageSecond] = field(default_factory=lambda: deque(maxlen=KEPT_S))
    failed: dict[str, int] = field(default_factory=dict)

    def add(self, second: StageSecond) -> bool:
        """Keeps a second; whether it is the first of its stage. Another path begins again."""
        if self.seconds and self.seconds[-1].path_name != second.path_name:
            self.seconds.clear()
        before = self.seconds[-1] if self.seconds else None
        first = before is None or before.stage != second.stage or second.at_s <= before.at_s
        if first:
            self.failed = {}
        for name, now in second.groups.items():
            self.failed[name] = self.failed.get(name, 0) + now.failed
        self.seconds.append(second)
        return first

    def line(self) -> str:
        """The last second in one line."""
        groups = self.seconds[-1].groups
        return (
            f"{self._where()} · {' · '.join(f'{fmt.clean(name)} {self._words(name, groups[name])}' for name in groups)}"
        )

    def _words(self, name: str, now: GroupNow) -> str:
        state = _stalled(now) or (f"p99 {fmt.duration(now.p99_ns)}" if now.p99_ns is not None else "")
        failed = self.failed.get(name, 0)
        words = (fmt.rate(now.rate_per_s), state, f"{failed:,} failed" if failed else "")
        return ", ".join(word for word in words if word)

    def _where(self) -> str:
        last = self.seconds[-1]
        at = f"{last.at_s:.0f} of {last.seconds:g} s"
        words = (fmt.clean(last.path_name), fmt.clean(last.stage), at, "backup" if last.backup else "")
        return " · ".join(word for word in words if word)

    def drawing(self, width: int, left: str) -> Group:
        """The groups as a table of this width, with the rate of each over the last minute; `left`: of the run."""
        groups = self.seconds[-1].groups
        cells = [
            (fmt.clean(name), fmt.rate(now.rate_per_s), _stalled(now) or fmt.duration(now.p99_ns), f"{failed:,}")
            for name, now in groups.items()
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
        for (name, now), row in zip(groups.items(), cells, strict=True):
            sparks = [Text(self.sparkline(name, room))] if room >= LEAST_SPARKS else []
            table.add_row(*map(Text, row), *sparks, style="bold red" if _stalled(now) else None)
        if room >= LEAST_SPARKS and any(second.backup for second in self.seconds):
            marks = "".join(BACKUP if second.backup else RESTING for second in list(self.seconds)[-room:])
            table.add_row("backup", "", "", "", Text(marks), style="cyan")
        return Group(Text(f"{self._where()} · {left}", style="bold"), table)

    def sparkline(self, name: str, width: int) -> str:
        """A group's rate in each of the last seconds against its greatest; `×` where nothing ended at work."""
        shown = list(self.seconds)[-width:]
        rates = [second.groups[name].rate_per_s if name in second.groups else None for second in shown]
        most = max((rate for rate in rates if rate), default=1.0)

        def spark(rate: float) -> str:
            return LEVELS[min(len(LEVELS) - 1, int(rate / most * len(LEVELS)))] if rate > 0 else NOTHING

        return "".join(RESTING if rate is None else spark(rate) for rate in rates)


def _stalled(now: GroupNow) -> str:
    """`stalled 3 s` where an operation has been under way for over a second, and far longer than others take."""
    if now.under_way_ns < max(STALL_NS, FAR_LONGER * (now.p99_ns or 0)):
        return ""
    return f"stalled {now.under_way_ns // 1_000_000_000} s"
