"""The touch sum (docs/codec.md): what each value of a row adds to it."""

from core import iso
from core.codec import BYTES, float_of, number_of, time_of
from core.iso import SECOND_NS, Days, Nanoseconds

MASK64 = (1 << 64) - 1
FLOAT_LIMIT = 9007199254740992.0
OTHER = 5  # what a value of another kind than its column's adds
NO_NUMBER = 3


def touch_expression(column, name):
    """Python source of what the value in variable `name` adds to the touch sum; no dispatch is left at run time.

    It fails, or gives what is no int, for a value of another kind than its column's: `touch_row` knows those.
    """
    kind = column.type
    if kind in ("integer", "boolean"):
        source = name
    elif kind == "decimal":
        source = f"int({name})"
    elif kind in ("float32", "float64"):
        source = f"(int({name}) if -{FLOAT_LIMIT!r} < {name} < {FLOAT_LIMIT!r} else {NO_NUMBER})"
    elif kind in ("char", "varchar", "text", "json", "binary"):
        source = f"len({name})"
    elif kind == "date":
        source = f"{name}.day"
    elif kind in ("time", "timetz", "timestamp", "timestamptz"):
        source = f"{name}.second"
    else:
        source = f"{OTHER}"
    return f"(1 if {name} is None else {source})" if column.nullable else source


def touch_function(column, noticed=int):
    """A function of one value of any kind, NULL too: what it adds. It never fails.

    `noticed` is called for a value whose kind is another while the expression does not fail.
    """
    scope = {}
    exec(f"def usual(value):\n    return {touch_expression(column, 'value')}", scope)
    usual = scope["usual"]

    def touch(value):
        try:
            touched = usual(value)
        except Exception:
            return unusual(value, column)
        if isinstance(touched, int):
            return touched
        noticed()
        return unusual(value, column)

    return touch


def unusual(value, column):
    """What a value of another kind than its column's adds: where it is or spells one of that kind, the same."""
    if value is None:
        return 1
    try:
        return int(OTHERS.get(column.type, _other)(value, column))
    except Exception:
        return OTHER


def _other(_value, _column):
    return OTHER


def _number(value, column):
    number = number_of(value, column)
    return number if isinstance(number, int) or number.is_finite() else NO_NUMBER


def _float(value, column):
    number = float_of(value, column)
    return number if -FLOAT_LIMIT < number < FLOAT_LIMIT else NO_NUMBER


def _length(value, _column):
    return len(value)


def _moment(value):
    return iso.moment(bytes(value).decode() if isinstance(value, BYTES) else value)


def _day(value, _column):
    if isinstance(value, Nanoseconds):
        return Days(value // (86400 * SECOND_NS)).day
    return _moment(value).day[2]


def _second(value, column):
    return abs(time_of(value, column)[0]) // SECOND_NS % 60


def _second_of_instant(value, _column):
    return 0 if isinstance(value, Days) else (_moment(value).time_ns or 0) // SECOND_NS % 60


OTHERS = {
    "integer": _number,
    "boolean": _number,
    "decimal": _number,
    **dict.fromkeys(("float32", "float64"), _float),
    **dict.fromkeys(("char", "varchar", "text", "json", "binary"), _length),
    "date": _day,
    "time": _second,
    "timetz": _second,
    "timestamp": _second_of_instant,
    "timestamptz": _second_of_instant,
}


def touch_text(total):
    """The sum as the protocol writes it: 16 hexadecimal digits."""
    return f"{total & MASK64:016x}"
