"""In which column two paths differ that delivered different rows of one query."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import Syntax
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.planning.plan import PlannedPath
from rowpath.probe.worker_pool import WorkerPool
from rowpath.runners.process import RunnerFailure

UNKNOWN = "not known"


def first_difference(
    worker_pool: WorkerPool, pair: tuple[PlannedPath, PlannedPath], work: PreparedPhase, engine: str
) -> str:
    """The name of the first column in which the two paths' rows differ, by digests of only the query's first columns.

    A sentence where that cannot be found: duplicate names, files, or rows that agree column by column.
    """
    names = [column.name for column in work.columns]
    if work.phase.scan or len(set(names)) < len(names) or not all(names):
        return UNKNOWN
    low, high = 0, len(names)  # the first `low` columns agree, the first `high` do not
    try:
        if _agree(worker_pool, pair, first_columns(work, high, engine)):
            return "none: read column by column, the rows agree"
        while high - low > 1:
            middle = (low + high) // 2
            if _agree(worker_pool, pair, first_columns(work, middle, engine)):
                low = middle
            else:
                high = middle
    except RunnerFailure as failure:
        return f"{UNKNOWN}: {failure.text}"
    return names[high - 1]


def first_columns(work: PreparedPhase, count: int, engine: str) -> PreparedPhase:
    """The query narrowed to its first columns."""
    syntax = ENGINES[engine].probe.syntax or Syntax()
    quote = syntax.name_quote
    names = (quote + column.name.replace(quote, 2 * quote) + quote for column in work.columns[:count])
    sql = f"SELECT {', '.join(names)} FROM ({work.sql}) AS probed"
    phase = msgspec.structs.replace(work.phase, sql=sql, columns=work.columns[:count])
    return replace(work, sql=sql, columns=work.columns[:count], phase=phase)


def _agree(worker_pool: WorkerPool, pair: tuple[PlannedPath, PlannedPath], work: PreparedPhase) -> bool:
    digests = []
    for planned in pair:
        with worker_pool.turned_to(planned) as worker:
            worker.prepare(work)
            digests.append(worker.verify(work, 0, work.parameter_count or 1).digest)
    return digests[0] == digests[1]
