"""The candidates of a search: what is known of each, and in which order their settings are tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from rowpath.model.grouping import grouped
from rowpath.model.path import BY_HAND, AccessPath
from rowpath.planning.plan import PlannedPath
from rowpath.probe.successive_halving import CostEstimate
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import SampleReply, VerifyReply
from rowpath.workloads.codec import MASK64

Setting = tuple[str, str]
UNTRIED = 0.7  # what a setting that was not tried may make of its driver's time: so that quick drivers are explored
OTHER_ROWS = "delivered different rows"
OTHER_ORDER = "delivered the rows in another order than most implementations"


@dataclass
class Tried:
    """What is known of a candidate. `step`: the last one it was in; `left`: why it went no further."""

    planned: PlannedPath
    step: str = ""
    left: str = ""
    failure: RunnerFailure | None = None
    execution_ns: float = 0.0
    rows: int = -1
    touch: str = ""
    delivered: VerifyReply | None = None  # rows, digests and what is known of each column
    by_touch: bool = False  # the digest is that of its driver and fetch form: rows and touch sum are the same
    estimate: CostEstimate | None = None
    compared_with: str = ""  # path id of the one that the estimate is relative to
    start_s: float = 0.0  # what connecting and preparing took

    @property
    def digest(self) -> str:
        """Of what it delivered; empty before that is known."""
        return self.delivered.digest if self.delivered else ""

    @property
    def alive(self) -> bool:
        """Whether it can go on."""
        return not self.left and self.estimate is not None

    @property
    def wrong(self) -> bool:
        """Whether it delivered other rows than most, or in another order."""
        return self.left.startswith((OTHER_ROWS, OTHER_ORDER))

    @property
    def known(self) -> CostEstimate:
        """The estimate of one that can go on."""
        assert self.estimate is not None
        return self.estimate


def succeeded(reply: SampleReply) -> SampleReply:
    """The reply; RunnerFailure when operations of it failed."""
    if reply.failed:
        raise RunnerFailure("sql", reply.failure.text if reply.failure else "")
    return reply


def as_verified(reply: SampleReply, verified: Tried) -> bool:
    """Whether a block delivered as many rows as the digested execution, with the same touch sum, in each operation."""
    touch = int(verified.touch, 16) * reply.operations & MASK64
    return reply.rows == verified.rows * reply.operations and int(reply.touch, 16) == touch


def driver_of(planned: PlannedPath) -> tuple[str, str]:
    """The language and the name of the path's driver, with what stands above it."""
    return planned.adapter.language, f"{planned.adapter.driver}{above(planned)}"


def above(planned: PlannedPath) -> str:
    """` django raw`: the layer above the driver, and how it is used; empty without one."""
    return "" if planned.path.layer == BY_HAND else f" {planned.path.layer} {planned.path.technique}"


def kind_of(planned: PlannedPath) -> str:
    """The path's language, and whether it delivers rows: paths of one kind are rivals. A layer has none."""
    return f"{planned.adapter.language} {'rows' if planned.path.fetch_form == 'row' else 'other'}{above(planned)}"


def threads(planned: PlannedPath) -> tuple[str, ...]:
    """What may make rows overtake each other on their way."""
    return tuple(planned.path.get(key) for key in ("threads", "ranges", "clients"))


def without(listed: Iterable[str], others: Iterable[str]) -> list[str]:
    """The names that are not among the others, in their order."""
    gone = set(others)
    return [name for name in listed if name not in gone]


def differences(path: AccessPath, other: AccessPath) -> frozenset[Setting]:
    """The coordinates in which a path is another than this one."""
    return frozenset((key, value) for key, value in path.coordinates if other.get(key) != value)


def in_order(
    candidates: Iterable[PlannedPath],
    early: Container[str],
    times_ns: Callable[[], Mapping[str, float]],
    clock: Callable[[], float],
) -> Iterator[PlannedPath]:
    """The first candidate of every driver and the `early` ones (path ids); then languages in turn.

    It is the turn of the language whose tries took the least since then, by `clock`, until the next was asked for: a
    slow one takes no time from others. Within a language the one comes next that promises the least time, relative to
    the least of its kind, by what its changes to its driver's first candidate did one by one.
    `times_ns`: of the tries so far, by path id.
    """
    listed = list(candidates)
    first = {driver: of_driver[0] for driver, of_driver in grouped(listed, driver_of).items()}
    begun = {planned.path.id for planned in first.values()}
    for planned in listed:
        if planned.path.id in begun or planned.path.id in early:
            begun.add(planned.path.id)
            yield planned
    further = grouped(listed, lambda planned: planned.adapter.language)
    spent_s = dict.fromkeys(further, 0.0)
    queues = {language: _of_language(of_one, first, begun, times_ns) for language, of_one in further.items()}
    while queues:
        language = min(queues, key=lambda language: spent_s[language])
        chosen = next(queues[language], None)
        if chosen is None:
            del queues[language]
            continue
        began_s = clock()
        yield chosen
        spent_s[language] += clock() - began_s


def _of_language(
    candidates: list[PlannedPath],
    first: Mapping[tuple[str, str], PlannedPath],
    begun: Container[str],
    times_ns: Callable[[], Mapping[str, float]],
) -> Iterator[PlannedPath]:
    changed = {planned.path.id: differences(planned.path, first[driver_of(planned)].path) for planned in candidates}
    single = {
        (driver_of(planned), change): planned.path.id
        for planned in candidates
        for change in changed[planned.path.id]
        if len(changed[planned.path.id]) == 1
    }
    rivals = {kind: [planned.path.id for planned in alike] for kind, alike in grouped(candidates, kind_of).items()}
    waiting = [planned for planned in candidates if planned.path.id not in begun]
    while waiting:
        known = times_ns()

        def promise(planned: PlannedPath, known: Mapping[str, float] = known) -> float:
            driver, changes = driver_of(planned), changed[planned.path.id]
            begin = known.get(first[driver].path.id, math.inf)
            if begin == math.inf:
                return math.inf
            best = min([begin, *(known[path_id] for path_id in rivals[kind_of(planned)] if path_id in known)])
            if len(changes) == 1:
                return UNTRIED * begin / best
            ones = (known.get(single.get((driver, change), ""), begin) for change in changes)
            return begin * math.prod(one / begin for one in ones) / best

        chosen = min(waiting, key=promise)
        waiting.remove(chosen)
        yield chosen
