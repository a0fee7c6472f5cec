"""Touching data frames of pandas with its own functions, and their rows as natural values."""

from datetime import datetime, time
from decimal import Decimal
from operator import attrgetter

import numpy as np
import pandas as pd

from core.adapter import Unsupported
from core.touch import FLOAT_LIMIT
from families.columnar.sampler import Library, natural_uuid

EXACT_BITS = 53  # of the integers that floating point holds


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
    return 5 * len(values)


TOUCHES = {
    "integer": _integer,
    "boolean": _boolean,
    "decimal": _decimal,
    **dict.fromkeys(("float32", "float64"), _float),
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
    wide = column.type == "integer" and column.bits > EXACT_BITS

    def touched(values):
        nulls = 0
        if wide and values.dtype.kind == "f":
            raise Unsupported(
                f"column {column.name}: pandas makes floating point of integers with NULL: {EXACT_BITS} bits"
            )
        if column.nullable:
            there = values.dropna()
            nulls, values = len(values) - len(there), there
        if not len(values):  # which may be of any type
            return nulls
        return nulls + fold(convert(values) if convert else values)

    return touched


def _moment(value):
    return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value


def _day(value):
    return value.date() if isinstance(value, datetime) else value


def _elements(value):
    return [None if pd.isna(element) else int(element) for element in value]


def _interval(value):
    if not isinstance(value, pd.DateOffset):  # what Arrow's becomes
        return value
    parts = value.kwds
    return parts.get("months", 0), parts.get("days", 0), parts.get("microseconds", 0) * 1000 + parts["nanoseconds"]


NATURAL = {
    "integer": int,
    "boolean": bool,
    "date": _day,
    "timestamp": _moment,
    "timestamptz": _moment,
    "uuid": natural_uuid,
    "array": _elements,
    "interval": _interval,
}


class Frames(Library):
    """Data frames of pandas; columns of the types `as_text` arrive as text."""

    def __init__(self, columns, as_text=()):
        self._columns = columns
        self._converters = [FROM_TEXT[column.type] if column.type in as_text else None for column in columns]
        self._touches = [touch(*pair) for pair in zip(columns, self._converters, strict=True)]
        self.converted = [c.name for c, convert in zip(columns, self._converters, strict=True) if convert]

    def fold(self, batch):
        return sum([touch(batch.iloc[:, i]) for i, touch in enumerate(self._touches)]), len(batch)

    def rows(self, batch):
        columns = []
        for i, (column, convert) in enumerate(zip(self._columns, self._converters, strict=True)):
            values = batch.iloc[:, i]
            missing = values.isna() if column.nullable else pd.Series(False, values.index)
            if convert:
                values = convert(values[~missing]).reindex(values.index)
            natural = True.__and__ if column.type == "opaque" else NATURAL.get(column.type, lambda value: value)
            pairs = zip(values.astype(object).tolist(), missing.tolist(), strict=True)
            columns.append([None if null else natural(value) for value, null in pairs])
        return zip(*columns, strict=True)

    def types(self, batch):
        return [str(kind) for kind in batch.dtypes]
