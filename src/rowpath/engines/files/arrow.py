"""Arrow IPC files: TABLE.arrow in one folder, not compressed, so that a reader may map them."""

from __future__ import annotations

from rowpath.engines.base import LoadingCost
from rowpath.engines.files.columnar import ColumnarFiles

ENGINE = ColumnarFiles("arrow", 51, "Arrow IPC files", "none", LoadingCost(0, 1.1, 40e6), ".arrow", ".feather")
