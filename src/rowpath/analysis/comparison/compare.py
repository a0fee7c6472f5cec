"""From two lists of run directories to a comparison: pair the paths, refuse what does not compare, judge the rest.

Two runs are not paired in time, so the machine's speed may differ between them. Nothing is divided out: what the paths
that did not change moved by is added to every interval.
"""

from __future__ import annotations

import math
import shlex
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from scipy.special import gammaincinv

from rowpath import text
from rowpath.analysis.answer_model import Finding
from rowpath.analysis.comparison.model import ComparedRow, Comparison, Difference
from rowpath.analysis.comparison.pairs import in_words, of_paths, of_runs, pair, refusal, waivers
from rowpath.analysis.comparison.side import WHOLE, Run, Side, SideMetric, Where, interval_within, sides_of_versions
from rowpath.analysis.statistics.grouping import holm
from rowpath.analysis.statistics.intervals import CONFIDENCE, SETS_FOR_CLAIMS, Interval, quantile, student
from rowpath.analysis.wording import by_name
from rowpath.errors import UsageError
from rowpath.journal.records import PathRecord
from rowpath.model.grouping import grouped
from rowpath.model.metrics import METRICS

PRIMARY = "time"
NOISE_UNKNOWN = "the noise between runs is unknown"
MEMORY_OF_A_SERVER = "server_peak_memory"
WITH_A_SERVER = ("time", "server_cpu", MEMORY_OF_A_SERVER)  # what the server's process has a part in
# Per-CPU counters keep pages to themselves: no difference between two peaks is finer.
MEMORY_RESOLUTION_BYTES = 512 * 1024

LEAST_UNCHANGED = 5  # fewer paths do not tell a machine's drift from a change of their own
# Half of the squares of standard normal values lie below it: the median of chi-square with one degree of freedom.
MIDDLE_OF_SQUARE = 2 * float(gammaincinv(0.5, 0.5))
STEPS = 60  # of a bisection

Logarithms = Sequence[Sequence[float]]  # by run: the logarithm of each set's value


@dataclass(frozen=True)
class Drift:
    """What lies between two runs of the same thing: the variance of one run's level, and how well it is known."""

    variance: float
    paths: int

    @property
    def known(self) -> bool:
        """Whether enough unchanged paths show it."""
        return self.paths >= LEAST_UNCHANGED


def difference_of_sides(base: Logarithms, head: Logarithms) -> tuple[float, float] | None:
    """ln(head / base) with its variance from the spread of sets within runs; None where a run has fewer than 2 sets."""
    one, other = _level(base), _level(head)
    return (other[0] - one[0], one[1] + other[1]) if one and other else None


def drift_of(unchanged: Sequence[tuple[Logarithms, Logarithms]]) -> Drift:
    """The variance of a run's level that makes half of the unchanged paths move less than the model's own middle.

    A median, so that a minority of paths that did change does not count. Moving together counts as much as apart.
    """
    moved = [
        (difference[0] ** 2, difference[1], 1 / len(base) + 1 / len(head))
        for base, head in unchanged
        if (difference := difference_of_sides(base, head)) is not None
    ]
    if not moved:
        return Drift(0.0, 0)

    def middle(variance: float) -> float:
        return statistics.median(square / max(own + variance * runs, 1e-300) for square, own, runs in moved)

    low, high = 0.0, max(square / runs for square, _own, runs in moved) / MIDDLE_OF_SQUARE
    if middle(low) <= MIDDLE_OF_SQUARE:
        return Drift(0.0, len(moved))
    for _ in range(STEPS):
        half = (low + high) / 2
        low, high = (half, high) if middle(half) > MIDDLE_OF_SQUARE else (low, half)
    return Drift(high, len(moved))


def compare_sides(base: Logarithms, head: Logarithms, drift: Drift, *, sets_apart: bool = True) -> Interval | None:
    """ln(head / base) with its interval; infinitely wide where nothing tells how far two runs lie apart.

    Two variances, weighted by their degrees of freedom: of sets and drift together, and of repeated runs of a side.
    Without `sets_apart` only the second: sets of one process show nothing of the next one. None where a side has no
    values.
    """
    base, head = [run for run in base if run], [run for run in head if run]
    if not base or not head:
        return None
    mean = _middle(head) - _middle(base)
    sets = min(sum(map(len, base)), sum(map(len, head)))
    known = [*filter(None, (_by_sets(base, head, drift) if sets_apart else None, _by_runs(base, head)))]
    if not known:
        return Interval(mean, -math.inf, math.inf, math.inf, 0, sets)
    degrees = math.fsum(own for _variance, own in known)
    error = math.sqrt(math.fsum(variance * own for variance, own in known) / degrees)
    half = quantile(degrees, CONFIDENCE) * error
    return Interval(mean, mean - half, mean + half, error, degrees, sets)


def _by_sets(base: Logarithms, head: Logarithms, drift: Drift) -> tuple[float, float] | None:
    """Variance and degrees of freedom (Welch) from sets within runs and from the drift of unchanged paths."""
    if not drift.known:
        return None
    levels = [(student(run), len(side)) for side in (base, head) for run in side]
    parts = [(level.error**2 / runs**2, level.degrees) for level, runs in levels if level and level.sets > 1]
    if len(parts) < len(levels):
        return None
    parts.append((drift.variance * (1 / len(base) + 1 / len(head)), drift.paths - 1))
    variance = math.fsum(part for part, _ in parts)
    spread = math.fsum(part**2 / degrees for part, degrees in parts)
    return variance, variance**2 / spread if spread else math.fsum(degrees for _, degrees in parts)


def _by_runs(base: Logarithms, head: Logarithms) -> tuple[float, float] | None:
    """Variance and degrees of freedom with the run as the unit; None with one run a side."""
    degrees = len(base) + len(head) - 2
    if degrees < 1:
        return None
    squares = math.fsum((statistics.fmean(run) - _middle(side)) ** 2 for side in (base, head) for run in side)
    return squares / degrees * (1 / len(base) + 1 / len(head)), degrees


def _middle(side: Logarithms) -> float:
    return statistics.fmean(statistics.fmean(run) for run in side)


def _level(side: Logarithms) -> tuple[float, float] | None:
    """Mean over the runs of a side, and its variance from their sets."""
    levels = [level for run in side if (level := student(run)) is not None and level.sets > 1]
    if not levels or len(levels) < len(side):
        return None
    return (
        statistics.fmean(level.mean for level in levels),
        math.fsum(level.error**2 for level in levels) / len(levels) ** 2,
    )


@dataclass
class _Candidate:
    """A metric of a pair of paths in one place, before the family is judged."""

    row: ComparedRow
    base: SideMetric
    head: SideMetric
    interval: Interval | None = None
    one_server: bool = False  # sets share a server process, so they show nothing of the next one

    @property
    def resolved(self) -> bool:
        """Whether the counters are fine enough for the difference."""
        difference = abs(self.head.middle - self.base.middle)
        return METRICS[self.row.metric].category != "memory" or difference >= MEMORY_RESOLUTION_BYTES

    @property
    def scope(self) -> tuple[str, str]:
        """What shares a drift: regime and metric."""
        return self.row.regime, self.row.metric


def compare(base_directories: Sequence[Path], head_directories: Sequence[Path], despite: tuple[str, ...]) -> Comparison:
    """Every path, phase, regime and metric of both sides, the greatest changes first.

    `despite`: differences that are known and do not stop a comparison. UsageError where no path can be compared, or
    where the runs of one side are not of the same machine, measured in the same way.
    """
    base, head = Side("base", [*map(Run, base_directories)]), Side("head", [*map(Run, head_directories)])
    for side in (base, head):
        for run in side.runs[1:]:
            differing = [one for one in of_runs(side.runs[0], run) if one.name not in despite]
            if differing:
                raise UsageError(
                    f"the runs of {side.name} differ: {'; '.join(map(in_words, differing))}",
                    f"compare them with candidate other: rowpath compare {side.runs[0].directory} {run.directory}",
                )
    words = (shlex.quote(",".join(str(run.directory) for run in side.runs)) for side in (base, head))
    return _compared(base, head, despite, f"rowpath compare {' '.join(words)}", paired=False)


def compare_versions(directory: Path, versions: tuple[str, str], despite: tuple[str, ...]) -> Comparison:
    """As `compare`, of two versions of a driver that one run measured; ratios are within its sets."""
    base, head = sides_of_versions(directory, versions)
    command = f"rowpath compare {shlex.quote(str(directory))} --version {shlex.quote(','.join(versions))}"
    return _compared(base, head, despite, command, paired=True)


def _compared(base: Side, head: Side, despite: tuple[str, ...], command: str, *, paired: bool) -> Comparison:
    between = of_runs(base.runs[0], head.runs[0])
    pairs = pair(base, head)
    candidates: list[_Candidate] = []
    refused: list[ComparedRow] = []
    for one, other in pairs.pairs:
        for where in base.places(one.path_id):
            measured = _candidates(base, head, (one, other), where, between, despite)
            if isinstance(measured, ComparedRow):
                refused += [measured] if where[2] != WHOLE else []
            else:
                candidates += measured
    if all(candidate.row.metric != PRIMARY for candidate in candidates):
        raise _nothing(base, head, refused, despite, command)
    drifts = {} if paired else _drifts(candidates)
    for candidate in candidates:
        if candidate.row.counted:
            continue
        if paired:
            candidate.interval = interval_within(base.runs[0], candidate.row)
        else:
            candidate.one_server = _one_server(base.runs[0], candidate.row)
            candidate.interval = compare_sides(
                candidate.base.logarithms,
                candidate.head.logarithms,
                drifts[candidate.scope],
                sets_apart=not candidate.one_server,
            )
    rows = _judged(candidates)
    rows.sort(key=lambda row: (not row.changed, row.metric != PRIMARY, -abs(math.log(row.ratio or 1)) * row.changed))
    return Comparison(
        base=tuple(run.shown for run in base.runs),
        head=tuple(run.shown for run in head.runs),
        paired=paired,
        despite=despite,
        rows=(*rows, *refused),
        findings=tuple(_findings(candidates, drifts, rows, command)),
        only_base=tuple(path.name for path in pairs.only_base),
        only_head=tuple(path.name for path in pairs.only_head),
    )


def _candidates(
    base: Side,
    head: Side,
    pair_of_paths: tuple[PathRecord, PathRecord],
    where: Where,
    between: list[Difference],
    despite: tuple[str, ...],
) -> list[_Candidate] | ComparedRow:
    """The metrics that both sides have there; one row with the reason where they are not comparable."""
    one, other = pair_of_paths
    of_base, of_head = base.measured(one.path_id, where), head.measured(other.path_id, where)
    differing = (*between, *of_paths(base, head, one, other, where))
    common = ComparedRow(
        other.name,
        *where,
        base_path=one.path_id,
        head_path=other.path_id,
        metric=PRIMARY,
        unit=METRICS[PRIMARY].unit,
        outcome="not comparable",
        differences=differing,
    )
    problems = base.problem(one.path_id, where), head.problem(other.path_id, where)
    said = {"both": problems[0]} if problems[0] == problems[1] else dict(zip(("base", "head"), problems, strict=True))
    reason = refusal(differing, despite) or by_name({side: problem for side, problem in said.items() if problem})
    if where[2] != WHOLE and not (of_base and of_head):
        reason = reason or f"not measured in {'head' if of_base else 'base'}"
    if reason:
        return msgspec.structs.replace(common, reason=reason)
    return [
        _Candidate(
            msgspec.structs.replace(
                common,
                metric=name,
                unit=METRICS[name].unit,
                outcome="no difference shown",
                base=of_base[name].middle,
                head=of_head[name].middle,
                ratio=of_head[name].middle / of_base[name].middle if of_base[name].middle else None,
                base_sets=of_base[name].sets,
                head_sets=of_head[name].sets,
                counted=METRICS[name].category == "counted",
            ),
            of_base[name],
            of_head[name],
        )
        for name in of_base
        if name in of_head
    ]


def _drifts(candidates: list[_Candidate]) -> dict[tuple[str, str], Drift]:
    """How far paths moved in which nothing differs, by regime and metric."""
    measured = (candidate for candidate in candidates if not candidate.row.counted)
    return {
        scope: drift_of([(one.base.logarithms, one.head.logarithms) for one in same if not one.row.differences])
        for scope, same in grouped(measured, lambda candidate: candidate.scope).items()
    }


def _one_server(run: Run, row: ComparedRow) -> bool:
    """Whether all sets of a run met the same server process, which has a part in this metric."""
    if row.metric not in WITH_A_SERVER or run.head.options.get("restart_servers"):
        return False
    path = run.evidence.path(row.base_path)
    return row.metric == MEMORY_OF_A_SERVER or (path is not None and path.server_stays)


def _judged(candidates: list[_Candidate]) -> list[ComparedRow]:
    """Every row with its outcome. Time is one family of Holm's procedure, all other measured metrics a second one."""
    rows = [candidate.row if candidate.row.counted else _with_interval(candidate) for candidate in candidates]
    for primary in (True, False):
        family = {
            position: candidate.interval.p_value
            for position, candidate in enumerate(candidates)
            if candidate.interval is not None
            and (candidate.row.metric == PRIMARY) is primary
            and candidate.interval.sets >= SETS_FOR_CLAIMS
            and candidate.resolved
        }
        grown, less = ("slower", "faster") if primary else ("more", "less")
        for position, differs in zip(family, holm(list(family.values())), strict=True):
            if differs:
                outcome = grown if (rows[position].ratio or 0) > 1 else less
                rows[position] = msgspec.structs.replace(rows[position], outcome=outcome)
    return [_counted(row, candidate) if row.counted else row for row, candidate in zip(rows, candidates, strict=True)]


def _with_interval(candidate: _Candidate) -> ComparedRow:
    row, interval = candidate.row, candidate.interval
    if interval is None:
        zero = not candidate.base.logarithms or not candidate.head.logarithms
        return msgspec.structs.replace(row, reason="a value of 0 has no ratio" if zero else "they share no set")
    if not math.isfinite(interval.high):
        unknown = "one server process a side shows no noise" if candidate.one_server else NOISE_UNKNOWN
        reason = "one set has no interval" if interval.sets < 2 else unknown
        return msgspec.structs.replace(row, ratio=interval.ratio, p_value=1.0, reason=reason)
    half = interval.high - interval.mean
    return msgspec.structs.replace(
        row,
        ratio=interval.ratio,
        low=interval.ratio_low,
        high=interval.ratio_high,
        p_value=interval.p_value,
        noise=math.expm1(half),
        factor=abs(interval.mean) / half if half else None,
        reason=f"provisional: fewer than {SETS_FOR_CLAIMS} sets" if interval.sets < SETS_FOR_CLAIMS else "",
    )


def _counted(row: ComparedRow, candidate: _Candidate) -> ComparedRow:
    """A count differs where no run of one side counted what a run of the other did, nor anything between."""
    of_base, of_head = ([value for run in side.by_run for value in run] for side in (candidate.base, candidate.head))
    outcome = "more" if min(of_head) > max(of_base) else "less" if max(of_head) < min(of_base) else row.outcome
    return msgspec.structs.replace(row, outcome=outcome)


def _nothing(base: Side, head: Side, refused: list[ComparedRow], despite: tuple[str, ...], command: str) -> UsageError:
    one, other = base.runs[0], head.runs[0]
    both = f"the two versions in {one.directory}" if one is other else f"{one.directory} with {other.directory}"
    needed = waivers(refused[0].differences, despite) if refused else []
    options = " ".join(f"--despite {name}" for name in (*despite, *needed))
    return UsageError(
        f"cannot compare {both}: {refused[0].reason if refused else 'they have no path in common'}",
        f"{command} {options}" if needed else f"rowpath show {other.directory}",
    )


def _findings(
    candidates: list[_Candidate], drifts: dict[tuple[str, str], Drift], rows: list[ComparedRow], command: str
) -> Iterator[Finding]:
    # What shows more: both builds in the same sets, or where there is only one, more runs.
    more_certain = "several runs a side: rowpath compare BASE1,BASE2 HEAD1,HEAD2"
    if any(candidate.row.base_path != candidate.row.head_path for candidate in candidates):
        more_certain = f"{command} --confirm"
    for regime in dict.fromkeys(regime for regime, metric in drifts if metric == PRIMARY):
        times = [(one.row, one.interval) for one in candidates if one.scope == (regime, PRIMARY) and one.interval]
        moved = [interval.mean for row, interval in times if not row.differences]
        shift = student(moved)
        if shift is not None and shift.sets >= LEAST_UNCHANGED and shift.apart:
            null = [
                f"{row.name} {text.ratio(interval.ratio)}"
                for row, interval in times
                if row.base_path.startswith("engine=null,")
            ]
            middle = math.exp(statistics.median(moved))
            yield Finding(
                "machine-changed",
                "warning",
                f"the machine itself was {'slower' if middle > 1 else 'faster'} in head, {regime}: "
                f"{len(moved)} unchanged paths took {text.ratio(middle)} (median)",
                f"without a database: {', '.join(null)}" if null else "",
                "figures are not corrected for it; intervals are wider by as much as unchanged paths moved",
                more_certain,
            )
    unknown = [row for row in rows if row.reason == NOISE_UNKNOWN]
    if unknown:
        least = min(drift.paths for (_regime, metric), drift in drifts.items() if metric == PRIMARY)
        yield Finding(
            "noise-between-runs-unknown",
            "warning",
            f"{len(unknown)} rows have no interval: the runs share only {least} unchanged paths, and the "
            f"noise between runs needs {LEAST_UNCHANGED}",
            "",
            "the machine's speed differs from run to run, and sets of one run do not show that",
            more_certain,
        )
