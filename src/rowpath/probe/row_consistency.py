"""What every operation of a probe must deliver: no one knows the rows, but they must be the same each time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from typing_extensions import override

from rowpath.runners.protocol import SampleReply
from rowpath.workloads.codec import MASK64
from rowpath.workloads.expected import Delivery


@dataclass
class RowConsistency:
    """The touch sums of one execution, as the paths that agree deliver it; in the place of `workloads.expected`."""

    touches_seen: set[int] = field(default_factory=set)  # of one execution, each in its language's own unit
    changed: bool = False  # rows change while the probe runs, so that nothing can be expected

    def learn(self, touch: int) -> None:
        """One execution of a path that agrees gives this sum."""
        self.touches_seen.add(touch & MASK64)

    def touches(self, _phase: object) -> RowConsistency:
        """This object: there is one phase."""
        return self

    def expected_of(self, spans: Iterable[tuple[int, int]]) -> frozenset[int] | None:
        """The sums that this many operations may have; None where nothing is expected."""
        if self.changed or not self.touches_seen:
            return None
        operations = sum(count for _first, count in spans)
        return frozenset(operations * touch & MASK64 for touch in self.touches_seen)

    def fits(self, reply: SampleReply) -> bool:
        """Whether a block delivered what all the executions before it did."""
        expected = self.expected_of([(reply.first, reply.operations)])
        return expected is None or reply.failed > 0 or int(reply.touch, 16) in expected

    def rows(self, *_where: object) -> None:
        """None: a probe expects no number of rows."""

    def payload_bytes(self, *_where: object) -> None:
        """None: a probe expects no payload."""


@dataclass
class KeyedRowConsistency(RowConsistency):
    """The consistency of a query with parameters: each operation delivers the rows of its own parameters.

    `delivery`: what the reference driver read of each; it counts once a path's whole pass has had the same sum.
    """

    delivery: Delivery | None = None
    confirmed: bool = False

    @override
    def learn(self, touch: int) -> None:
        if self.delivery is not None:
            whole = self.delivery.touches.expected(0, len(self.delivery.row_sets))
            self.confirmed = self.confirmed or (whole is not None and touch & MASK64 in whole)

    @override
    def expected_of(self, spans: Iterable[tuple[int, int]]) -> frozenset[int] | None:
        if self.changed or not self.confirmed or self.delivery is None:
            return None
        return self.delivery.touches.expected_of(list(spans))
