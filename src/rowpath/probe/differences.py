"""Why paths differ that run one query: a column with other rows, types of parameters with another plan."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.model.probe import ParameterTypes, PlanFacts
from rowpath.model.workload import Column
from rowpath.own_database.access import Access
from rowpath.own_database.parameters import KeyedQuery
from rowpath.own_database.throttled_worker import ThrottledWorker
from rowpath.planning.plan import PlannedPath
from rowpath.probe.worker_pool import WorkerPool
from rowpath.runners.process import RunnerFailure
from rowpath.workloads.kept_rows import shown

_OF_SESSION = """SELECT {select} FROM pg_catalog.pg_prepared_statements
WHERE statement NOT LIKE '%pg_prepared_statements%' AND cardinality(parameter_types) = {count}
ORDER BY prepare_time DESC LIMIT 1"""
_TYPED, _UNTYPED = "rowpath_typed", "rowpath_untyped"
_NAMES = "SELECT format_type(unnest({oids}), NULL)"
_INFERRED = (
    _NAMES.format(oids="parameter_types::oid[]") + f" FROM pg_catalog.pg_prepared_statements WHERE name = '{_UNTYPED}'"
)


def example(sides: Sequence[Iterable[list[bytes]]], number: int) -> tuple[int, str, str] | None:
    """The first row in which a column differs, from 1, and its value on either side, as `verify` kept the rows.

    Rows that came in another order are met by their other columns. None: no such row is among them.
    """
    ours, theirs = map(list, sides)
    unmatched = Counter(map(tuple, theirs))
    unmatched.subtract(map(tuple, ours))
    if not any(unmatched.values()):
        return None
    by_rest = {_rest(row, number): row for row, count in unmatched.items() if count > 0}
    for at, row in enumerate(ours, 1):
        met = by_rest.get(_rest(row, number))
        if unmatched[tuple(row)] < 0 and met is not None:
            return at, shown(row[number]), shown(met[number])
    for at, (row, other) in enumerate(zip(ours, theirs, strict=False), 1):
        if row[number] != other[number]:
            return at, shown(row[number]), shown(other[number])
    return None


def _rest(row: Sequence[bytes], number: int) -> tuple[bytes, ...]:
    return (*row[:number], *row[number + 1 :])


def sent_types(worker: ThrottledWorker, work: PreparedPhase) -> tuple[int, ...]:
    """The types, by their oids, that the session's prepared statement has; empty where the driver prepared none.

    Every runner hands over a sum of integers, and of one integer that is itself. Errors: RunnerFailure.
    """
    count = len(work.parameter_columns)
    columns = (Column(name="oid", type="integer", bits=64, nullable=True),)
    oids = []
    for number in range(1, count + 1):
        sql = _OF_SESSION.format(select=f"parameter_types[{number}]::oid::bigint AS oid", count=count)
        phase = msgspec.structs.replace(work.phase, sql=sql, columns=columns)
        type_query = PreparedPhase("probe.types", phase, sql, columns)
        worker.prepare(type_query)
        reply = worker.verify(type_query, 0, 1)
        if not reply.rows:
            return ()
        oids.append(int(reply.touch, 16))
    return tuple(oids)


def compared(access: Access, query: KeyedQuery, oids: tuple[int, ...], file: Path) -> ParameterTypes | None:
    """What the server plans for these types and for those that it takes from the columns; None where they are the same.

    Errors: RowpathError, also where the server refuses one of them.
    """
    sql = query.spelt("$1")
    untyped = f"PREPARE {_UNTYPED} AS {sql}"
    listed = f"'{{{','.join(map(str, oids))}}}'::oid[]"
    sent, column = access.ask((untyped,), (_NAMES.format(oids=listed), _INFERRED), file)
    if sent == column:
        return None
    values = []
    for value, kind in zip(query.rows[0], sent, strict=True):
        text = (f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)).replace("'", "''")
        quoted = "NULL" if value is None else f"'{text}'"
        values.append(f"CAST({quoted} AS {kind})")
    explain = [f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({', '.join(values)})" for name in (_TYPED, _UNTYPED)]
    plans = access.ask((f"PREPARE {_TYPED} ({', '.join(sent)}) AS {sql}", untyped), explain, file)
    of_sent, of_column = (_plan("\n".join(lines)) for lines in plans)
    return ParameterTypes(tuple(sent), tuple(column), of_sent, of_column)


def different_types(
    access: Access,
    worker_pool: WorkerPool,
    paths: Iterable[PlannedPath],
    work: PreparedPhase,
    query: KeyedQuery,
    file: Path,
) -> Iterator[ParameterTypes]:
    """What differs, for the paths together that send the same types; each path is of another driver.

    A driver that prepares nothing in the session, and types that the server refuses to explain, are left out.
    """
    by_types: dict[tuple[int, ...], list[str]] = {}
    for planned in paths:
        with contextlib.suppress(RunnerFailure), worker_pool.turned_to(planned, work) as worker:
            by_types.setdefault(sent_types(worker, work), []).append(planned.name)
    for oids, names in by_types.items():
        with contextlib.suppress(RowpathError):
            if oids and (different := compared(access, query, oids, file)):
                yield msgspec.structs.replace(different, names=tuple(names))


def without_names(types: ParameterTypes) -> ParameterTypes:
    """The types with numbers in place of the names of indexes, which would show the query."""
    every = sorted({*types.plan_sent.indexes, *types.plan_column.indexes})
    numbered = {}
    for name, plan in {"plan_sent": types.plan_sent, "plan_column": types.plan_column}.items():
        indexes = tuple(f"index {every.index(index) + 1}" for index in plan.indexes)
        numbered[name] = msgspec.structs.replace(plan, indexes=indexes)
    return msgspec.structs.replace(types, **numbered)


def _plan(text: str) -> PlanFacts:
    top = json.loads(text)[0]["Plan"]
    nodes = [top]
    for node in nodes:  # it grows
        nodes += node.get("Plans", ())
    indexes = sorted({node["Index Name"] for node in nodes if "Index Cond" in node and "Index Name" in node})
    scans = sorted({node["Node Type"] for node in nodes if "Scan" in node["Node Type"]})
    return PlanFacts(scans=tuple(scans), indexes=tuple(indexes), cost=top["Total Cost"])
