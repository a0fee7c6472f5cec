"""Values of MariaDB and MySQL: inside the SQL, as LOAD DATA reads them, and as their drivers deliver them."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from uuid import UUID

ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\0": "\\0"})
FIELD_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\0": "\\0"})
MIDNIGHT = datetime(1970, 1, 1)


def time_of_day(duration):
    """TIME is a duration; ValueError for one that is no time of a day."""
    if duration.days:
        raise ValueError(f"{duration} is out of range: no time of a day")
    return (MIDNIGHT + duration).time()


# The natural type of what every one of these drivers delivers as another: TIME is a duration to them, time zones and
# UUIDs are unknown.
NATURAL = {
    "time": time_of_day,
    "timestamptz": lambda moment: moment.replace(tzinfo=UTC),
    "uuid": UUID,
}


def as_text(value):
    """Text that some drivers hand over as bytes: JSON of MySQL, and whatever is of a binary collation."""
    return value if isinstance(value, str) else value.decode()


def literal(value):
    """A value as it stands inside the SQL of MariaDB and MySQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    return f"'{_moment(value).translate(ESCAPES)}'"


def field(value):
    """A value as LOAD DATA reads it, in bytes."""
    if value is None:
        return b"\\N"
    if isinstance(value, bytes):
        return value.decode("latin-1").translate(FIELD_ESCAPES).encode("latin-1")
    if isinstance(value, bool):
        return b"1" if value else b"0"
    text = format(value, "f") if isinstance(value, Decimal) else _moment(value)
    return text.translate(FIELD_ESCAPES).encode()


def _moment(value):
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ")  # the session's time zone is UTC
    return value.isoformat() if isinstance(value, (date, time)) else str(value)
