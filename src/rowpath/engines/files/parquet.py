"""Parquet files: TABLE.parquet in one folder, read only, shared by all paths."""

from __future__ import annotations

from rowpath.engines.base import LoadingCost
from rowpath.engines.files.columnar import ColumnarFiles
from rowpath.engines.probe_facts import ProbeFacts


class Parquet(ColumnarFiles):
    """The kind of engine: a folder of Parquet files, compressed as writers do by default."""

    name = "parquet"
    order = 50
    format = "parquet"
    compression = "snappy"
    title = "Parquet files"
    loading = LoadingCost(0, 0.5, 20e6)
    probe = ProbeFacts(files={".parquet": ""}, table_suffix="parquet", syntax=None)


ENGINE = Parquet()
