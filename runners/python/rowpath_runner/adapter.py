"""What an adapter of this runner is: one class called `Adapter` in one small file per driver under adapters/."""

from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from uuid import UUID


class Unsupported(Exception):
    """A point of the lattice that does not exist here; the text says why, for people."""


class Adapter:
    """One driver. Every method may raise the driver's own errors; `errors` lists their classes.

    `bulk_ways` names the driver's bulk ways of storing rows, the quickest first; `concurrency` how several clients
    run at once.
    """

    errors = ()
    bulk_ways = ()
    concurrency = "threads"

    def __init__(self, options):
        self.options = options

    def connect(self):
        """Connect and log in: the part of `open` that is timed. Returns notes on the connection (`delivers`)."""
        return {}

    def another(self):
        """One more client's adapter, with a connection of its own; called in the thread that will use it."""
        other = type(self)(self.options)
        other.connect()
        return other

    def server_pid(self):
        """The process that serves this connection, or None."""

    def prepare(self, phase, parameters):
        """A `Work` for the phase; `parameters` is a list of tuples of natural values, or None."""
        raise NotImplementedError

    def transaction(self, phase):
        """(begin, commit, rollback), called around each operation inside the clock; None in autocommit."""
        if not phase.transaction:
            return None
        return partial(self.run, "BEGIN"), partial(self.run, "COMMIT"), partial(self.run, "ROLLBACK")

    def bulk(self, phase, way):
        """A `Work` that stores a list of rows of natural values in `phase.table`, committed, by one of `bulk_ways`."""
        raise NotImplementedError

    def cancel(self):
        """Stop what the connection is executing, the driver's own way; called from another thread."""
        raise Unsupported("this driver has no way to stop a statement")

    def set_timeout(self, milliseconds):
        """Let no statement run longer, the driver's own way."""
        raise Unsupported("this driver has no statement timeout")

    def describe(self, sql):
        """The columns that a query delivers, as the protocol's objects; of a file `sql` is the table's name."""
        raise Unsupported("this driver says nothing of a query's columns that is not known better elsewhere")

    def run(self, statement):
        """Execute one statement and commit it."""
        raise Unsupported("this driver executes no SQL")

    def facts(self):
        """`driver_version`, `engine_version`, `build`, `libraries`, `settings`, as read from the live connection."""
        return {}

    def close(self):
        """Close the connection."""

    def code(self, error):
        """The driver's own code of one of its errors."""
        return type(error).__name__


class Phase:
    """The phase of a `prepare` request; `columns` and `parameter_columns` are lists of codec.Column."""

    def __init__(self, spec, column):
        self.name = spec["name"]
        self.kind = spec["kind"]
        self.way = spec.get("way", "")
        self.rows_per_operation = spec.get("rows_per_operation", 1)
        self.sql = spec.get("sql", "")
        self.table = spec.get("table", "")
        self.scan = spec.get("scan", False)
        self.access = spec.get("access", "")
        self.transaction = spec.get("transaction", "autocommit") == "transaction" or self.kind == "load"
        self.stamps = spec.get("stamps", False)
        self.columns = [column(one) for one in spec.get("columns", [])]
        self.parameter_columns = [column(one) for one in spec.get("parameter_columns", [])]
        self.table_columns = [column(one) for one in spec.get("table_columns", [])]
        self.key_columns = spec.get("key_columns", [])


def literal(value):
    """A value as it stands inside SQL, for engines that keep to the standard and know `\\x` of bytes."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    if isinstance(value, datetime):
        value = value.isoformat(" ")
    text = format(value, "f") if isinstance(value, Decimal) else str(value)
    return "'" + text.replace("'", "''") + "'"


def with_literals(sql, row, literal):
    """The SQL with its `?` placeholders replaced by `literal(value)` of each value of the row."""
    first, *rest = split_placeholders(sql)
    return first + "".join([literal(value) + part for value, part in zip(row, rest, strict=True)])


def split_placeholders(sql):
    """The SQL between its `?` placeholders; a `?` inside quotes is no placeholder."""
    parts, quote = [""], ""
    for character in sql:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "?":
            parts.append("")
            continue
        parts[-1] += character
    return parts


def formatted(sql):
    """The SQL with `%s` for its placeholders."""
    return "%s".join(part.replace("%", "%%") for part in split_placeholders(sql))


def _boolean(text):
    return text == "t"


def _binary(text):
    return bytes.fromhex(text[2:])


def _array(text):
    return [None if element == "NULL" else int(element) for element in text[1:-1].split(",") if element]


def interval(text):
    """An interval in ISO 8601 as (months, days, nanoseconds)."""
    days, _, clock = text[1:].partition("T")
    amounts = {"Y": 0, "M": 0, "W": 0, "D": 0, "h": 0, "m": 0, "s": 0}
    for part, units in ((days, "YMWD"), (clock, "HMS")):
        number = ""
        for character in part:
            if character in units:
                amounts[character if units == "YMWD" else character.lower()] = Decimal(number)
                number = ""
            else:
                number += character
    seconds = amounts["h"] * 3600 + amounts["m"] * 60 + amounts["s"]
    return (int(amounts["Y"] * 12 + amounts["M"]), int(amounts["W"] * 7 + amounts["D"]), int(seconds * 1_000_000_000))


# The natural converter of each logical type that arrives as text; strings need none.
FROM_TEXT = {
    "integer": int,
    "decimal": Decimal,
    "float32": float,
    "float64": float,
    "boolean": _boolean,
    "binary": _binary,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "timestamptz": datetime.fromisoformat,
    "interval": interval,
    "uuid": UUID,
    "array": _array,
}
