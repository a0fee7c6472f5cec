"""What readers of a table's file have in common: where it is, what a phase asks of it, which part of it."""

import csv
import mmap
import re
import sys
from pathlib import Path
from typing import NamedTuple

from core.adapter import Adapter, Unsupported

SUFFIX = {"file": "tbl", "parquet": "parquet", "arrow": "arrow"}
PLAIN_NAME = re.compile(r"\w+")
ESCAPE = re.compile(rb"\\[^N]")


class Dialect(NamedTuple):
    """How delimited text is written (runners/PROTOCOL.md, open)."""

    delimiter: str = "|"
    quote: str | None = None  # None: Rowpath's own form, with backslashes; empty: no quotes
    header: bool = False
    null: str = "empty"
    line_end: str = "lf"
    longest_record: int = 0

    @classmethod
    def of(cls, options):
        """The dialect that the options of `open` name."""
        quote = options.get("quote")
        return cls(
            options.get("delimiter", "|"),
            "" if quote == "off" else quote,
            options.get("header") == "yes",
            options.get("null", "empty"),
            options.get("line_end", "lf"),
            int(options.get("longest_record", 0)),
        )

    @property
    def own(self):
        """Whether it is Rowpath's own form."""
        return self.quote is None

    def records(self, lines):
        """The records of RFC 4180 in an iterable of lines, through the module csv; a blank line is an empty one."""
        csv.field_size_limit(sys.maxsize)
        if self.quote:
            return csv.reader(lines, delimiter=self.delimiter, quotechar=self.quote, strict=True)
        return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE, quotechar=None, strict=True)

    def opened(self, file):
        """The open file, whose lines end at a line feed; without a byte-order mark where RFC 4180 is read."""
        return file.open(encoding="utf-8" if self.own else "utf-8-sig", newline="\n")

    def first_records(self, file):
        """The header (None without one) and the first record (None without one)."""
        with self.opened(file) as lines:
            records = self.records(lines)
            return (next(records, None) if self.header else None), next(filter(None, records), None)

    def has_quoted_empty(self, file):
        """Whether a field may be empty within quotes: what looks so inside of a quoted field counts too."""
        if not self.quote or not file.stat().st_size:
            return False
        quote, between = re.escape(2 * self.quote), re.escape(self.delimiter)
        empty = re.compile(rf"(?:\A|[\r\n]|{between}){quote}(?:\Z|[\r\n]|{between})".encode())
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return empty.search(data) is not None

    def refuse_parts(self):
        """Unsupported where a record may have several lines: its parts cannot be found by their bytes."""
        if self.quote:
            raise Unsupported("a quoted field may have line ends in it: no part of such a file is read by its bytes")


class FileAdapter(Adapter):
    """A folder of files, one a table; no SQL."""

    def connect(self):
        self.folder = Path(self.options["path"])
        next(self.folder.iterdir(), None)  # a folder that is not there is an error of connecting
        engine = self.options.get("engine", "file")
        self.engine = "file" if engine == "csv" else engine  # the dialect tells them apart
        self.dialect = Dialect.of(self.options)
        self.threads = int(self.options.get("threads", 1))

        # Clients that are threads share what the library has in this process.
        processes = self.options.get("concurrency") == "processes"
        self.sharing = 1 if processes else int(self.options.get("clients", 1))

    def file(self, phase):
        """The file of the phase's table."""
        return self.folder / f"{phase.table}.{SUFFIX[self.engine]}"


def is_stream(file):
    """Whether a file of Arrow IPC is in the stream format; the file format begins with its name."""
    with file.open("rb") as opened:
        return opened.read(6) != b"ARROW1"


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


def field_names(columns):
    """Their names, or others unless all are plain and different: libraries find columns by name."""
    names = [column.name for column in columns]
    if len({name.lower() for name in names}) < len(names) or not all(map(PLAIN_NAME.fullmatch, names)):
        return [f"f{number}" for number in range(len(names))]
    return names


def no_escapes(file, phase, dialect):
    """Unsupported where a value is written with backslashes, for readers that cannot undo them; NULL is no such."""
    if not dialect.own:
        return
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


def segment_bytes(file, begin, end, header=False):
    """The whole records whose first byte lies in [begin, end), without the header."""
    with file.open("rb") as opened:
        least = record_start(opened, 1) if header else 0
        first, last = max(least, record_start(opened, begin)), max(least, record_start(opened, end))
        opened.seek(first)
        return opened.read(last - first)
