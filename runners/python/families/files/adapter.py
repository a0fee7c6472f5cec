"""What readers of a table's file have in common: where it is, what a phase asks of it, which part of it."""

import mmap
import re
from pathlib import Path

from core.adapter import Adapter, Unsupported

SUFFIX = {"file": "tbl", "parquet": "parquet", "arrow": "arrow"}
ESCAPE = re.compile(rb"\\[^N]")


class FileAdapter(Adapter):
    """A folder of files, one a table; no SQL."""

    def connect(self):
        self.folder = Path(self.options["path"])
        next(self.folder.iterdir(), None)  # a folder that is not there is an error of connecting
        self.engine = self.options.get("engine", "file")
        self.delimiter = self.options.get("delimiter", "|")
        self.threads = int(self.options.get("threads", 1))

        # Clients that are threads share what the library has in this process.
        processes = self.options.get("concurrency") == "processes"
        self.sharing = 1 if processes else int(self.options.get("clients", 1))

    def file(self, phase):
        """The file of the phase's table."""
        return self.folder / f"{phase.table}.{SUFFIX[self.engine]}"


def access_of(phase):
    """`scan`, `segment` or `aggregate`; Unsupported for all else."""
    access = "scan" if phase.scan else phase.access
    if access not in ("scan", "segment", "aggregate"):
        raise Unsupported("a file's reader delivers whole tables, their segments and aggregates: it has no index")
    return access


def aggregates(phase):
    """(function, column, name of the result) of each column of the result; the column is empty for `count`."""
    wanted = []
    for column in phase.columns:
        function, _, name = column.name.partition("_")
        if function not in ("count", "sum", "min", "max"):
            raise Unsupported(f"{column.name}: aggregates here are count, sum, min and max")
        wanted.append((function, name, column.name))
    return wanted


def aggregated_columns(phase):
    """The table's columns that the aggregates read, in its order."""
    names = {name for _, name, _ in aggregates(phase)}
    return [column for column in phase.table_columns if column.name in names]


def layout(phase):
    """All columns of the phase's table, as they lie in a delimited file."""
    return phase.table_columns or phase.columns


def no_escapes(file, phase):
    """Unsupported where a value is written with backslashes, for readers that cannot undo them; NULL is no such."""
    with file.open("rb") as opened:
        for column in layout(phase):
            if column.type in ("binary", "interval", "array"):
                raise Unsupported(f"{column.name}: this reader has no {column.type} in a delimited file")
        if not file.stat().st_size:
            return
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data.find(b"\\") >= 0 and ESCAPE.search(data):
                raise Unsupported(f"{file.name} has values with backslash escapes, which this reader cannot undo")


def record_start(opened, at):
    """Where the first record begins at this byte of an open file or after it."""
    if not at:
        return 0
    opened.seek(at - 1)
    opened.readline()
    return opened.tell()


def segment_bytes(file, begin, end):
    """The whole records whose first byte lies in [begin, end)."""
    with file.open("rb") as opened:
        first, last = record_start(opened, begin), record_start(opened, end)
        opened.seek(first)
        return opened.read(last - first)
