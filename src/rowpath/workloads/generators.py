"""The rows and parameters of every workload, made by index from SplitMix64, so that a slice needs no state."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from math import gcd
from pathlib import Path
from typing import Any
from uuid import UUID

from rowpath.errors import UsageError
from rowpath.model.workload import Column, Parameters, Phase, Table, Workload
from rowpath.workloads import films, tpch
from rowpath.workloads.codec import MASK64, plain_decimal

Row = tuple[Any, ...]


def draw(seed: int, index: int) -> int:
    """The `index`-th 64-bit number of SplitMix64 started at `seed`."""
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MASK64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK64
    return z ^ (z >> 31)


def uniform(seed: int, n: int, index: int) -> int:
    """An index below n, each equally likely."""
    return (draw(seed, index) >> 1) % n


def halves(n: int, index: int) -> int:
    """First, middle, second, one after the middle, …: an order that defeats reading ahead."""
    j = index % n
    return j // 2 if j % 2 == 0 else (n + 1) // 2 + j // 2


def stride(n: int, k: int, index: int) -> int:
    """Every k-th index, around and around; each of n once when gcd(k, n) = 1."""
    return (index % n) * k % n


HITS_COLUMNS = ("REQTYPE", "REQFILE", "BROWSER", "REQTS", "REQSIZE", "REQUSER", "GEOID")
_REQUESTS = ("GET", "GET", "GET", "GET", "GET", "GET", "POST", "HEAD")
_FOLDERS = ("", "news/", "articles/2000/11/", "images/", "forums/rpg/", "products/catalogue/europe/", "cgi-bin/", "mc/")
_SUFFIXES = ("html", "gif", "jpg", "pdf")
_BROWSERS = ("Mozilla", "MSIE 5.0", "Opera", "Lynx", "Netscape", "Googlebot", "", "iCab")
_FIRST_HIT = datetime(2000, 11, 1)


def _hits(seed: int, index: int) -> Row:
    """A web hit: about 120 bytes, in the order of time, the user known for seven hits of eight."""
    bits = draw(seed, index)
    when = _FIRST_HIT + timedelta(seconds=index * 140 + bits % 97, microseconds=(bits >> 7) % 1_000_000)
    file = f"/{_FOLDERS[bits >> 61]}page{(bits >> 27) % 100_000:05d}.{_SUFFIXES[bits >> 59 & 3]}"
    user = None if bits >> 56 & 7 == 0 else (bits >> 30) % 20_000
    return (
        _REQUESTS[bits >> 53 & 7],
        file,
        _BROWSERS[bits >> 50 & 7],
        when,
        (bits >> 12) % 100_000,
        user,
        (bits >> 40) % 1_000 - 1,
    )


def _text32(seed: int, index: int) -> str:
    return f"{draw(seed, 2 * index):016x}{draw(seed, 2 * index + 1):016x}"


def _tab1(seed: int, index: int) -> Row:
    texts = [_text32(seed, 5 * index + part) for part in range(4)]
    return index + 1, *texts, (draw(seed, 10 * index + 8) >> 34)


def _tab1_changed(seed: int, index: int) -> Row:
    """Row `index` of tab1 after its update: another c2 and c6."""
    c1, _, c3, c4, c5, c6 = _tab1(seed, index)
    return c1, _text32(seed ^ 0x5DEECE66D, index), c3, c4, c5, c6 ^ 1


# One tuple per column: a usual value, the least, the greatest, NULL, empty or zero, and an awkward one.
_EVERY_TYPE: dict[str, tuple[Any, ...]] = {
    "id": (1, 2, 3, 4, 5, 6),
    "c_small": (7, -(2**15), 2**15 - 1, None, 0, -1),
    "c_integer": (123456, -(2**31), 2**31 - 1, None, 0, -1),
    "c_big": (1234567890123, -(2**63), 2**63 - 1, None, 0, 2**53 + 1),
    "c_decimal": (
        Decimal("12345.67800"),
        Decimal("-99999999999999999999999999.99999"),
        Decimal("99999999999999999999999999.99999"),
        None,
        Decimal("0.00000"),
        Decimal("-0.00001"),
    ),
    "c_money": (
        Decimal("1999.99"),
        Decimal("-9999999999999999.99"),
        Decimal("9999999999999999.99"),
        None,
        Decimal("0.00"),
        Decimal("100.10"),
    ),
    "c_float32": (
        1.5,
        -float.fromhex("0x1.fffffep127"),
        float.fromhex("0x1.fffffep127"),
        None,
        0.0,
        0.10000000149011612,
    ),
    "c_float64": (2.718281828459045, -1.7976931348623157e308, 1.7976931348623157e308, None, 0.0, 0.1),
    "c_boolean": (True, False, True, None, False, True),
    "c_char": ("char", "!", "~~~~~~~~~~", None, "", " a  b"),
    "c_varchar": ("varchar", "!", "~" * 100, None, "", "trailing  "),
    "c_text": ("text", "\u00e9\u20ac\U0001f600", "\U0010fffd" * 40, None, "", "a|b\\c\nd\re\tf'g\"h?i%j"),
    "c_json": ('{"a": 1}', "null", '[1, 2.5, {"k": "\u00e9\u20ac\U0001f600"}]', None, "{}", '{"q": "a\\"b\\\\c"}'),
    "c_binary": (b"\x00\xff", b"\x00", bytes(range(256)), None, b"", b"\\x41|\n"),
    "c_date": (date(2000, 11, 7), date(1, 1, 1), date(9999, 12, 31), None, date(1970, 1, 1), date(1582, 10, 4)),
    "c_time": (time(12, 34, 56), time(0), time(23, 59, 59), None, time(0), time(1, 2, 3)),
    "c_timestamp": (
        datetime(2000, 11, 7, 1, 2, 3, 456789),
        datetime(1, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999999),
        None,
        datetime(1970, 1, 1),
        datetime(1969, 12, 31, 23, 59, 59, 500000),
    ),
    "c_timestamptz": (
        datetime(2000, 11, 7, 1, 2, 3, 456789, UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
        None,
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1582, 10, 10, 23, 59, 59, 1, UTC),
    ),
    "c_interval": (
        (14, -3, 3_723_500_000_000),
        (-(12 * 9999), -999_999, -86_399_999_999_000),
        (12 * 9999, 999_999, 86_399_999_999_000),
        None,
        (0, 0, 0),
        (-1, 1, -1_000),
    ),
    "c_uuid": (
        UUID("c0ffee00-1234-4567-89ab-cdef01234567"),
        UUID(int=0),
        UUID(int=2**128 - 1),
        None,
        UUID(int=1),
        UUID(int=1 << 127),
    ),
    "c_array": ([1, 2, 3], [-(2**31)], [2**31 - 1], None, [], [None, 0, -1]),
}


WIDE_UNITS, WIDE_TEXTS = 5, 4  # of eleven mixed columns each; long texts
_WIDE_UNIT = ("small", "number", "big", "price", "rate", "real", "day", "at", "code", "name", "flag")
_WIDE_TEXT_CHARACTERS = 300
_FIRST_DAY = date(1990, 1, 1)


def _wide_unit(seed: int, index: int) -> Row:
    """Eleven values of eleven types; one in eight NULL where that is allowed."""
    bits, more = draw(seed, 2 * index), draw(seed, 2 * index + 1)
    return (
        (bits & 0xFFFF) - (1 << 15),
        None if bits >> 61 == 0 else (bits >> 16 & 0xFFFFFFFF) - (1 << 31),
        (more >> 11) - (1 << 52),
        Decimal((more & 0xFFFFFFFFF) - (1 << 35)).scaleb(-2),
        None if more >> 61 == 0 else Decimal(bits >> 20 & 0xFFFFFFFFFFF).scaleb(-4),
        ((bits >> 8) - (1 << 55)) / 65536,
        _FIRST_DAY + timedelta(days=more % 12_000),
        _FIRST_HIT + timedelta(seconds=bits % 700_000_000, microseconds=more % 1_000_000),
        f"{bits >> 32:08x}",
        None if more >> 58 & 7 == 0 else f"{more:016x}"[: 4 + (bits & 7)] + f"{bits & 0xFFFFFF:06d}",
        bool(bits >> 7 & 1),
    )


def _wide(seed: int, index: int) -> Row:
    """Sixty columns: the key, five units of mixed types, four long texts."""
    units = [value for unit in range(WIDE_UNITS) for value in _wide_unit(seed + unit, index)]
    words = ([f"{draw(seed + 100 + text, 20 * index + word):016x}" for word in range(20)] for text in range(WIDE_TEXTS))
    return index + 1, *units, *(" ".join(line)[:_WIDE_TEXT_CHARACTERS].rstrip() for line in words)


WIDE_COLUMNS = (
    "id",
    *(f"u{unit}_{name}" for unit in range(1, WIDE_UNITS + 1) for name in _WIDE_UNIT),
    *(f"t{text}" for text in range(1, WIDE_TEXTS + 1)),
)


_SCATTER = 0x9E3779B97F4B  # odd, so that every code below 2⁴⁸ occurs once: the order of codes is not that of ids
_WORDS = (
    *("amber", "bridge", "cedar", "delta", "ember", "fjord", "garden", "harbour"),
    *("island", "jasmine", "kettle", "lantern", "meadow", "north", "orchard", "pebble"),
)
_FIRST_ADDED = datetime(2001, 1, 1)
_FIRST_READING = datetime(2024, 11, 28)


def _items(seed: int, index: int) -> Row:
    """An item of the workload `library`, of about 230 bytes."""
    bits, second = draw(seed, 2 * index), draw(seed, 2 * index + 1)
    words = [_WORDS[bits >> shift & 15] for shift in range(0, 56, 4)]
    return (
        index + 1,
        f"{index * _SCATTER & (1 << 48) - 1:012x}",
        " ".join(words[:5]),
        f"{words[5]} {words[6]}",
        _FIRST_ADDED + timedelta(seconds=index * 31 + second % 31),
        Decimal(second % 9_999_999 + 1).scaleb(-2),
        f"{' '.join(words[7:])} {second:016x} {bits:016x}",
    )


_BLOB_LEAST_BYTES, _BLOB_SPREAD_BYTES = 8_000, 4_001


def _blobs(seed: int, index: int) -> Row:
    """Bytes without a pattern, 10,000 of them on average."""
    length = _BLOB_LEAST_BYTES + draw(seed, index) % _BLOB_SPREAD_BYTES
    return index + 1, hashlib.shake_128(f"{seed} {index}".encode()).digest(length)


def _readings(seed: int, index: int) -> Row:
    """A reading of one of fifty power generators, one a second, each figure to two digits."""
    bits, more = draw(seed, 2 * index), draw(seed, 2 * index + 1)
    return (
        index % 50 + 1,
        _FIRST_READING + timedelta(seconds=index, microseconds=bits % 1_000_000),
        (bits >> 20) % 1_000_000 / 100,
        (22_000 + (bits >> 44) % 2_000) / 100,
        (more & 0xFFFF) % 50_000 / 100,
        (4_900 + (more >> 16) % 200) / 100,
        ((more >> 32) % 12_000 - 2_000) / 100,
    )


_MADE: dict[str, tuple[tuple[str, ...], Callable[[int, int], Row]]] = {
    "blobs": (("id", "data"), _blobs),
    "hits": (HITS_COLUMNS, _hits),
    "hits-numbered": (("ID", *HITS_COLUMNS), lambda seed, index: (index + 1, *_hits(seed, index))),
    "items": (("id", "code", "title", "author", "added", "price", "note"), _items),
    # Of the workload `library` too, at its start: a row's number counts what was written.
    "ledger": (("id", "n", "note"), lambda seed, index: (index + 1, 0, f"{draw(seed, index):016x}{index:016x}")),
    "mydata2": (
        ("KEY1", "DATA1"),
        lambda seed, i: (f"{i + 1:010d}", f"{draw(seed, 2 * i):016x}{draw(seed, 2 * i + 1) >> 32:08x}"),
    ),
    "offsets": (("offset",), lambda _seed, index: (index,)),
    "readings": (("generator", "ts", "power", "voltage", "current_a", "frequency", "temperature"), _readings),
    "tab1": (("c1", "c2", "c3", "c4", "c5", "c6"), _tab1),
    "tab1-changed": (("c1", "c2", "c3", "c4", "c5", "c6"), _tab1_changed),
    "types": (
        tuple(_EVERY_TYPE),
        lambda _seed, i: tuple(i + 1 if name == "id" else values[i % 6] for name, values in _EVERY_TYPE.items()),
    ),
    "wide": (WIDE_COLUMNS, _wide),
}

# The columns that each makes; those of tpch.py read them from files, those of films.py know the size of their table.
GENERATORS: dict[str, tuple[str, ...]] = {name: columns for name, (columns, _make) in _MADE.items()} | {
    name: source.columns for name, source in tpch.SOURCES.items()
}
GENERATORS |= films.COLUMNS

# What a table's rows were before the operations of a write phase turned them into these.
CHANGED_FROM = {"tab1-changed": "tab1", "films.changed": "films.films", "films.raised": "films.films"}


def row_maker(table: Table, columns: tuple[str, ...] = ()) -> Callable[[int], Row]:
    """A function from an index to that row of the table, or to these columns of it."""
    names = GENERATORS[table.generator]
    wanted = columns or tuple(column.name for column in table.columns)
    missing = [name for name in wanted if name not in names]
    if missing:
        raise UsageError(
            f"generator {table.generator!r} makes no column {missing[0]!r}", f"it makes {', '.join(names)}"
        )
    if table.generator in tpch.SOURCES:
        return tpch.row_maker(table, wanted)
    if table.generator in films.COLUMNS:
        whole = films.row_maker(table, draw)
    else:
        whole = partial(_MADE[table.generator][1], table.seed)
    if wanted == names:
        return whole
    pick = tpch.picker(names, wanted)
    return lambda index: pick(whole(index))


def rows(table: Table, count: int | None = None) -> Iterator[Row]:
    """The table's rows as natural Python values, in the order of the table's columns; `count` overrides its number."""
    if table.generator in tpch.SOURCES:
        return tpch.rows(table, count)
    return map(row_maker(table), range(table.rows if count is None else count))


def parameter_indexes(parameters: Parameters) -> Iterator[int]:
    """The row index of each parameter position, `count` of them. UsageError when a stride would miss rows."""
    seed, n, k = parameters.seed, parameters.n, parameters.k
    if parameters.generator == "stride" and gcd(k, n) != 1:
        raise UsageError(f"stride k = {k} and n = {n} have a common divisor", "choose k that shares no factor with n")
    chosen: dict[str, Callable[[int], int]] = {
        "uniform": partial(uniform, seed, n),
        "halves": partial(halves, n),
        "stride": partial(stride, n, k),
    }
    return map(chosen.get(parameters.generator, int), range(parameters.count))


def parameter_table(workload: Workload, phase: Phase) -> str:
    """The name of the table whose rows the phase's parameters come from; empty when it takes none."""
    return (phase.parameters.table or phase.table) if phase.parameters else ""


def parameter_rows(workload: Workload, phase: Phase) -> tuple[tuple[Column, ...], Iterator[Row]]:
    """The columns of the phase's placeholders and the parameter row of each position; both empty without parameters."""
    if phase.parameters is None:
        return (), iter(())
    table = workload.tables[parameter_table(workload, phase)]
    by_name = {column.name: column for column in table.columns}
    names = phase.parameters.columns or tuple(by_name)
    return tuple(by_name[name] for name in names), map(row_maker(table, names), parameter_indexes(phase.parameters))


_ESCAPES = str.maketrans({"\\": "\\\\", "|": "\\|", "\n": "\\n", "\r": "\\r"})


def delimited_value(value: Any) -> str:
    """One value as it stands in TABLE.tbl (runners/PROTOCOL.md)."""
    if value is None:
        return "\\N"
    if isinstance(value, str):
        return value.translate(_ESCAPES)
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, Decimal):
        return plain_decimal(value)
    if isinstance(value, bytes):
        return "\\\\x" + value.hex()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, tuple):  # an interval in ISO 8601, to the microsecond
        months, days, nanoseconds = value
        seconds, fraction = divmod(abs(nanoseconds) // 1000, 1_000_000)
        return f"P{months}M{days}DT{'-' if nanoseconds < 0 else ''}{seconds}.{fraction:06d}S"
    if isinstance(value, list):
        return "{" + ",".join("NULL" if element is None else str(element) for element in value) + "}"
    return str(value)  # int, float (shortest round trip), date, time, UUID


def kept_file(table: Table) -> Path | None:
    """The file that holds exactly the table's rows as TABLE.tbl, no one's to change; None where none is kept."""
    if table.generator not in tpch.SOURCES or tuple(c.name for c in table.columns) != GENERATORS[table.generator]:
        return None
    return tpch.file_of(table)


@contextlib.contextmanager
def delimited_file(folder: Path, name: str, table: Table) -> Iterator[Path]:
    """The table's rows as a delimited file to load from: the one that is kept, else one in `folder` until the end."""
    if kept := kept_file(table):
        yield kept
        return
    file = folder / f"{name}.tbl"
    write_delimited(file, table)
    yield file
    file.unlink()


def write_delimited(path: Path, table: Table) -> None:
    """Write the table's rows as TABLE.tbl, `|` between values."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines("|".join(map(delimited_value, row)) + "\n" for row in rows(table))


def write_quoted(path: Path, table: Table) -> None:
    """Write the table's rows as RFC 4180 has them, texts in quotes, below a header."""

    def field(value: Any) -> str:
        if isinstance(value, str):
            return '"' + value.replace('"', '""') + '"'
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else delimited_value(value)

    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(field(column.name) for column in table.columns) + "\n")
        file.writelines(",".join(map(field, row)) + "\n" for row in rows(table))
