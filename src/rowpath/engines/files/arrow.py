"""Arrow IPC files: TABLE.arrow in one folder, read only, shared by all paths."""

from __future__ import annotations

from rowpath.engines.base import LoadingCost
from rowpath.engines.files.columnar import ColumnarFiles
from rowpath.engines.probe_facts import ProbeFacts


class Arrow(ColumnarFiles):
    """The kind of engine: a folder of Arrow IPC files, not compressed, so that a reader may map them."""

    name = "arrow"
    order = 51
    format = "arrow"
    compression = "none"
    title = "Arrow IPC files"
    loading = LoadingCost(0, 1.1, 40e6)
    probe = ProbeFacts(files={".arrow": "", ".feather": ""}, table_suffix="arrow", syntax=None)


ENGINE = Arrow()
