"""The fastest way of taking PostgreSQL's `orders` row by row from C, against the sleeping drain of the same bytes.

Client and server on a core each. A drain that sleeps makes the server pay for a wake-up at each of its sends, so that a
client with work to do can be as fast; the busy one stands beside it (docs/method.md).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from bench.figure import Figure
from rowpath.analysis.statistics.intervals import log_ratios, student
from rowpath.checks.selftest.bench import Bench, samples
from rowpath.errors import RowpathError
from rowpath.journal.reader import Records
from rowpath.planning.plan import PlannedPath

PHASE = "tpch.orders"
SETS, ROUNDS = 8, 5
SLEEPING, BUSY = "drain, sleeping", "drain, busy"
WAYS = ("single-row", "chunked:100", "chunked:1000")


def measure(bench: Bench) -> Iterator[Figure]:
    """The fastest row path over the sleeping drain; the busy drain over it."""
    where = {"engine": "postgresql", "transport": "tcp", "placement": "split", "durability": "none"}
    paths = [bench.path("c", "libpq", PHASE, way, statement="text", format="text", result=way, **where) for way in WAYS]
    for name, poll in ((SLEEPING, "sleep"), (BUSY, "busy")):
        paths.append(bench.path("c", "drain", PHASE, name, fetch="drain", poll=poll, **where))
    _analysis, records = bench.run(paths, PHASE, sets=SETS, rounds=ROUNDS)
    costs = {planned.name: by_set(records, planned) for planned in paths}
    fastest = min(WAYS, key=lambda way: statistics.median(one for each in costs[way].values() for one in each.values()))
    for name, bar in ((fastest, "interval reaches 1 or less"), (BUSY, "")):
        found = student(list(log_ratios(costs[name], costs[SLEEPING]).values()))
        if found is None or found.ratio_low is None:
            raise RowpathError(f"{name} has no interval over the sleeping drain")
        value = f"{found.ratio:.3f} [{found.ratio_low:.3f}, {found.ratio_high:.3f}], {SETS} sets of {ROUNDS}"
        met = found.ratio_low <= 1 if bar else None
        yield Figure(f"{PHASE}, split cores: {name} over {SLEEPING}", value, bar, met)


def by_set(records: Records, planned: PlannedPath) -> dict[int, dict[int, float]]:
    """ns per operation by set and round."""
    found: dict[int, dict[int, float]] = {}
    for record in samples(records, planned):
        if record.operations and record.round is not None:
            found.setdefault(record.set, {})[record.round] = record.ns / record.operations
    if not found:
        raise RowpathError(f"{planned.name} was not measured")
    return found
