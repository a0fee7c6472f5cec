"""TPC-H's `customer`, `orders` and `lineitem`: made by tpchgen-cli once per number of rows, kept as TABLE.tbl.

A table's number of rows is its scale, and its rows are in the order of its key. At scale 1 those are 150,000, 1,500,000
and the first 6,000,000: how many lines the orders of a scale have is not known before they are made.
"""

from __future__ import annotations

import fcntl
import importlib.metadata
import math
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowpath.errors import EnvironmentMissing, InternalError
from rowpath.machine import disk_space, processes
from rowpath.machine.directories import cache_dir, unwritable_cache
from rowpath.model.workload import Table
from rowpath.workloads import load_progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PROGRAM = "tpchgen-cli"
PIECE_BYTES = 1 << 20
# What making text of that size took on a slow machine; only for estimates.
MADE_BYTES_PER_S = 30e6
START_S = 1.0
LEAST_SCALE = 1e-4  # of `lineitem`: below it there is no supplier


# How a column's text becomes a natural value; of all others it is one.
NATURAL: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("c_custkey", "c_nationkey", "o_orderkey", "o_custkey", "o_shippriority"), int),
    **dict.fromkeys(("l_orderkey", "l_partkey", "l_suppkey", "l_linenumber"), int),
    **dict.fromkeys(("c_acctbal", "o_totalprice", "l_quantity", "l_extendedprice", "l_discount", "l_tax"), Decimal),
    **dict.fromkeys(("o_orderdate", "l_shipdate", "l_commitdate", "l_receiptdate"), date.fromisoformat),
}


@dataclass(frozen=True)
class TpchTable:
    """One of TPC-H's tables; rows and bytes at scale 1."""

    name: str
    columns: tuple[str, ...]
    rows: int
    row_bytes: float  # of text, on average
    exact: bool = True  # whether its scale says how many rows it has; else a few more are made, and left out


SOURCES = {
    "tpch-customer": TpchTable(
        "customer",
        ("c_custkey", "c_name", "c_address", "c_nationkey", "c_phone", "c_acctbal", "c_mktsegment", "c_comment"),
        rows=150_000,
        row_bytes=161.4,
    ),
    "tpch-orders": TpchTable(
        "orders",
        (
            "o_orderkey",
            "o_custkey",
            "o_orderstatus",
            "o_totalprice",
            "o_orderdate",
            "o_orderpriority",
            "o_clerk",
            "o_shippriority",
            "o_comment",
        ),
        rows=1_500_000,
        row_bytes=113.7,
    ),
    "tpch-lineitem": TpchTable(
        "lineitem",
        (
            "l_orderkey",
            "l_partkey",
            "l_suppkey",
            "l_linenumber",
            "l_quantity",
            "l_extendedprice",
            "l_discount",
            "l_tax",
            "l_returnflag",
            "l_linestatus",
            "l_shipdate",
            "l_commitdate",
            "l_receiptdate",
            "l_shipinstruct",
            "l_shipmode",
            "l_comment",
        ),
        rows=6_000_000,
        row_bytes=125.5,
        exact=False,
    ),
}


def text_bytes(table: Table) -> float:
    """About how large the table's text is."""
    return table.rows * SOURCES[table.generator].row_bytes


def scale_of(table: Table) -> float:
    """The scale at which tpchgen-cli makes exactly this many rows, for it rounds down; of `lineitem` a few more."""
    source = SOURCES[table.generator]
    whole = source.rows
    scale = table.rows / whole
    if not source.exact:
        return max(scale * 1.001 + 2e-5, LEAST_SCALE)
    return scale if int(whole * scale) == table.rows else math.nextafter(scale, math.inf)


def path_of(table: Table) -> Path:
    """Where the table's file is, or will be once it was made; its name has the program's version."""
    version, source = importlib.metadata.version(PROGRAM), SOURCES[table.generator]
    scale = scale_of(table) if source.exact else table.rows / source.rows
    return cache_dir() / "tpch" / f"{scale:.15g}" / f"{source.name}-{version}.tbl"


def file_of(table: Table) -> Path:
    """The table's rows as a delimited text file (runners/PROTOCOL.md), made when it is not there.

    No one may change it. Errors: EnvironmentMissing when the cache or its disk cannot take it.
    """
    file = path_of(table)
    if file.is_file():
        return file
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # who comes second waits, then finds it made
            if not file.is_file():
                _make(table, file)
    except OSError as error:
        if disk_space.is_full(error):
            raise EnvironmentMissing(
                f"the disk of the cache {cache_dir()} is full",
                "free disk space, or set ROWPATH_CACHE=DIR on another disk",
            ) from error
        raise unwritable_cache(cache_dir(), error) from error
    return file


def _make(table: Table, file: Path) -> None:
    source = SOURCES[table.generator]
    program = shutil.which(PROGRAM, path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    if program is None:
        raise EnvironmentMissing(f"{PROGRAM}, which makes TPC-H's tables, is missing", "make setup")
    command = [program, "tbl", "-s", repr(scale_of(table)), "-T", source.name, "--stdout", "--quiet"]
    with tempfile.TemporaryDirectory(prefix="making-", dir=file.parent) as folder:
        partial, errors_file = Path(folder) / "rows", Path(folder) / "errors"
        with partial.open("wb") as target, errors_file.open("wb") as errors:
            process = processes.start(command, stdout=subprocess.PIPE, stderr=errors)
            try:
                assert process.stdout is not None
                made, rest = 0, b""
                while piece := process.stdout.read(PIECE_BYTES):
                    whole, end, rest = (rest + piece).rpartition(b"\n")
                    lines = (whole + end).replace(b"|\n", b"\n")  # without the separator at their ends
                    if not source.exact and lines.count(b"\n") > table.rows - made:
                        lines = b"".join(lines.splitlines(keepends=True)[: table.rows - made])
                    made += lines.count(b"\n")
                    target.write(lines)
                    load_progress.report(f"making {file.name}", made, table.rows)
                status = process.wait()
            finally:
                processes.stop(process, processes.AT_ONCE)
        if status or made != table.rows:
            words = errors_file.read_text(errors="replace").strip()[-300:]
            raise InternalError(
                f"{PROGRAM} made {made} rows of {source.name}, not {table.rows} (status {status}) {words}",
                "free disk space or memory, then run again",
            )
        file.with_suffix(".json").unlink(missing_ok=True)  # what was known of rows that are gone
        partial.rename(file)


def picker(every: tuple[str, ...], names: tuple[str, ...]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """A function from a row of `every` column to its values of the named ones."""
    if len(names) == 1:
        at = every.index(names[0])
        return lambda row: (row[at],)
    return itemgetter(*map(every.index, names))


def rows(table: Table, count: int | None = None) -> Iterator[tuple[Any, ...]]:
    """The first `count` rows (by default all) as natural values, one line of the file in memory at a time."""
    take = _taker(table, tuple(column.name for column in table.columns))
    with file_of(table).open(encoding="ascii", newline="\n") as lines:
        yield from map(take, islice(lines, table.rows if count is None else count))


def row_maker(table: Table, names: tuple[str, ...]) -> Callable[[int], tuple[Any, ...]]:
    """A function from an index to these columns of that row; where each begins is found once."""
    take, file = _taker(table, names), file_of(table)

    def make(index: int) -> tuple[Any, ...]:
        data, begins = _indexed(file)
        return take(data[begins[index] : begins[index + 1]].decode("ascii"))

    return make


def _taker(table: Table, names: tuple[str, ...]) -> Callable[[str], tuple[Any, ...]]:
    pick = picker(SOURCES[table.generator].columns, names)
    converts = [NATURAL.get(name, str) for name in names]
    return lambda line: tuple(
        [convert(text) for convert, text in zip(converts, pick(line[:-1].split("|")), strict=True)]
    )


@cache
def _indexed(file: Path) -> tuple[mmap.mmap, NDArray[np.int64]]:
    """The file's bytes, and where each row begins, the file's size at the end."""
    import numpy as np

    with file.open("rb") as handle:
        data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
    ends = [
        np.flatnonzero(np.frombuffer(data[first : first + PIECE_BYTES], np.uint8) == 0x0A) + first + 1
        for first in range(0, len(data), PIECE_BYTES)
    ]
    return data, np.concatenate([np.zeros(1, np.int64), *ends])
