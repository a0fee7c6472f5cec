"""Parquet files: TABLE.parquet in one folder, compressed as writers do by default."""

from __future__ import annotations

from rowpath.engines.base import LoadingCost
from rowpath.engines.files.columnar import ColumnarFiles

ENGINE = ColumnarFiles("parquet", 50, "Parquet files", "snappy", LoadingCost(0, 0.5, 20e6), ".parquet")
