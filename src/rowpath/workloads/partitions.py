"""How one retrieval is split among n clients: key ranges (low, high], or segments [begin, end) of a file."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from rowpath.errors import UsageError
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Phase, Table, Workload
from rowpath.workloads import generators

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Range = tuple[int, int]


def parameters(
    workload: Workload,
    phase: Phase,
    path: AccessPath,
    directory: Path | None,
    counted: Literal["", "bytes", "records"] = "",
) -> tuple[tuple[Column, ...], list[Range]]:
    """The columns of a union phase's two placeholders and one range for each client of the path.

    `counted`: in what the engine counts segments of a table; empty: it takes keys. `directory` holds TABLE.tbl of one
    that counts bytes. Errors: UsageError for more clients than rows.
    """
    parameters = phase.parameters
    assert parameters is not None
    table = workload.tables[generators.parameter_table(workload, phase)]
    n = path.clients
    if counted:
        size = table.rows
        if counted == "bytes":
            assert directory is not None
            size = (directory / f"{parameters.table or phase.table}.tbl").stat().st_size
        return (Column("begin", "integer", bits=64), Column("end", "integer", bits=64)), segments(size, n)
    column = next(column for column in table.columns if column.name == parameters.key)
    counts = path.ranges == "count"
    return (column, column), count(table.rows, n) if counts else bounds(_keys(table, column), n, column.bits)


@functools.lru_cache(maxsize=4)
def _keys(table: Table, key: Column) -> NDArray[np.int64]:
    """The column's values in ascending order."""
    import numpy as np

    alone = msgspec.structs.replace(table, columns=(key,))
    return np.sort(np.fromiter((row[0] for row in generators.rows(alone)), dtype=np.int64, count=table.rows))


def bounds(keys: Sequence[int] | NDArray[np.int64], n: int, bits: int) -> list[Range]:
    """n ranges with the same number of the ascending keys in each: quantiles, as an index gives them.

    The first is open below (0, or the least key − 1 where that is lower), the last above: the greatest integer of the
    width.
    """
    if n > len(keys):
        raise UsageError(f"cannot split {len(keys)} rows among {n} clients", "clients = 2, or more rows (--scale)")
    inner = [int(keys[part * len(keys) // n - 1]) for part in range(1, n)]
    edges = [min(0, int(keys[0]) - 1), *inner, 2 ** (bits - 1) - 1]
    return list(itertools.pairwise(edges))


def count(rows: int, n: int) -> list[Range]:
    """The article's n ranges: the rows counted and split as if the keys were 1, 2, …, rows.

    It drops the remainder of rows ÷ n, and of sparse keys every key above the number of rows.
    """
    step = rows // n
    return [(part * step, (part + 1) * step) for part in range(n)]


def segments(size: int, n: int) -> list[Range]:
    """n segments [begin, end) of a file, equal to one unit; together they are the whole file."""
    return [(part * size // n, (part + 1) * size // n) for part in range(n)]
