"""What a server that is not ours says that it needs for an operation: of the plan that the path uses, warm.

The statement is prepared as the path prepares it, and executed over several rows of its parameters, often enough for
the session's lasting plan. All of it is in one session that only reads.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import ServerClock, ServerTimes
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.errors import RowpathError
from rowpath.model.path import AccessPath
from rowpath.own_database.parameters import literal
from rowpath.own_database.probed_query import ProbedQuery
from rowpath.own_database.throttled_worker import CURSORS, SETTLING_EXECUTIONS, settings_of
from rowpath.text import duration

WARM, TIMED = SETTLING_EXECUTIONS, 8  # executions of a row of parameters, back to back, where they are short
ROWS = 5  # of parameters, spread over all of them
MOST_S = 4.0  # for the executions of one statement over all rows
LEAST_TIMED = 3
CURSOR = CURSORS[0]


@dataclass(frozen=True)
class Reported:
    """What the server reports for an operation, in ns: means over rows of parameters, of each the median.

    `output_ns`: to make the output, beyond `execution_ns`; None: it does not say. `why`: why nothing is known.
    """

    planning_ns: float = 0.0
    execution_ns: float = 0.0
    output_ns: float | None = None
    notes: tuple[str, ...] = ()
    why: str = ""


class ServerReports:
    """Asks the server of a query once for each way in which paths have it executed."""

    def __init__(self, query: ProbedQuery, clock: ServerClock) -> None:
        self._query = query
        self._clock = clock
        self._known: dict[tuple[str, ...], Reported] = {}

    def of(self, path: AccessPath) -> Reported:
        """What it reports for that path; never raises for what it refuses."""
        pooled = self._query.access.session.pooled is not None  # there a prepared statement would outlast ours
        prepared = path.statement == "prepared" and bool(self._clock.prepare) and not pooled
        cursor = path.result.startswith(CURSOR) and bool(self._clock.cursor)
        form = "BINARY" if path.get("format") == "binary" else "TEXT"
        fetches_in_parts = path.result.startswith(CURSORS) and not cursor
        key = (str(prepared), str(cursor), form, str(fetches_in_parts), *(value for _key, value in settings_of(path)))
        if key not in self._known:
            try:
                self._known[key] = self._ask(
                    path, prepared=prepared, cursor=cursor, form=form, fetches_in_parts=fetches_in_parts
                )
            except (RowpathError, ValueError, KeyError, IndexError) as error:
                self._known[key] = Reported(why=str(error))
        return self._known[key]

    def _ask(self, path: AccessPath, *, prepared: bool, cursor: bool, form: str, fetches_in_parts: bool) -> Reported:
        clock, access = self._clock, self._query.access
        settings = access.session.setting(settings_of(path))
        if prepared and not cursor:
            settings += (clock.prepare.format(types=self._types(), sql=self._prepared_sql()),)
            statements = self._calls()
        else:
            statements = self._with_literals()
        direct = statements
        if cursor:
            statements = [clock.cursor.format(sql=sql) for sql in statements]
        found = re.match(r"\d+", access.engine_version)
        output = bool(clock.output and found and int(found[0]) >= clock.output_since)
        with access.asking(settings, self._query.directory.work / "server-times.kept") as ask:
            times = self._times(ask, statements, "")
            whole = self._times(ask, statements, clock.output.format(format=form)) if output else None
            # Of a cursor also without one: the server may plan it in another way.
            without = self._times(ask, direct[:1], "") if cursor else None
        notes = tuple(_notes(times, without, clock, fetches_in_parts=fetches_in_parts))
        made_ns = max(0.0, whole.execution_ms - times.execution_ms) * 1e6 if whole is not None else None
        return Reported(times.planning_ms * 1e6, times.execution_ms * 1e6, made_ns, notes)

    def _times(self, ask: Callable[[str, int], list[str]], statements: list[str], output: str) -> ServerTimes:
        """The mean over the statements, of each the median of its later executions; the server rests in between."""
        medians: list[ServerTimes] = []
        for sql in statements:
            asked_s = time.monotonic()
            text = self._clock.statement.format(sql=sql, output=output)
            (first,) = self._read(ask(text, 1))
            spent_s = time.monotonic() - asked_s
            time.sleep(spent_s)
            executed_s = max(1e-5, (first.execution_ms + first.planning_ms) / 1e3)
            left = int(MOST_S / len(statements) / executed_s)
            timed = min(TIMED, max(LEAST_TIMED, left))
            warm = min(WARM, max(0, left - timed))
            begun_s = time.monotonic()
            several = self._read(ask(text, warm + timed))[warm:]
            time.sleep(time.monotonic() - begun_s)
            planning_ms = statistics.median(one.planning_ms for one in several)
            execution_ms = statistics.median(one.execution_ms for one in several)
            medians.append(ServerTimes(planning_ms, execution_ms, several[-1].plan))
        planning_ms = statistics.fmean(one.planning_ms for one in medians)
        return ServerTimes(planning_ms, statistics.fmean(one.execution_ms for one in medians), medians[0].plan)

    def _read(self, texts: list[str]) -> list[ServerTimes]:
        return [self._clock.read_ms(text) for text in texts]

    def _rows(self) -> list[tuple[object, ...]]:
        keyed = self._query.keyed
        if keyed is None:
            return [()]
        count = min(ROWS, len(keyed.rows))
        return [keyed.rows[number * len(keyed.rows) // count] for number in range(count)]

    def _prepared_sql(self) -> str:
        return self._query.keyed.spelt("$1") if self._query.keyed else self._query.sql

    def _types(self) -> str:
        dialect, keyed = ENGINES[self._query.access.target.engine], self._query.keyed
        if keyed is None or not keyed.columns or not isinstance(dialect, SqlDialect):
            return ""
        return f" ({', '.join(map(dialect.spelt, keyed.columns))})"

    def _calls(self) -> list[str]:
        """The prepared statement with the values of rows of parameters."""
        engine, columns = self._query.access.target.engine, self._query.keyed.columns if self._query.keyed else ()
        calls = []
        for row in self._rows():
            values = ", ".join(literal(engine, value, column) for value, column in zip(row, columns, strict=True))
            calls.append(self._clock.call.format(values=f" ({values})" if values else ""))
        return calls

    def _with_literals(self) -> list[str]:
        keyed = self._query.keyed
        if keyed is None:
            return [self._query.sql]
        return [keyed.with_literals(self._query.access.target.engine, row) for row in self._rows()]


def _notes(times: ServerTimes, without: ServerTimes | None, clock: ServerClock, *, fetches_in_parts: bool) -> list[str]:
    """What a cursor or a fetch size changes in the server's plan."""
    notes = []
    if without is not None and without.plan != times.plan:
        gone = [step for step in dict.fromkeys(without.plan) if step not in times.plan]
        lacks = f", without {' and '.join(gone)}" if gone else ""
        both = f"{duration(times.execution_ms * 1e6)} instead of {duration(without.execution_ms * 1e6)}"
        notes.append(f"Under a cursor the server takes another plan{lacks}: {both}.")
    if fetches_in_parts and clock.parallel_step in times.plan:
        notes.append("A driver that fetches in parts has this plan executed without its parallel workers.")
    return notes
