"""Declared columns as an Arrow schema, rows as an Arrow table."""

import pyarrow as pa

from core.adapter import Unsupported

DECIMAL_DIGITS = 76  # the most that one of Arrow's has
INTEGERS = {16: pa.int16(), 32: pa.int32(), 64: pa.int64(), 128: pa.decimal128(38, 0)}
TYPES = {
    "float32": pa.float32(),
    "float64": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "interval": pa.month_day_nano_interval(),
    "uuid": pa.uuid(),
}


def arrow_type(column):
    """The Arrow type of a declared column."""
    if column.type == "integer":
        return INTEGERS[column.bits]
    if column.type == "array":
        return pa.list_(INTEGERS[column.bits])
    if column.type == "decimal":
        return decimal_type(column)
    return TYPES.get(column.type, pa.string())


def decimal_type(column):
    """The Arrow type of a declared decimal; Unsupported without a precision that one of them has."""
    if not 0 < column.precision <= DECIMAL_DIGITS:
        declared = f"precision {column.precision}" if column.precision else "no bound"
        raise Unsupported(f"column {column.name}: Arrow has no decimal of {declared}")
    return (pa.decimal128 if column.precision <= 38 else pa.decimal256)(column.precision, column.scale)


def arrow_schema(columns):
    """The declared columns, exactly typed."""
    return pa.schema([pa.field(column.name, arrow_type(column), column.nullable) for column in columns])


def arrow_table(rows, schema):
    """Rows of natural values, tuples or lists, as an Arrow table of this schema."""
    values = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.table([pa.array(one, field.type) for one, field in zip(values, schema, strict=True)], schema=schema)
