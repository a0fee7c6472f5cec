"""How findings and the verdict name places (`keyed.read and scan.read`) and ratios (`2.31× (2.27–2.35)`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rowpath import text
from rowpath.analysis.cells import Cell
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS, Interval
from rowpath.journal.record_base import InSet

SYNCS_LEAST = 0.95  # per operation
SYNC_SHARE_LEAST = 0.5  # of the time, that the syncs' measured cost explains


def phase_text(at: InSet | Cell) -> str:
    """`workload.phase`."""
    return f"{at.workload}.{at.phase}"


def phases_text(many: Iterable[InSet | Cell]) -> str:
    """Every phase once, as a list in words."""
    return words(dict.fromkeys(phase_text(phase) for phase in many))


def words(items: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; with semicolons where a name holds a comma itself."""
    listed = list(items)
    mark = "; " if any("," in item for item in listed) else ", "
    return " and ".join([mark.join(listed[:-1]), listed[-1]]) if len(listed) > 1 else "".join(listed)


def by_name(found: Mapping[str, object]) -> str:
    """`a: 1; b: 2`."""
    return "; ".join(f"{name}: {what}" for name, what in found.items())


def ratio_text(ratio: float | None, low: float | None, high: float | None, sets: int = SETS_FOR_CLAIMS) -> str:
    """A ratio with its interval: `0.34× (0.31–0.37)`; fewer `sets` than claims need are marked as provisional."""
    ends = text.interval(low, high) or "no interval"
    return f"{text.ratio(ratio)} ({ends}{'' if sets >= SETS_FOR_CLAIMS else ', provisional'})"


def interval_text(interval: Interval) -> str:
    """An estimate's ratio with its interval, however many sets it is from."""
    return ratio_text(*interval.ratios)


def syncs_explain(syncs: float, each_ns: float, took_ns: float) -> bool:
    """Whether an operation's syncs, at what one costs, are most of its time."""
    return syncs >= SYNCS_LEAST and syncs * each_ns >= SYNC_SHARE_LEAST * took_ns


def syncs_text(syncs: float, each_ns: float, took_ns: float) -> str:
    """The share of an operation's time that its syncs are; the disk may have been slower when one of them was timed."""
    took, share = text.duration(took_ns), syncs * each_ns / took_ns
    if text.count(syncs) == "1":
        syncing, action = f"1 sync an operation at {text.duration(each_ns)}", "is"
    else:
        syncing, action = f"{text.count(syncs)} syncs an operation at {text.duration(each_ns)} each", "are"
    if share > 1:
        return f"{syncing}, timed before the first set, {action} more than its {took}"
    return f"{syncing} {action} {text.share(share)} of its {took}"
