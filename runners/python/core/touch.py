"""The touch sum (docs/codec.md): what each value of a row adds to it."""

MASK64 = (1 << 64) - 1
FLOAT_LIMIT = 9007199254740992.0


def touch_expression(column, name):
    """Python source of what the value in variable `name` adds to the touch sum; no dispatch is left at run time."""
    kind = column.type
    if kind in ("integer", "boolean"):
        source = name
    elif kind == "decimal":
        source = f"int({name})"
    elif kind in ("float32", "float64"):
        source = f"(int({name}) if -{FLOAT_LIMIT!r} < {name} < {FLOAT_LIMIT!r} else 3)"
    elif kind in ("char", "varchar", "text", "json", "binary"):
        source = f"len({name})"
    elif kind == "date":
        source = f"{name}.day"
    elif kind in ("time", "timestamp", "timestamptz"):
        source = f"{name}.second"
    else:
        source = "5"
    return f"(1 if {name} is None else {source})" if column.nullable else source


def touch_text(total):
    """The sum as the protocol writes it: 16 hexadecimal digits."""
    return f"{total & MASK64:016x}"
