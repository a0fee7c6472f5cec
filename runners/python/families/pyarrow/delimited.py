"""Delimited text files through pyarrow.csv: whole, in blocks, or one segment of one."""

import pyarrow as pa
import pyarrow.csv

from families.arrow.schema import arrow_type
from families.files.adapter import layout, segment_bytes


class Text:
    """A reader of some columns of a file without escapes; a block's size is in bytes."""

    def __init__(self, file, phase, columns, delimiter, use_threads):
        self.file = file
        self._names = [column.name for column in layout(phase)]
        self._use_threads = use_threads
        self._parse = pa.csv.ParseOptions(
            delimiter=delimiter, quote_char=False, double_quote=False, ignore_empty_lines=False
        )
        self._convert = pa.csv.ConvertOptions(
            column_types={c.name: pa.string() if c.type == "uuid" else arrow_type(c) for c in columns},
            include_columns=[column.name for column in columns],
            null_values=["\\N"],
            strings_can_be_null=True,
            true_values=["t"],
            false_values=["f"],
        )

    def tables(self, part):
        return self._opened(pa.csv.read_csv, part, self._read())

    def batches(self, part, size):
        return self._opened(pa.csv.open_csv, part, self._read(size))

    def _opened(self, reader, part, read):
        data = segment_bytes(self.file, *part) if part else None
        if not (data if part else self.file.stat().st_size):
            return []  # pyarrow takes no empty file
        found = reader(pa.BufferReader(data) if part else self.file, read, self._parse, self._convert)
        return [found] if isinstance(found, pa.Table) else found

    def _read(self, size=None):
        return pa.csv.ReadOptions(column_names=self._names, use_threads=self._use_threads, block_size=size)
