"""What Arrow reports of a file's columns: of Parquet and Arrow files by their schema, of delimited files by inference.

Files in the form of RFC 4180 have their own: `delimited_types`. Source: pyarrow's documentation, "Data Types" and
"Reading CSV files" (column type inference).
"""

import io
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from core.adapter import Unsupported
from core.describe import array, decimal, described, nested, opaque
from families.arrow_files import delimited_types
from families.arrow_files.delimited_types import MOST_BYTES
from families.files.adapter import is_stream

MOST_REPLY_BYTES = (1 << 20) - 1024  # of a message, but for what is around the columns
SIMPLE = (
    (pa.types.is_boolean, "boolean", {}),
    (pa.types.is_int8, "integer", {"bits": 16}),
    (pa.types.is_uint8, "integer", {"bits": 16}),
    (pa.types.is_int16, "integer", {"bits": 16}),
    (pa.types.is_uint16, "integer", {"bits": 32}),
    (pa.types.is_int32, "integer", {"bits": 32}),
    (pa.types.is_uint32, "integer", {"bits": 64}),
    (pa.types.is_int64, "integer", {"bits": 64}),
    (pa.types.is_uint64, "integer", {"bits": 128}),
    (pa.types.is_float16, "float32", {}),
    (pa.types.is_float32, "float32", {}),
    (pa.types.is_float64, "float64", {}),
    (pa.types.is_string, "text", {}),
    (pa.types.is_large_string, "text", {}),
    (pa.types.is_string_view, "text", {}),
    (pa.types.is_binary, "binary", {}),
    (pa.types.is_large_binary, "binary", {}),
    (pa.types.is_binary_view, "binary", {}),
    (pa.types.is_fixed_size_binary, "binary", {}),
    (pa.types.is_date, "date", {}),
    (pa.types.is_time, "time", {}),
    (pa.types.is_interval, "interval", {}),
    (pa.types.is_null, "text", {}),
    (pa.types.is_union, "any", {}),
)
LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
EXTENSIONS = {"arrow.uuid": "uuid", "arrow.json": "json"}


def of_file(folder, table, form):
    """The columns of `TABLE.parquet` or `TABLE.arrow`."""
    file = folder / f"{table}.{form}"
    if form == "parquet":
        schema = pyarrow.parquet.read_schema(file)
    else:
        with pa.memory_map(str(file)) as mapped:
            schema = (pa.ipc.open_stream if is_stream(file) else pa.ipc.open_file)(mapped).schema
    return [column(field) for field in schema]


def of_delimited(folder, table, dialect):
    """The columns of `TABLE.tbl`, named by its header, else f0, f1, …; of the narrowest types that every value fits."""
    file = folder / f"{table}.tbl"
    if not dialect.own:
        return [described(name, *facts[:3], **facts[3]) for name, *facts in delimited_types.of_file(file, dialect)]
    with file.open("rb") as opened:
        data = opened.read(MOST_BYTES)
        if opened.read(1):
            data = data[: data.rfind(b"\n") + 1]
    if not data:
        return []
    looked_at = "in the whole file" if len(data) == file.stat().st_size else f"in its first {len(data)} bytes"
    schema = pyarrow.csv.read_csv(
        io.BytesIO(data),
        pyarrow.csv.ReadOptions(autogenerate_column_names=True),
        # A line with an escaped delimiter seems to have too many values: it is not looked at.
        pyarrow.csv.ParseOptions(delimiter=dialect.delimiter, quote_char=False, invalid_row_handler=lambda _: "skip"),
        pyarrow.csv.ConvertOptions(null_values=["\\N"], true_values=["t"], false_values=["f"]),
    ).schema
    return [column(field, f" {looked_at}") for field in schema]


def fitting(columns):
    """The columns, if a reply can hold them; else Unsupported."""
    size = len(json.dumps(columns))
    if size > MOST_REPLY_BYTES:
        raise Unsupported(f"{len(columns):,} columns take {size:,} bytes to describe, at most {MOST_REPLY_BYTES:,}")
    return columns


def column(field, beside=""):
    """One column by its field; `beside` is added to the type's name."""
    name, kind, nullable = field.name, field.type, field.nullable
    engine_type = f"{kind}{beside}"
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name in EXTENSIONS:
        return described(name, EXTENSIONS[kind.extension_name], engine_type, nullable)
    for fits, codec_type, size in SIMPLE:
        if fits(kind):
            return described(name, codec_type, engine_type, nullable, **size)
    if pa.types.is_dictionary(kind):
        return column(pa.field(name, kind.value_type, nullable)) | {"engine_type": engine_type}
    if pa.types.is_decimal(kind):
        return decimal(name, engine_type, kind.precision, kind.scale, nullable)
    if pa.types.is_timestamp(kind):
        return described(name, "timestamp" if kind.tz is None else "timestamptz", engine_type, nullable)
    if any(fits(kind) for fits in LISTS):
        return array(name, engine_type, column(kind.value_field.with_name("")), nullable)
    if pa.types.is_struct(kind):
        members = [column(kind.field(index)) for index in range(kind.num_fields)]
        return nested(name, "struct", engine_type, members, nullable)
    if pa.types.is_map(kind):
        pair = [column(kind.key_field.with_name("key")), column(kind.item_field.with_name("value"))]
        return nested(name, "map", engine_type, pair, nullable)
    return opaque(name, engine_type, nullable)
