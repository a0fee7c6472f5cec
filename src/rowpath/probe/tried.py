"""What is known of the candidates of a search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rowpath.planning.plan import PlannedPath
from rowpath.probe.successive_halving import Estimate
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import SampleReply
from rowpath.workloads.codec import MASK64


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
    digest: str = ""
    by_touch: bool = False  # the digest is that of its driver and fetch form: rows and touch sum are the same
    estimate: Estimate | None = None
    compared_with: str = ""  # path id of the one that the estimate is relative to
    start_s: float = 0.0  # what connecting and preparing took

    @property
    def alive(self) -> bool:
        """Whether it can go on."""
        return not self.left and self.estimate is not None

    @property
    def known(self) -> Estimate:
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


def drivers(tried: Iterable[Tried]) -> int:
    """How many drivers these are of."""
    return len({(each.planned.adapter.language, each.planned.adapter.driver) for each in tried})


def kind_of(planned: PlannedPath) -> str:
    """The path's language, and whether it delivers rows: paths of one kind are rivals."""
    return f"{planned.adapter.language} {'rows' if planned.path.fetch_form == 'row' else 'other'}"


def without(listed: Iterable[str], others: Iterable[str]) -> list[str]:
    """The names that are not among the others, in their order."""
    gone = set(others)
    return [each for each in listed if each not in gone]
