"""Touching polars data frames with polars' own expressions. Imported after POLARS_MAX_THREADS is set."""

import polars as pl

from core.touch import FLOAT_LIMIT
from families.columnar.sampler import Library, natural_uuid


def _float(values):
    small = values.abs() < FLOAT_LIMIT
    whole = values.cast(pl.Int64, strict=False)
    return pl.when(small).then(whole).when(values.is_not_null()).then(3).otherwise(0).sum()


def _of_bytes(values):
    return values.bin.size().cast(pl.Int64).sum()


def _of_characters(values):
    return values.cast(pl.String).str.len_chars().cast(pl.Int64).sum()  # only enumerations are really cast


def _second(values):
    return values.dt.second().cast(pl.Int64).sum()


EXPRESSIONS = {
    "integer": lambda values: values.cast(pl.Int64).sum(),
    "boolean": lambda values: values.cast(pl.Int64).sum(),
    "decimal": lambda values: values.cast(pl.Int128).sum(),
    "float32": _float,
    "float64": _float,
    "char": _of_characters,
    "varchar": _of_characters,
    "text": _of_characters,
    "json": _of_characters,
    "binary": _of_bytes,
    "date": lambda values: values.dt.day().cast(pl.Int64).sum(),
    "time": _second,
    "timestamp": _second,
    "timestamptz": _second,
}


def expression(column, values):
    """What a column of a frame adds to the touch sum; `values` is the expression that chooses it."""
    touch = EXPRESSIONS.get(column.type, lambda values: values.count().cast(pl.Int64) * 5)(values)
    return (touch + values.null_count() if column.nullable else touch).alias(column.name)


class Frames(Library):
    """Data frames of polars."""

    def __init__(self, columns):
        self._columns = columns
        self._touches = [expression(column, self.chosen(i, column)) for i, column in enumerate(columns)]

    def chosen(self, _number, column):
        """The expression that chooses a column."""
        return pl.col(column.name)

    def fold(self, batch):
        return sum(batch.select(self._touches).row(0)), batch.height

    def rows(self, batch):
        uuids = [column.type == "uuid" for column in self._columns]
        for row in batch.iter_rows():
            yield [natural_uuid(value) if uuid else value for value, uuid in zip(row, uuids, strict=True)]

    def types(self, batch):
        return [str(kind) for kind in batch.dtypes]


def aggregate_expressions(wanted, columns):
    """The expressions of (function, column, name) over a frame with these columns."""
    integers = {column.name for column in columns if column.type == "integer"}
    found = []
    for function, column, name in wanted:
        if function == "count":
            found.append(pl.len().alias(name))
            continue
        values = pl.col(column)
        if function == "sum" and column in integers:
            values = values.cast(pl.Int64)  # polars sums 32 bits in 32 bits
        found.append(getattr(values, function)().alias(name))
    return found
