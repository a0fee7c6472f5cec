"""Delimited text files through pyarrow.csv: whole, in blocks, or one segment of one."""

import pyarrow as pa
import pyarrow.csv

from families.arrow.schema import arrow_type
from families.arrow_files.csv_options import convert_options, parse_options, read_options
from families.files.adapter import field_names, layout, segment_bytes


class Text:
    """A reader of some columns of a file without escapes; a block's size is in bytes."""

    def __init__(self, file, phase, columns, dialect, use_threads):
        self.file, self._dialect, self._use_threads = file, dialect, use_threads
        every = layout(phase)
        self._names = field_names(every)
        wanted = self._names if len(columns) == len(every) else [column.name for column in columns]
        types = {
            name: pa.string() if c.type == "uuid" else arrow_type(c) for name, c in zip(wanted, columns, strict=True)
        }
        self._parse = parse_options(dialect, len(every))
        self._convert = convert_options(dialect, types, wanted)
        self._empty = not file.stat().st_size or (not dialect.own and dialect.first_records(file)[1] is None)

    def tables(self, part):
        return self._opened(pa.csv.read_csv, part, self._read(part))

    def batches(self, part, size):
        return self._opened(pa.csv.open_csv, part, self._read(part, size))

    def _opened(self, reader, part, read):
        data = segment_bytes(self.file, *part, self._dialect.header) if part else None
        if self._empty or (part and not data):
            return []  # pyarrow takes no empty file
        found = reader(pa.BufferReader(data) if part else self.file, read, self._parse, self._convert)
        return [found] if isinstance(found, pa.Table) else found

    def _read(self, part, size=None):
        dialect = self._dialect._replace(header=False) if part else self._dialect
        return read_options(dialect, self._names, self._use_threads, size)
