"""Touching Arrow batches with pyarrow's kernels, batches as rows, and rows as an Arrow table."""

import pyarrow as pa
import pyarrow.compute as pc

from core.sampler import careful
from core.touch import FLOAT_LIMIT, OTHER, touch_function
from families.arrow.schema import DECIMAL_DIGITS, arrow_type
from families.arrow.values import natural_values
from families.columnar.sampler import Library

WHOLE = pa.decimal256(DECIMAL_DIGITS, 0)


def arrow_rows(table):
    """The rows of a table or batch as tuples of Python values, made column by column."""
    if not table.num_columns:
        return iter([()] * table.num_rows)
    return zip(*[natural_values(column) for column in table.columns], strict=True)


def from_text(column):
    """A function from texts to this column's own type; None where Arrow's cast has none."""
    if column.type == "decimal" and not 0 < column.precision <= DECIMAL_DIGITS:
        return None
    if column.type in ("decimal", "date", "timestamp"):
        to = arrow_type(column)
        return lambda values: pc.cast(values, to)
    if column.type == "time":
        return lambda values: pc.cast(pc.strptime(values, format="%H:%M:%S", unit="us"), pa.time64("us"))
    return None


def _storage(values):
    if isinstance(values, pa.ChunkedArray):
        return pa.chunked_array([chunk.storage for chunk in values.chunks], values.type.storage_type)
    return values.storage


def _sum(values):
    return pc.sum(values, min_count=0).as_py()


def _integer(values):
    return int(_sum(values))  # one of 128 bits arrives as a decimal


def _decimal(values):
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        values, kind = _storage(values), kind.storage_type
    if pa.types.is_string(kind):  # of no precision
        return int(_sum(pc.cast(pc.replace_substring_regex(values, r"\..*", ""), WHOLE)))
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
    return OTHER * (len(values) - values.null_count)


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
    of_any = touch_function(column)

    def touched(values):
        nulls = values.null_count
        if nulls == len(values):  # nothing but NULL may be of any type
            return nulls
        try:
            return nulls + converted(values)
        except Exception:  # values that the kernels do not take, one by one
            return sum(map(of_any, natural_values(values)))

    return touched


class Arrow(Library):
    """Tables and record batches of pyarrow; `converters` has a function for each column that must be converted.

    `readers` are an `Operation`'s.
    """

    def __init__(self, columns, converters=(), readers=()):
        self._columns = columns
        self._converters = converters or [None] * len(columns)
        self._readers = [careful(read) for read in readers or [None] * len(columns)]
        self._kernels = [kernel(*pair) for pair in zip(columns, self._converters, strict=True)]
        self.converted = [c.name for c, convert in zip(columns, self._converters, strict=True) if convert]

    def fold(self, batch):
        kernels = zip(self._kernels, batch.columns, strict=True)
        return sum([touch(values) for touch, values in kernels]), batch.num_rows

    def rows(self, batch):
        if not self._columns:
            return iter([()] * batch.num_rows)
        columns = []
        for column, convert, read, values in zip(
            self._columns, self._converters, self._readers, batch.columns, strict=True
        ):
            if column.type == "opaque":  # of some types Arrow has values that Python has none for
                columns.append([valid or None for valid in values.is_valid().to_pylist()])
                continue
            needed = convert and values.null_count < len(values)
            columns.append(map(read, natural_values(careful(convert)(values) if needed else values)))
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
