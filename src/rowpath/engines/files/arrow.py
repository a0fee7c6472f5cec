"""Arrow IPC files: TABLE.arrow in one folder, read only, shared by all paths."""

from __future__ import annotations

from rowpath.engines.files.columnar import ColumnarFile


class Arrow(ColumnarFile):
    """The kind of engine: a folder of Arrow IPC files, not compressed, so that a reader may map them."""

    name = "arrow"
    format = "arrow"
    compression = "none"
    title = "Arrow IPC files"


ENGINE = Arrow()
