"""Delimited text files through polars. Imported after POLARS_MAX_THREADS is set."""

import polars as pl

from families.files.adapter import layout

INTEGERS = {16: pl.Int16, 32: pl.Int32, 64: pl.Int64}
TYPES = {
    "float32": pl.Float32,
    "float64": pl.Float64,
    "date": pl.Date,
    "time": pl.Time,
    "timestamp": pl.Datetime("us"),
    "timestamptz": pl.Datetime("us", "UTC"),
}


def scanned(source, phase, delimiter):
    """The file without escapes, or the bytes of some of its records, as a lazy frame of the declared types."""
    columns = layout(phase)
    frame = pl.scan_csv(
        source,
        separator=delimiter,
        has_header=False,
        quote_char=None,
        schema={column.name: _type(column) for column in columns},
        null_values="\\N",
        empty_string_is_null=False,
        glob=False,
    )
    booleans = [pl.col(column.name) == "t" for column in columns if column.type == "boolean"]
    return frame.with_columns(booleans) if booleans else frame


def _type(column):
    if column.type == "integer":
        return INTEGERS[column.bits]
    if column.type == "decimal":
        return pl.Decimal(column.precision, column.scale)
    return TYPES.get(column.type, pl.String)
