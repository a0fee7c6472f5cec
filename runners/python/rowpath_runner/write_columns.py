"""`python -m rowpath_runner.write_columns`: a parameter file as a Parquet or Arrow IPC file, outside every clock.

stdin is one JSON object: `format` (`parquet` | `arrow`), `rows` (the parameter file), `count`, `columns` (as in the
protocol), `file` (to write), `compression`, `batch_rows` (of a row group or record batch).
"""

import json
import sys

import pyarrow as pa
import pyarrow.parquet

from rowpath_runner.codec import Column, read_parameters
from rowpath_runner.columnar_arrow import arrow_schema, arrow_table


def main():
    asked = json.load(sys.stdin)
    columns = [Column(spec) for spec in asked["columns"]]
    schema = arrow_schema(columns)
    compression, size = asked["compression"], asked["batch_rows"]
    if asked["format"] == "parquet":
        writer = pyarrow.parquet.ParquetWriter(asked["file"], schema, compression=compression)
    else:
        options = pa.ipc.IpcWriteOptions(compression=None if compression == "none" else compression)
        writer = pa.ipc.new_file(asked["file"], schema, options=options)
    with writer:
        for first in range(0, asked["count"], size):
            rows = read_parameters(asked["rows"], first, min(size, asked["count"] - first), columns)
            writer.write_table(arrow_table(rows, schema))


main()
