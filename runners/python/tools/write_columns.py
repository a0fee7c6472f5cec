"""`python -m tools.write_columns`: a parameter file as a Parquet or Arrow IPC file, outside every clock.

stdin is one JSON object: `format` (`parquet` | `arrow`), `rows` (the parameter file), `count`, `columns` (as in the
protocol), `file` (to write), `compression`, `batch_rows` (of a row group or record batch). `delimited`: `rows` is a
text file instead (PROTOCOL.md) of numbers, dates and plain texts, none of them NULL.
"""

import json
import sys

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from core.codec import Column
from core.decoder import read_parameters
from families.arrow.schema import arrow_schema, arrow_table


def main():
    request = json.load(sys.stdin)
    columns = [Column(spec) for spec in request["columns"]]
    schema = arrow_schema(columns)
    compression, size = request["compression"], request["batch_rows"]
    if request["format"] == "parquet":
        writer = pyarrow.parquet.ParquetWriter(request["file"], schema, compression=compression)
    else:
        options = pa.ipc.IpcWriteOptions(compression=None if compression == "none" else compression)
        writer = pa.ipc.new_file(request["file"], schema, options=options)
    with writer:
        if request["delimited"]:
            tables = delimited_tables(request["rows"], schema, size)
        else:
            counts = ((first, min(size, request["count"] - first)) for first in range(0, request["count"], size))
            tables = (arrow_table(read_parameters(request["rows"], *each, columns), schema) for each in counts)
        for table in tables:
            writer.write_table(table)


def delimited_tables(file, schema, size):
    """Tables of `size` rows each but for the last."""
    batches = pyarrow.csv.open_csv(
        file,
        read_options=pyarrow.csv.ReadOptions(column_names=schema.names),
        parse_options=pyarrow.csv.ParseOptions(delimiter="|", quote_char=False),
        convert_options=pyarrow.csv.ConvertOptions(column_types=schema),
    )
    waiting = schema.empty_table()
    for batch in batches:
        waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch]).cast(schema)])
        while waiting.num_rows >= size:
            yield waiting.slice(0, size)
            waiting = waiting.slice(size)
    if waiting.num_rows:
        yield waiting.combine_chunks()


main()
