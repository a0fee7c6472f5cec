"""Known answers 13 and 19: what else has the cores beside a measured path is seen, and never one of ours."""

from __future__ import annotations

import contextlib
import math
import statistics
from collections.abc import Iterator

from rowpath.analysis.model import Analysis, Result
from rowpath.checks.selftest.bench import NOTHING, Bench, Verdict, beside, samples
from rowpath.machine import cpus
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import adapter_of, availability

HOG = "while True: pass"


def hog(bench: Bench, *, full: bool) -> list[Verdict]:
    """13: a CPU hog beside the run is flagged, block by block, and in the findings; a quiet run is not.

    Measure the same path with and without a hog pinned to its core.
    """
    name = bench.languages()[0]
    paths = [bench.path(name, "null", NOTHING, burn_ns="20000")]
    shares, raised = {}, {}
    for hogged in (False, True):
        with beside(HOG, cpus.server_cpus()) if hogged else contextlib.nullcontext():
            analysis, records = bench.run(paths, NOTHING, sets=3 if full else 1)
        blocks = samples(records, paths[0])
        shares[hogged] = sum(bool(block.disturbed) for block in blocks) / len(blocks)
        raised[hogged] = any(finding.id == "disturbed-blocks" for finding in analysis.findings)
    return [
        Verdict(shares[True] >= 0.5, "blocks flagged beside a hog", f"{shares[True]:.0%}", "at least 50 %"),
        Verdict.either("the finding disturbed-blocks", raised[True]),
        Verdict(shares[False] <= 0.3, "blocks flagged without one", f"{shares[False]:.0%}", "at most 30 %"),
    ]


BURN_NS = 50_000  # the loop around it costs half a microsecond where a hyper-thread shares the core
SLACK = 0.02  # of the known time, the loop's own included
STEPS = (1.0, 1.06, 1.12)  # known times of three paths, as multiples
JVMS = 3


def quiet_cores(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """19: while one path is measured, no other process of ours has its core; a busy machine changes no answer.

    An operation that burns a known time on the clock takes longer only where another process had its core.

    Measure beside a helper thread that burns, JVMs that compile, and a spinning program on each core in turn.
    """
    bench.require_compiler("quiet cores")
    for check in (_beside_a_helper, _beside_compilers, _beside_programs):
        yield from check(bench, 6 if full else 3)


def _burning(bench: Bench, times: float = 1.0) -> PlannedPath:
    name = f"burns {times:g}"
    return bench.path("c", "null", NOTHING, name=name, label=name, burn_ns=str(round(BURN_NS * times)))


def _beside_a_helper(bench: Bench, sets: int) -> Iterator[Verdict]:
    if "python" not in bench.languages():
        yield Verdict(None, "beside a helper thread", "the Python runner is missing", "rowpath doctor")
        return
    honest = bench.path("python", "null", NOTHING)
    bench.build(honest)
    paths = [_burning(bench), bench.cheat(honest, "helped")]
    analysis, _records = bench.run(paths, NOTHING, sets=sets, warm_cap_s=0.2)
    yield from _undisturbed(analysis, "beside a helper thread that burns")


def _beside_compilers(bench: Bench, sets: int) -> Iterator[Verdict]:
    adapter = adapter_of("java", "null")
    here = availability(adapter, adapter.versions[0])
    if not here.ok:
        yield Verdict(None, "beside JVMs that compile", here.reason, here.remedy)
        return
    # Without warming up, compilers are at work while the blocks of others run.
    jvms = [bench.path("java", "null", NOTHING, name=f"jvm {n}", label=f"jvm {n}", burn_ns="900") for n in range(JVMS)]
    analysis, _records = bench.run([_burning(bench), *jvms], NOTHING, sets=sets, warm_cap_s=0.01)
    yield from _undisturbed(analysis, f"beside {JVMS} JVMs that compile")


def _undisturbed(analysis: Analysis, where: str) -> Iterator[Verdict]:
    """The known time, and no other process of Rowpath on its core."""
    times = _time_ns(analysis, "burns 1") / BURN_NS
    yield Verdict.within(f"{where}: the known time", times, 1 - SLACK, 1 + SLACK, ".3f")
    ours = any(finding.id == "disturbed-blocks" and finding.severity == "error" for finding in analysis.findings)
    yield Verdict.either(f"{where}: Rowpath's own processes on its core", ours, expected=False, words=("seen", "none"))


def _beside_programs(bench: Bench, sets: int) -> Iterator[Verdict]:
    """A program of normal priority on each core in turn: the order stays and intervals overlap, or the run refuses."""
    paths = [_burning(bench, times) for times in STEPS]
    quiet, _ = bench.run(paths, NOTHING, sets=sets, warm_cap_s=0.1)
    for cpu in cpus.usable():
        with beside(HOG, (cpu,)):
            busy, _ = bench.run(paths, NOTHING, sets=sets, warm_cap_s=0.1)
        what = f"beside a program on core {cpu}"
        if busy.refusal:
            yield Verdict(True, what, "refused", "the order, or refused")
            continue
        order = [row.name for ranking in busy.rankings for row in ranking.rows if row.rank]
        apart = [name for name in order if not _agree(quiet, busy, name)]
        right = order == [path.name for path in paths] and not apart
        shown = ", ".join(order) + (f"; other figures for {', '.join(apart)}" if apart else "")
        yield Verdict(right, what, shown, "the order, or refused")


def _agree(quiet: Analysis, busy: Analysis, name: str) -> bool:
    """Whether the path's intervals of both runs meet, or its figures agree as near as intervals of few sets can say."""
    one, other = _times(quiet, name)[0], _times(busy, name)[0]
    ends = (one.low, one.high, other.low, other.high)
    if None not in ends and one.low <= other.high and other.low <= one.high:  # type: ignore[operator]
        return True
    return abs(_time_ns(busy, name) / _time_ns(quiet, name) - 1) < SLACK


def _times(analysis: Analysis, name: str) -> list[Result]:
    """The path's time of a steady operation, one result per ranking it is in."""
    wanted = (name, "time", "steady")
    return [result for result in analysis.results if (result.name, result.metric, result.regime) == wanted]


def _time_ns(analysis: Analysis, name: str) -> float:
    medians = [result.median for result in _times(analysis, name) if result.median is not None]
    return statistics.median(medians or [math.nan])
