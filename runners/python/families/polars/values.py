"""Python values of polars', also of those that Python's own types would cut or refuse."""

import polars as pl

from core.iso import Days, Nanoseconds

# A panic of Rust's is no Exception.
ERRORS = (Exception, pl.exceptions.PanicException)
UNITS_NS = {"ms": 1_000_000, "us": 1000, "ns": 1}


def natural_values(values):
    """The values of a series, in Python's own types where these have room for them."""
    if not _finer(values.dtype):
        try:
            return values.to_list()
        except ERRORS:  # the year 12000: by its number
            pass
    return _exact(values)


def _finer(kind):
    """Whether there are nanoseconds in it."""
    if isinstance(kind, (pl.List, pl.Array)):
        return _finer(kind.inner)
    if isinstance(kind, pl.Struct):
        return any(_finer(field.dtype) for field in kind.fields)
    return kind == pl.Time or getattr(kind, "time_unit", "") == "ns"


def _exact(values):
    kind = values.dtype
    if isinstance(kind, pl.Datetime) or kind == pl.Time:
        unit_ns = UNITS_NS[getattr(kind, "time_unit", "ns")]
        return [None if one is None else Nanoseconds(one * unit_ns) for one in values.to_physical().to_list()]
    if kind == pl.Date:
        return [None if one is None else Days(one) for one in values.to_physical().to_list()]
    if isinstance(kind, (pl.List, pl.Array)):
        return [None if one is None else _exact(one) for one in values]
    if isinstance(kind, pl.Struct):
        members = [_exact(values.struct.field(field.name)) for field in kind.fields]
        rows = zip(*members, strict=True)
        return [row if there else None for row, there in zip(rows, values.is_not_null().to_list(), strict=True)]
    return values.to_list()
