"""Touching Arrow batches with pyarrow's kernels, batches as rows, and rows as an Arrow table."""

import pyarrow as pa
import pyarrow.compute as pc

from core.touch import FLOAT_LIMIT
from families.arrow.schema import arrow_type
from families.columnar.sampler import Library, natural_uuid


def arrow_rows(table):
    """The rows of a table or batch as tuples of Python values, made column by column."""
    return zip(*map(_python_values, table.columns), strict=True)


def _python_values(values):
    """The values as Python has them: it has no nanoseconds."""
    kind = values.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        values = pc.cast(values, pa.timestamp("us", kind.tz), safe=False)
    elif pa.types.is_time64(kind) and kind.unit == "ns":
        values = pc.cast(values, pa.time64("us"), safe=False)
    return values.to_pylist()


def from_text(column):
    """A function from texts to this column's own type; None where Arrow's cast has none."""
    if column.type in ("decimal", "date", "timestamp"):
        to = arrow_type(column)
        return lambda values: pc.cast(values, to)
    if column.type == "time":
        return lambda values: pc.cast(pc.strptime(values, format="%H:%M:%S", unit="us"), pa.time64("us"))
    return None


def _sum(values):
    return pc.sum(values, min_count=0).as_py()


def _integer(values):
    return int(_sum(values))  # one of 128 bits arrives as a decimal


def _decimal(values):
    kind = values.type
    if not pa.types.is_decimal(kind):  # an integer of 64 bits without a sign
        return _integer(values)
    if kind.precision == kind.scale:  # truncating needs a digit before the point
        values = pc.cast(values, pa.decimal256(kind.precision + 1, kind.scale))
    return int(_sum(pc.trunc(values)))


def _float(values):
    small = pc.less(pc.abs(values), FLOAT_LIMIT)
    return _sum(pc.cast(pc.if_else(small, pc.trunc(values), 3.0), pa.int64()))


def _text(values):
    if pa.types.is_dictionary(values.type):  # an enumeration
        values = pc.cast(values, pa.string())
    return _sum(pc.utf8_length(values))


def _json(values):
    return _sum(pc.utf8_length(pc.cast(values, pa.string())))  # Arrow has a type of its own for it, kept as a string


def _binary(values):
    return _sum(pc.binary_length(values))


def _date(values):
    return _sum(pc.day(values))


def _second(values):
    return _sum(pc.second(values))


def _five(values):
    return 5 * (len(values) - values.null_count)


KERNELS = {
    "integer": _integer,
    "boolean": _sum,
    "decimal": _decimal,
    **dict.fromkeys(("float32", "float64"), _float),
    **dict.fromkeys(("char", "varchar", "text"), _text),
    "json": _json,
    "binary": _binary,
    "date": _date,
    **dict.fromkeys(("time", "timestamp", "timestamptz"), _second),
}


def kernel(column, convert):
    """What a column of a batch adds to the touch sum."""
    touch = KERNELS.get(column.type, _five)
    converted = (lambda values: touch(convert(values))) if convert else touch
    if not column.nullable:
        return converted

    def nullable(values):
        nulls = values.null_count
        return nulls + (converted(values) if nulls < len(values) else 0)  # nothing but NULL may be of any type

    return nullable


class Arrow(Library):
    """Tables and record batches of pyarrow; `converters` has a function for each column that must be converted."""

    def __init__(self, columns, converters=()):
        self._columns = columns
        self._converters = converters or [None] * len(columns)
        self._kernels = [kernel(*pair) for pair in zip(columns, self._converters, strict=True)]
        self.converted = [c.name for c, convert in zip(columns, self._converters, strict=True) if convert]

    def fold(self, batch):
        if not batch.num_rows:  # whose columns may be of any type
            return 0, 0
        kernels = zip(self._kernels, batch.columns, strict=True)
        return sum([touch(values) for touch, values in kernels]), batch.num_rows

    def rows(self, batch):
        columns = []
        for column, convert, values in zip(self._columns, self._converters, batch.columns, strict=True):
            if column.type == "opaque":  # of some types Arrow has values that Python has none for
                columns.append([valid or None for valid in values.is_valid().to_pylist()])
                continue
            needed = convert and values.null_count < len(values)
            plain = _python_values(convert(values) if needed else values)
            columns.append(map(natural_uuid, plain) if column.type == "uuid" else plain)
        return zip(*columns, strict=True)

    def types(self, batch):
        return [str(field.type) for field in batch.schema]


AGGREGATES = {"sum": pc.sum, "min": pc.min, "max": pc.max}


def arrow_aggregate(batches, wanted):
    """One row of (function, column, name) over all batches, each batch's own first."""
    rows = [_one_row(batch, wanted) for batch in batches]
    again = [("sum" if function == "count" else function, name, name) for function, _, name in wanted]
    return _one_row(pa.Table.from_batches(rows), again)


def _one_row(batch, wanted):
    found = {}
    for function, column, name in wanted:
        value = pa.scalar(batch.num_rows) if function == "count" else AGGREGATES[function](batch.column(column))
        found[name] = pa.array([value.as_py()], value.type)
    return pa.RecordBatch.from_pydict(found)
