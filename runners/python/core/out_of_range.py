"""Legal values of an engine that Python, or the driver, has no value for: the year 12000, 24:00, 44 BC, infinity."""

import re
from contextlib import contextmanager

from core.adapter import Unsupported

# Python's own words, and the drivers', for a date or time that their types have no room for.
OUT_OF_RANGE = re.compile(
    r"out of range|too (large|small)|must be in \d|must have magnitude|must be >= 1|not supported by Python"
    r"|can't parse (date|time|interval)"
    r"|^Invalid isoformat string: '(-?infinity|\d{5,}-.*|.* BC|24:.*)'|safely convert"
)
TEMPORAL = ("date", "time", "timestamp", "timestamptz", "interval")


@contextmanager
def as_unsupported(columns):
    """Errors about such a value become Unsupported, with the names of the columns that can hold it."""
    try:
        yield
    except Unsupported:
        raise
    except Exception as error:
        names = ", ".join(f"{column.name} ({column.type})" for column in columns if column.type in TEMPORAL)
        text = str(error.__cause__ or error)
        if not names or not OUT_OF_RANGE.search(text):
            raise
        raise Unsupported(f"column {names}: a value that Python or the driver has no room for: {text}") from error
