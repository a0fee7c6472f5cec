"""Which paths deliver the rows of a sorted query in another order than most implementations."""

from __future__ import annotations

from collections.abc import Sequence

from rowpath.model.grouping import grouped
from rowpath.model.workload import Column
from rowpath.probe.agreement import Again, Delivery, voices_of
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import VerifyReply


def out_of_order(
    deliveries: Sequence[Delivery], columns: tuple[Column, ...], sort_key: str, again: Again
) -> list[Delivery]:
    """Those that deliver the rows of a sorted query in another order than most implementations.

    By the column that the query sorts by first, for rows that are equal in it may stand in any order. Of an expression
    the order of all rows counts, unless it differs between two executions of one path.
    """
    names = [column.name.lower() for column in columns]
    number = (
        int(sort_key) - 1 if sort_key.isdigit() else names.index(sort_key.lower()) if sort_key.lower() in names else -1
    )
    by_column = 0 <= number < len(columns) and all(delivery.reply.columns for delivery in deliveries)

    def order(reply: VerifyReply) -> str:
        return reply.columns[number].order if by_column else reply.order

    known = [delivery for delivery in deliveries if order(delivery.reply)]
    groups = sorted(grouped(known, lambda each: order(each.reply)).values(), key=lambda group: -len(voices_of(group)))
    if len(groups) < 2 or len(voices_of(groups[0])) == len(voices_of(groups[1])):
        return []
    try:
        if not by_column and order(again(groups[0][0], columns)) != order(groups[0][0].reply):
            return []
    except RunnerFailure:
        return []
    return [delivery for group in groups[1:] for delivery in group]
