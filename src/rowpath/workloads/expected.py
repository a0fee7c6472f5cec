"""What each phase must deliver, from the controller's generators only: touch sums, row counts, digests, payloads.

Rows, hashes and prefix sums are computed once and kept, so that asking about one more block costs next to nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING

from rowpath.model.workload import Column, Phase, Table, Workload, result_columns
from rowpath.workloads import codec, films, generators
from rowpath.workloads.codec import MASK64, payload_of
from rowpath.workloads.expected_scan import WholeTable, aggregated, variants, whole_table
from rowpath.workloads.workload_file import for_engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sums = NDArray[np.uint64]


def _prefix_sums(values: Sequence[int]) -> Sums:
    import numpy as np

    sums = np.zeros(len(values) + 1, dtype=np.uint64)
    np.cumsum(np.array(values, dtype=np.uint64), out=sums[1:])  # wraps modulo 2^64, as the touch sum does
    return sums


def _between(sums: Sums, first: int, count: int) -> int:
    """Σ over positions [first, first + count), positions wrapping around, modulo 2^64."""
    period = len(sums) - 1

    def below(position: int) -> int:
        cycles, rest = divmod(position, period)
        return cycles * int(sums[period]) + int(sums[rest])

    return (below(first + count) - below(first)) & MASK64


class Touches:
    """The touch sums that a phase's operations may have: more than one where CHAR comes padded or text is not ASCII."""

    def __init__(self, sums: tuple[Sums, ...]) -> None:
        self._sums = sums

    def expected(self, first: int, operations: int) -> frozenset[int] | None:
        """The right sums for operations [first, first + operations); None when nothing is known (writes)."""
        return self.expected_of([(first, operations)])

    def expected_of(self, spans: list[tuple[int, int]]) -> frozenset[int] | None:
        """The sums that spans (first, operations) may have together: one span for each client."""
        return self._totals(lambda sums: (_between(sums, *span) for span in spans))

    def expected_in_regions(self, regions: list[tuple[int, int, int]]) -> frozenset[int] | None:
        """The sums for clients that each repeat rows of their own: (first, rows, operations)."""

        def touched(sums: Sums, first: int, rows: int, operations: int) -> int:
            rounds, rest = divmod(operations, rows)
            return rounds * _between(sums, first, rows) + _between(sums, first, rest)

        return self._totals(lambda sums: (touched(sums, *region) for region in regions))

    def _totals(self, parts: Callable[[Sums], Iterable[int]]) -> frozenset[int] | None:
        return frozenset(sum(parts(sums)) & MASK64 for sums in self._sums) or None


class _Scans:
    """What operations deliver that each take the same whole table."""

    def __init__(self, whole: WholeTable) -> None:
        self.row_sums = _prefix_sums([whole.rows])
        self._whole = whole

    @property
    def touches(self) -> Touches:
        return Touches(tuple(_prefix_sums([touch]) for touch in self._whole.touches))

    @property
    def payload(self) -> Sums:
        return _prefix_sums([self._whole.payload_bytes])

    def digest(self, first: int, count: int, max_rows: int) -> str:
        return self._whole.digest(count, max_rows)


class Delivery:
    """What the operations of one phase deliver: one set of rows per position; positions wrap."""

    def __init__(self, row_sets: list[list[generators.Row]], columns: tuple[Column, ...]) -> None:
        self.row_sets = row_sets
        self.columns = columns
        self.row_sums = _prefix_sums([len(row_set) for row_set in row_sets])

    @cached_property
    def touches(self) -> Touches:
        values = (value for row_set in self.row_sets for row in row_set for value in row)
        ways = variants(self.columns, all(value.isascii() for value in values if isinstance(value, str)))
        touch = [partial(codec.touch_row, columns=self.columns, padded=padded, unit=unit) for padded, unit in ways]
        return Touches(tuple(map(self._summed, touch)))

    @cached_property
    def payload(self) -> Sums:
        return self._summed(lambda row: sum(map(payload_of, row)))

    def _summed(self, value: Callable[[generators.Row], int]) -> Sums:
        return _prefix_sums([sum(map(value, row_set)) & MASK64 for row_set in self.row_sets])

    @cached_property
    def _hashes(self) -> list[list[int]]:
        return [[codec.row_hash(codec.encode_row(row, self.columns)) for row in row_set] for row_set in self.row_sets]

    def digest(self, first: int, count: int, max_rows: int) -> str:
        hashes = self._hashes
        delivered = (row for position in range(first, first + count) for row in hashes[position % len(hashes)])
        kept = list(islice(delivered, max_rows))
        return codec.Digest(len(kept), sum(kept)).text()


class Expected:
    """The right answers of one workload on one engine; `engine_supports` narrows a conformance workload's columns."""

    def __init__(self, workload: Workload, engine_supports: Callable[[str], str] | None = None) -> None:
        self.workload = for_engine(workload, engine_supports)[0] if engine_supports else workload
        self._deliveries: dict[str, Delivery | _Scans] = {}
        self._sent: dict[str, Sums] = {}
        self._after: dict[tuple[str, str, int], str] = {}

    def _phase(self, phase: Phase | str) -> Phase:
        return self.workload.phase(phase) if isinstance(phase, str) else phase

    def _delivery(self, phase: Phase) -> Delivery | _Scans | None:
        if phase.name not in self._deliveries and phase.expected != "none":
            columns = result_columns(self.workload, phase)
            self._deliveries[phase.name] = (
                _Scans(whole_table(self.workload.tables[phase.table], columns))
                if phase.expected == "whole-table"
                else Delivery(self._row_sets(phase), columns)
            )
        return self._deliveries.get(phase.name)

    def _row_sets(self, phase: Phase) -> list[list[generators.Row]]:
        if phase.expected == "one":
            return [[(1,)]]
        table = self.workload.tables[phase.table]
        if phase.expected == "aggregate":
            return [[row] for row in _aggregates(table, phase)]
        if phase.expected == "objects":
            assert phase.parameters is not None
            deliver = getattr(self._objects, phase.access)
            return [deliver(index + 1) for index in generators.parameter_indexes(phase.parameters)]
        make = generators.row_maker(table, tuple(column.name for column in result_columns(self.workload, phase)))
        if phase.expected == "first-rows":
            return [[make(index) for index in range(phase.rows_per_operation)]]
        assert phase.parameters is not None
        many = phase.range_rows if phase.expected == "range" else 1

        @cache
        def made(index: int) -> list[generators.Row]:
            return [make(at) for at in range(index, min(index + many, table.rows))]

        return list(map(made, generators.parameter_indexes(phase.parameters)))

    @cached_property
    def _objects(self) -> films.Films:
        return films.Films(self.workload.tables, generators.draw)

    def touches(self, phase: Phase | str) -> Touches:
        """The touch sums of the phase; its `expected` answers None for a phase that delivers nothing known."""
        delivery = self._delivery(self._phase(phase))
        return delivery.touches if delivery else Touches(())

    def rows(self, phase: Phase | str, first: int, operations: int) -> int | None:
        """Rows that operations [first, first + operations) deliver: 0 for writes, None when not known."""
        phase = self._phase(phase)
        delivery = self._delivery(phase)
        if delivery:
            return _between(delivery.row_sums, first, operations)
        return None if phase.kind in ("query", "objects", "connect") and not phase.writes else 0

    def verify_digest(self, phase: Phase | str, first: int, count: int, max_rows: int) -> str:
        """The digest of the first `max_rows` rows of operations [first, first + count); empty when not known."""
        delivery = self._delivery(self._phase(phase))
        return delivery.digest(first, count, max_rows) if delivery else ""

    def after_digest(self, phase: Phase | str, operations: int, table_name: str = "") -> str:
        """The digest of a table once operations [0, operations) ran: the phase's `after`, or one of `also_after`.

        Empty without such a table. Each operation puts the rows of its parameters' indexes into that table, new or in
        place of what was there; or counts itself in that row (`Phase.counted`).
        """
        phase = self._phase(phase)
        key = phase.name, table_name or phase.after, operations
        if not key[1]:
            return ""
        if key not in self._after:
            self._after[key] = self._after_digest(phase, self.workload.tables[key[1]], operations)
        return self._after[key]

    def _after_digest(self, phase: Phase, table: Table, operations: int) -> str:
        if phase.counted:
            return codec.digest(counted_rows(table, phase, operations), table.columns)
        # Two phases may change one table: what each makes of it is then the table of its parameters.
        changed = self.workload.tables.get(generators.parameter_table(self.workload, phase), table)
        source = changed if changed.generator in generators.CHANGED_FROM else table
        make = generators.row_maker(source, tuple(column.name for column in table.columns))
        result = codec.Digest()
        touched: set[int] = set()
        if phase.parameters is not None:
            stored = operations * (phase.rows_per_operation if phase.kind == "load" else 1)
            touched = set(islice(generators.parameter_indexes(phase.parameters), stored))
        # The table whose rows the phase starts from, when it does not start empty.
        origin = generators.CHANGED_FROM.get(source.generator)
        others = (other for other in self.workload.tables.values() if other.generator == origin and other.rows)
        before = table if table.rows else next(others, None)
        if before is not None:
            old = generators.row_maker(before)
            for index in range(before.rows):
                if index not in touched:
                    result.add(codec.encode_row(old(index), before.columns))
        each = films.ROWS_OF_A_GRAPH.get(table.generator, 1)
        for index in touched:
            for row in range(index * each, (index + 1) * each):
                result.add(codec.encode_row(make(row), table.columns))
        return result.text()

    def payload_bytes(self, phase: Phase | str, first: int, operations: int) -> int:
        """A lower bound on the bytes of the delivered values, or for writes of the parameters; 0 when not known."""
        phase = self._phase(phase)
        delivery = self._delivery(phase)
        if delivery:
            return _between(delivery.payload, first, operations)
        if phase.parameters is None:
            return 0
        if phase.name not in self._sent:
            _columns, rows = generators.parameter_rows(self.workload, phase)
            sizes = [sum(map(payload_of, row)) for row in rows]
            step = phase.rows_per_operation if phase.kind == "load" else 1
            self._sent[phase.name] = _prefix_sums([sum(sizes[at : at + step]) for at in range(0, len(sizes), step)])
        return _between(self._sent[phase.name], first, operations)

    def shape(self, phase: Phase | str) -> tuple[float, float, float]:
        """Rows, values and payload bytes that an operation delivers, on average over a round of the parameters."""
        phase = self._phase(phase)
        operations = phase.parameters.count if phase.parameters and not phase.union else 1
        rows = (self.rows(phase, 0, operations) or 0) / operations
        columns = len(result_columns(self.workload, phase))
        return rows, rows * columns, self.payload_bytes(phase, 0, operations) / operations


def counted_rows(table: Table, phase: Phase, operations: int) -> Iterator[generators.Row]:
    """The table's rows once operations [0, operations) of a counting phase ran, positions wrapping."""
    assert phase.parameters is not None
    indexes = list(generators.parameter_indexes(phase.parameters))
    rounds, rest = divmod(operations, len(indexes))
    times = Counter({index: rounds * often for index, often in Counter(indexes).items()}) + Counter(indexes[:rest])
    at = [column.name for column in table.columns].index(phase.counted)
    for index, row in enumerate(generators.rows(table)):
        yield *row[:at], row[at] + times[index], *row[at + 1 :]


def _aggregates(table: Table, phase: Phase) -> list[generators.Row]:
    """The one row that each operation delivers: over the whole table, or over a range from its parameter's row on."""
    if phase.parameters is None:
        return [whole_table(table, table.columns).aggregate(phase.columns)]
    rows = list(generators.rows(table))
    names = [column.name for column in table.columns]
    made = cache(lambda first: aggregated(rows[first : first + phase.range_rows], names, phase.columns))
    return [made(first) for first in generators.parameter_indexes(phase.parameters)]
