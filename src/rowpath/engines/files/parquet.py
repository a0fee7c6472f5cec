"""Parquet files: TABLE.parquet in one folder, read only, shared by all paths."""

from __future__ import annotations

from rowpath.engines.files.columnar import ColumnarFile


class Parquet(ColumnarFile):
    """The kind of engine: a folder of Parquet files, compressed as writers do by default."""

    name = "parquet"
    format = "parquet"
    compression = "snappy"
    title = "Parquet files"


ENGINE = Parquet()
