"""Python values of Arrow's, also of those that Python's own types would cut or refuse."""

import pyarrow as pa

from core.iso import Days, Nanoseconds

UNITS_NS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1000, "ns": 1}
DAY_MS = 86_400_000
LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
    pa.types.is_map,
)
TEXTS = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}


def natural_values(values):
    """The values of an array, in Python's own types where these have room for them."""
    if not _finer(values.type):
        try:
            return values.to_pylist()
        except Exception:  # the year 12000, text that is no UTF-8: one by one
            pass
    return _exact(values)


def _finer(kind):
    """Whether there are nanoseconds in it."""
    if getattr(kind, "unit", "") == "ns":
        return True
    if isinstance(kind, pa.BaseExtensionType):
        return _finer(kind.storage_type)
    return any(_finer(kind.field(index).type) for index in range(kind.num_fields))


def _exact(values):
    if isinstance(values, pa.ChunkedArray):
        return [value for chunk in values.chunks for value in _exact(chunk)]
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        return _exact(values.storage)
    if pa.types.is_dictionary(kind):
        return _exact(values.dictionary_decode())
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        whole = values.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()).to_pylist()
        return [None if one is None else Nanoseconds(one * UNITS_NS[kind.unit]) for one in whole]
    if pa.types.is_date32(kind):
        return [None if one is None else Days(one) for one in values.cast(pa.int32()).to_pylist()]
    if pa.types.is_date64(kind):
        return [None if one is None else Days(one // DAY_MS) for one in values.cast(pa.int64()).to_pylist()]
    if kind in TEXTS:
        return [_text(one) for one in values.view(TEXTS[kind]).to_pylist()]
    if any(fits(kind) for fits in LISTS):
        return [_exact(one.values) if one.is_valid else None for one in values]
    if pa.types.is_struct(kind):
        members = [_exact(one) for one in values.flatten()]
        rows = zip(*members, strict=True) if members else [()] * len(values)
        return [row if valid else None for row, valid in zip(rows, values.is_valid().to_pylist(), strict=True)]
    return [_one(value) for value in values]


def _text(data):
    try:
        return data if data is None else data.decode()
    except UnicodeDecodeError:
        return data


def _one(value):
    try:
        return value.as_py()
    except Exception:  # what pyarrow cannot make a Python value of is foreign, by its text
        return str(value)
