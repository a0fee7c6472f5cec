"""Touching data frames of pandas with its own functions, and their rows as natural values."""

import math
from datetime import time
from decimal import Decimal
from operator import attrgetter

import numpy as np
import pandas as pd

from core.iso import Nanoseconds
from core.sampler import careful
from core.touch import FLOAT_LIMIT, OTHER, touch_function
from families.columnar.sampler import Library

UNITS_NS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1000, "ns": 1}
FLOATS = ("float32", "float64")


def _integer(values):
    # Floating point, where a NULL is among them.
    return int((values if values.dtype == object else values.astype("int64")).sum())


def _boolean(values):
    return int(values.astype(bool).sum())


def _decimal(values):
    return int(values.map(int).sum())


def _float(values):
    numbers = values.to_numpy("float64")
    small = np.abs(numbers) < FLOAT_LIMIT
    return int(numbers[small].astype("int64").sum()) + 3 * int(np.count_nonzero(~small))


def _text(values):
    return int(values.str.len().sum())


def _binary(values):
    return int(values.map(len).sum())


def _moments(values):
    return pd.to_datetime(values) if values.dtype == object else values


def _date(values):
    return int(_moments(values).dt.day.sum())


def _timestamp(values):
    return int(_moments(values).dt.second.sum())


def _time(values):
    return int(values.map(attrgetter("second")).sum())


def _five(values):
    return OTHER * len(values)


TOUCHES = {
    "integer": _integer,
    "boolean": _boolean,
    "decimal": _decimal,
    **dict.fromkeys(FLOATS, _float),
    **dict.fromkeys(("char", "varchar", "text", "json"), _text),
    "binary": _binary,
    "date": _date,
    "time": _time,
    **dict.fromkeys(("timestamp", "timestamptz"), _timestamp),
}
# From text to the column's own type, for a series without NULL.
FROM_TEXT = {
    "decimal": lambda values: values.map(Decimal),
    "date": lambda values: pd.to_datetime(values, format="%Y-%m-%d"),
    "time": lambda values: values.map(time.fromisoformat),
    "timestamp": lambda values: pd.to_datetime(values, format="ISO8601"),
}


def touch(column, convert):
    """What a column of a frame adds to the touch sum."""
    fold = TOUCHES.get(column.type, _five)
    of_any = touch_function(column)

    def touched(values):
        nulls, there = 0, values
        if column.nullable:
            there = values.dropna()
            if column.type == "decimal" and len(there) < len(values):  # to pandas a decimal that is no number is none
                there = values[~missing(values, column)]
            nulls = len(values) - len(there)
        if not len(there):  # which may be of any type
            return nulls
        try:
            return nulls + fold(convert(there) if convert else there)
        except Exception:  # values that these functions do not take
            return nulls + sum(map(of_any, there.astype(object).tolist()))

    return touched


def missing(values, column):
    """Which values are NULL; of floating point pandas cannot say which are NULL and which are no number."""
    if column.type in FLOATS and not column.nullable:
        return pd.Series(False, values.index)
    found = values.isna()
    return found & ~values.map(lambda value: isinstance(value, Decimal)) if values.dtype == object else found


def _elements(value, column):
    """A list of a NumPy array: where integers have a NULL among them, it is floating point."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list) or column.type != "array":
        return value
    [element] = column.fields
    inner = element if element.type == "array" else column
    return [
        _elements(one, inner)
        if isinstance(one, (list, np.ndarray))
        else _interval(one)
        if isinstance(one, pd.DateOffset)
        else None
        if isinstance(one, float) and math.isnan(one) and element.type not in (*FLOATS, "decimal")
        else one
        for one in value
    ]


def _interval(value):
    if not isinstance(value, pd.DateOffset):  # what Arrow's becomes
        return value
    parts = value.kwds
    return parts.get("months", 0), parts.get("days", 0), parts.get("microseconds", 0) * 1000 + parts["nanoseconds"]


def _moment(value):
    """A moment beyond Python's years as nanoseconds."""
    if not isinstance(value, pd.Timestamp) or 1 <= value.year <= 9999:
        return value
    counted = value.asm8
    return Nanoseconds(int(counted.astype("int64")) * UNITS_NS[np.datetime_data(counted.dtype)[0]])


def natural(column, read):
    """A function of one value of the column: the natural one, of what is pandas' own."""
    if column.type == "opaque":
        return True.__and__
    own = {
        "interval": _interval,
        "array": lambda value: _elements(value, column),
        **dict.fromkeys(("date", "timestamp", "timestamptz"), _moment),
    }.get(column.type)
    return lambda value: careful(read)(careful(own)(value))


class Frames(Library):
    """Data frames of pandas; columns of the types `as_text` arrive as text; `readers` are an `Operation`'s."""

    def __init__(self, columns, as_text=(), readers=()):
        self._columns = columns
        self._converters = [FROM_TEXT[column.type] if column.type in as_text else None for column in columns]
        self._touches = [touch(*pair) for pair in zip(columns, self._converters, strict=True)]
        self._natural = [natural(*pair) for pair in zip(columns, readers or [None] * len(columns), strict=True)]
        self.converted = [c.name for c, convert in zip(columns, self._converters, strict=True) if convert]

    def fold(self, batch):
        return sum([touch(batch.iloc[:, i]) for i, touch in enumerate(self._touches)]), len(batch)

    def rows(self, batch):
        if not self._columns:
            return iter([()] * len(batch))
        columns = []
        for i, (column, convert, natural) in enumerate(
            zip(self._columns, self._converters, self._natural, strict=True)
        ):
            values = batch.iloc[:, i]
            null = missing(values, column)
            if convert:
                values = careful(lambda values, convert=convert, null=null: convert(values[~null]).reindex(null.index))(
                    values
                )
            pairs = zip(values.astype(object).tolist(), null.tolist(), strict=True)
            columns.append([None if absent else natural(value) for value, absent in pairs])
        return zip(*columns, strict=True)

    def types(self, batch):
        return [str(kind) for kind in batch.dtypes]
