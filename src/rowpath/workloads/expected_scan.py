"""What a scan of a whole table must deliver, in one pass over its rows and without keeping them.

What was found is kept as JSON: beside the table's rows where a file of the cache holds them, else by generator.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from functools import cache, cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from rowpath.machine.directories import cache_dir
from rowpath.model.workload import CODEC_VERSION, Column, Table
from rowpath.workloads import codec, generators, load_progress, tpch
from rowpath.workloads.codec import MASK64, payload_of

# Every way in which a string may be counted: CHAR stripped or padded, in the units of Python, Java and C.
VARIANTS: tuple[tuple[bool, codec.LengthUnit], ...] = tuple(
    (padded, unit) for unit in get_args(codec.LengthUnit) for padded in (False, True)
)


def variants(columns: Iterable[Column], ascii_only: bool) -> tuple[tuple[bool, codec.LengthUnit], ...]:
    """The variants that can make a difference for rows of these columns."""
    some = VARIANTS[:2] if ascii_only else VARIANTS
    return some if any(column.type == "char" for column in columns) else some[::2]


class WholeTable:
    """The sums over all rows of a table, in these columns and in the order of its generator."""

    def __init__(self, table: Table, columns: tuple[Column, ...]) -> None:
        self.rows = table.rows
        self._table = table
        self._columns = columns
        kept = generators.kept_file(table)
        # By generator: another file once the code that makes rows changes.
        own = cache_dir() / "expected" / f"{table.generator}-{_code()}.json"
        self._beside = kept.with_suffix(".json") if kept else own

    @cached_property
    def touches(self) -> tuple[int, ...]:
        """The touch sum of one scan, one for each way of counting strings."""
        return tuple(int(touch, 16) for touch in self._sums["touches"])

    @cached_property
    def payload_bytes(self) -> int:
        """A lower bound on the bytes of all values."""
        return int(self._sums["payload_bytes"])

    def digest(self, scans: int, max_rows: int) -> str:
        """The digest of the first `max_rows` rows of this many scans one after another."""
        wanted = min(scans * self.rows, max_rows)
        whole, rest = divmod(wanted, self.rows) if self.rows else (0, 0)
        total = (whole * self._hashes(self.rows) if whole else 0) + (self._hashes(rest) if rest else 0)
        return codec.Digest(wanted, total).text()

    def aggregate(self, columns: tuple[Column, ...]) -> generators.Row:
        """The row of an aggregate over all rows, whose columns are called `count`, `sum_X`, `min_X`, `max_X`."""

        def encoded() -> str:
            names = [column.name for column in self._table.columns]
            row = aggregated(self._watched(generators.rows(self._table)), names, columns)
            return codec.encode_row(row, columns).hex()

        return codec.decode_row(bytes.fromhex(self._known(f"aggregate {columns!r}", encoded)), columns)

    @cached_property
    def _sums(self) -> dict[str, Any]:
        def added_up() -> dict[str, Any]:
            ways = variants(self._columns, self._table.ascii)
            touches = [0] * len(ways)
            payload_bytes = 0
            for row in self._made():
                for at, way in enumerate(ways):
                    touches[at] += codec.touch_row(row, self._columns, *way)
                payload_bytes += sum(map(payload_of, row))
            return {"touches": [f"{touch & MASK64:016x}" for touch in touches], "payload_bytes": payload_bytes}

        sums: dict[str, Any] = self._known("sums", added_up)
        return sums

    def _hashes(self, rows: int) -> int:
        """The sum of the hashes of the first this many rows."""

        def added_up() -> str:
            return codec.digest(islice(self._made(), rows), self._columns).partition(":")[2]

        return int(self._known(f"hashes {rows}", added_up), 16)

    def _made(self) -> Iterable[generators.Row]:
        if self._columns == self._table.columns:
            return self._watched(generators.rows(self._table))
        names = tuple(column.name for column in self._columns)
        return self._watched(map(generators.row_maker(self._table, names), range(self.rows)))

    def _watched(self, rows: Iterable[generators.Row]) -> Iterable[generators.Row]:
        return load_progress.counted(f"adding up {self._table.generator}", rows, self.rows)

    @cached_property
    def _answers(self) -> dict[str, Any]:
        return _read(self._beside)

    def _known(self, question: str, find: Callable[[], Any]) -> Any:
        """The answer known from before, of this process or another, else found now and kept."""
        key = hashlib.sha256(repr((CODEC_VERSION, self._table, self._columns, question)).encode()).hexdigest()[:16]
        if key not in self._answers:
            self._answers[key] = find()
            _write(self._beside, _read(self._beside) | self._answers)
        return self._answers[key]


@lru_cache(maxsize=64)
def whole_table(table: Table, columns: tuple[Column, ...]) -> WholeTable:
    """The same object for the same table and columns: engines share its sums."""
    return WholeTable(table, columns)


def aggregated(rows: Iterable[generators.Row], names: list[str], columns: tuple[Column, ...]) -> generators.Row:
    """One row of `count`, `sum_X`, `min_X`, `max_X` over rows whose columns have these names; NULL of no values."""
    requested = [column.name.partition("_") for column in columns]
    answer: list[Any] = [0 if function == "count" else None for function, _, _ in requested]
    work = [(at, function, names.index(of)) for at, (function, _, of) in enumerate(requested) if function != "count"]
    choose: dict[str, Callable[[Any, Any], Any]] = {"sum": lambda a, b: a + b, "min": min, "max": max}
    count = 0
    for row in rows:
        count += 1
        for at, function, of in work:
            if (value := row[of]) is not None:
                old = answer[at]
                answer[at] = value if old is None else choose[function](old, value)
    return tuple(
        count if function == "count" else value for value, (function, _, _) in zip(answer, requested, strict=True)
    )


@cache
def _code() -> str:
    """A hash of the modules that make rows and add them up."""
    modules = (Path(str(module.__file__)) for module in (generators, tpch, codec))
    sources = b"".join(file.read_bytes() for file in (*modules, Path(__file__)))
    return hashlib.sha256(sources).hexdigest()[:16]


def _read(file: Path) -> dict[str, Any]:
    try:
        answers: dict[str, Any] = json.loads(file.read_text())
    except (OSError, ValueError):  # not there yet, or not whole: it is found again
        return {}
    return answers


def _write(file: Path, answers: dict[str, Any]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(prefix=file.name, dir=file.parent)
        with os.fdopen(handle, "w") as target:
            json.dump(answers, target)
        Path(partial).replace(file)
    except OSError:  # a cache that cannot be written costs time, not correctness
        return
