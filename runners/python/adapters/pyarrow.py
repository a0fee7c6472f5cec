"""Parquet, Arrow IPC and delimited text files through pyarrow: as Arrow, or as rows."""

from functools import partial

import pyarrow
import pyarrow.parquet

from core.operation import Operation
from families.arrow.batches import Arrow, arrow_aggregate, arrow_rows
from families.arrow_files import describe
from families.columnar.sampler import ColumnarOperation
from families.files.adapter import FileAdapter, access_of, aggregated_columns, aggregates, is_stream, layout, no_escapes
from families.pyarrow.delimited import Text


class Parquet:
    def __init__(self, file, names, use_threads):
        self.file, self.names, self.use_threads = file, names, use_threads

    def tables(self, part):
        if not part:
            return [pyarrow.parquet.read_table(self.file, columns=self.names, use_threads=self.use_threads)]
        with pyarrow.parquet.ParquetFile(self.file) as opened:
            groups, skipped = row_groups(opened.metadata, *part)
            table = opened.read_row_groups(groups, columns=self.names, use_threads=self.use_threads)
            return [table.slice(skipped, part[1] - part[0])]

    def batches(self, part, size):
        with pyarrow.parquet.ParquetFile(self.file) as opened:
            groups, skipped = row_groups(opened.metadata, *part) if part else (None, 0)
            batches = opened.iter_batches(size, groups, self.names, use_threads=self.use_threads)
            yield from within(batches, skipped, part[1] - part[0]) if part else batches


class Ipc:
    def __init__(self, file, names, use_threads):
        self.file, self.names = file, names
        self.options = pyarrow.ipc.IpcReadOptions(use_threads=use_threads)
        self.open = pyarrow.ipc.open_stream if is_stream(file) else pyarrow.ipc.open_file

    def tables(self, part):
        with pyarrow.memory_map(str(self.file)) as mapped:
            opened = self.open(mapped, options=self.options)
            if not part:
                return [self.chosen(opened.read_all())]
            return list(within(self.all(opened), part[0], part[1] - part[0]))

    def batches(self, part, size):
        with pyarrow.memory_map(str(self.file)) as mapped:
            written = self.all(self.open(mapped, options=self.options))
            for batch in within(written, part[0], part[1] - part[0]) if part else written:
                for first in range(0, batch.num_rows, size):  # at most as large as they were written
                    yield batch.slice(first, size)

    def all(self, opened):
        stream = isinstance(opened, pyarrow.ipc.RecordBatchStreamReader)
        for batch in opened if stream else map(opened.get_batch, range(opened.num_record_batches)):
            yield self.chosen(batch)

    def chosen(self, batch):
        return batch.select(self.names) if self.names else batch


READERS = {"parquet": Parquet, "arrow": Ipc}


def row_groups(metadata, begin, end):
    """The row groups that hold records [begin, end), and how many of theirs come before."""
    groups, skipped, first = [], 0, 0
    for index in range(metadata.num_row_groups):
        last = first + metadata.row_group(index).num_rows
        if begin < last and first < end:
            skipped = skipped if groups else begin - first
            groups.append(index)
        first = last
    return groups, skipped


def within(batches, skip, count):
    """The records [skip, skip + count) of these batches."""
    for batch in batches:
        taken = batch.slice(min(skip, batch.num_rows), count)
        skip, count = max(0, skip - batch.num_rows), count - taken.num_rows
        if taken.num_rows:
            yield taken
        if not count:
            return


def aggregated(read, wanted, part):
    return [arrow_aggregate(read(part), wanted)]


class Adapter(FileAdapter):
    errors = (pyarrow.ArrowException,)

    def connect(self):
        super().connect()
        pyarrow.set_cpu_count(self.threads * self.sharing)
        pyarrow.set_io_thread_count(self.threads * self.sharing)

    def prepare(self, phase, parameters):
        access, file = access_of(phase), self.file(phase)
        columns = aggregated_columns(phase) if access == "aggregate" else phase.columns
        if self.engine == "file":
            no_escapes(file, phase, self.dialect)
            if access == "segment":
                self.dialect.refuse_parts()
            reader = Text(file, phase, columns, self.dialect, self.threads > 1)
        else:
            # Names need not be different, so nothing is chosen by them where all is wanted.
            whole = len(columns) == len(layout(phase))
            names = None if whole else [column.name for column in columns]
            reader = READERS[self.engine](file, names, self.threads > 1)
        result, _, size = self.options.get("result", "whole").partition(":")
        read = partial(reader.batches, size=int(size)) if result == "chunked" else reader.tables
        if access == "aggregate":
            read = partial(aggregated, read, aggregates(phase))
        if self.options.get("fetch") == "columnar":
            return ColumnarOperation(Arrow(phase.columns), read, parameters)

        def rows(part):
            for batch in read(part):
                yield from arrow_rows(batch)

        return Operation(rows, parameters)

    def describe(self, sql):
        if self.engine == "file":
            return describe.fitting(describe.of_delimited(self.folder, sql, self.dialect))
        return describe.fitting(describe.of_file(self.folder, sql, self.engine))

    def facts(self):
        return {
            "driver_version": pyarrow.__version__,
            "build": f"Arrow C++ {pyarrow.cpp_build_info.version} {pyarrow.cpp_build_info.build_type}",
            "settings": {
                "threads": pyarrow.cpu_count() // self.sharing,
                "cpu_threads": pyarrow.cpu_count(),
                "io_threads": pyarrow.io_thread_count(),
                "use_threads": self.threads > 1,
                "memory_pool": pyarrow.default_memory_pool().backend_name,
            },
        }
