"""Touching polars data frames with polars' own expressions. Imported after POLARS_MAX_THREADS is set."""

import polars as pl

from core.sampler import careful
from core.touch import FLOAT_LIMIT, OTHER, touch_function
from families.columnar.sampler import Library
from families.polars.values import ERRORS, natural_values


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
    touch = EXPRESSIONS.get(column.type, lambda values: values.count().cast(pl.Int64) * OTHER)(values)
    return touch + values.null_count()


class Frames(Library):
    """Data frames of polars; `readers` are an `Operation`'s."""

    def __init__(self, columns, readers=()):
        self._columns = columns
        self._readers = [careful(read) for read in readers or [None] * len(columns)]
        # Names of its own: a query's may occur twice.
        self._touches = [expression(column, self.chosen(i, column)).alias(f"c{i}") for i, column in enumerate(columns)]
        self._of_any = [touch_function(column) for column in columns]

    def chosen(self, _number, column):
        """The expression that chooses a column."""
        return pl.col(column.name)

    def fold(self, batch):
        try:
            return sum(batch.select(self._touches).row(0)), batch.height
        except ERRORS:  # values that these expressions do not take
            return sum(map(self._one_by_one, self._touches, self._of_any, batch.get_columns())), batch.height

    def _one_by_one(self, touch, of_any, values):
        try:
            return values.to_frame().select(touch).item()
        except ERRORS:
            return sum(map(of_any, natural_values(values)))

    def rows(self, batch):
        if not self._columns:
            return iter([()] * batch.height)
        columns = []
        for column, read, values in zip(self._columns, self._readers, batch.get_columns(), strict=True):
            if column.type == "opaque":
                columns.append([there or None for there in values.is_not_null().to_list()])
            else:
                columns.append(map(read, natural_values(values)))
        return zip(*columns, strict=True)

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
