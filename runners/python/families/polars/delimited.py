"""Delimited text files through polars. Imported after POLARS_MAX_THREADS is set."""

import polars as pl

from families.files.adapter import field_names, layout

INTEGERS = {16: pl.Int16, 32: pl.Int32, 64: pl.Int64}
TYPES = {
    "float32": pl.Float32,
    "float64": pl.Float64,
    "date": pl.Date,
    "time": pl.Time,
    "timestamp": pl.Datetime("us"),
    "timestamptz": pl.Datetime("us", "UTC"),
}
TRUTHS = ["true", "True", "TRUE"]


def scanned(source, phase, dialect):
    """The file without escapes, or the bytes of some of its records, as a lazy frame of the declared types."""
    columns = layout(phase)
    names = field_names(columns)
    # A dialect without NULL in it takes no value for one; polars tells an empty field from a quoted one by itself.
    nulls = {"null_values": ""} if dialect.null == "empty" else {}
    frame = pl.scan_csv(
        source,
        separator=dialect.delimiter,
        has_header=False,
        skip_rows=int(dialect.header),
        quote_char=dialect.quote or None,
        schema={name: _type(column) for name, column in zip(names, columns, strict=True)},
        glob=False,
        **({"null_values": "\\N", "empty_string_is_null": False} if dialect.own else nulls),
    )
    truths = ["t"] if dialect.own else TRUTHS
    booleans = [
        pl.col(name).is_in(truths) for name, column in zip(names, columns, strict=True) if column.type == "boolean"
    ]
    return frame.with_columns(booleans) if booleans else frame


def blank_lines(file):
    """How many blank lines end the file: polars makes rows of them, also where a row has several fields."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        opened.seek(max(0, size - (1 << 16)))
        end = opened.read().replace(b"\r", b"")
    return max(0, len(end) - len(end.rstrip(b"\n")) - 1)


def _type(column):
    if column.type == "integer":
        return INTEGERS[column.bits]
    if column.type == "decimal":
        return pl.Decimal(column.precision, column.scale)
    return TYPES.get(column.type, pl.String)
