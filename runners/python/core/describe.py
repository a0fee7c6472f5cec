"""What a query's columns are, as the protocol's `describe` has it: the engine's types as the codec's.

A type that the codec lacks is `text` only where every driver delivers the same text of it; else it is `opaque`.
"""


def described(name, kind, engine_type, nullable=True, **size):
    """A column as one of the codec's types; `size` has its `length`, `precision` and `scale`, `bits`, or `fields`."""
    return {"name": name, "type": kind, "engine_type": engine_type, "nullable": nullable, **size}


def opaque(name, engine_type, nullable=True):
    """A column that drivers hand over in different forms: it is delivered, and compared only as NULL or not."""
    return described(name, "opaque", engine_type, nullable)


def decimal(name, engine_type, precision, scale, nullable=True):
    """A decimal column; a scale below zero, or above the precision, widens the precision (0: not known)."""
    if precision:
        precision = max(precision, scale) if scale >= 0 else precision - scale
    return described(name, "decimal", engine_type, nullable, precision=precision, scale=max(scale, 0))


def array(name, engine_type, element, nullable=True):
    """An array of elements as `element` describes them; opaque where they are."""
    return nested(name, "array", engine_type, [element], nullable)


def nested(name, kind, engine_type, fields, nullable=True):
    """A column of a type with fields, each a description; opaque where one of them is."""
    if any(field["type"] == "opaque" for field in fields):
        return opaque(name, engine_type, nullable)
    spare = {"engine_type", "name"} if kind == "array" else {"engine_type"}
    inner = [{key: value for key, value in field.items() if key not in spare} for field in fields]
    return described(name, kind, engine_type, nullable, fields=[{"name": ""} | field for field in inner])
