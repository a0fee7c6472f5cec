"""Parquet, Arrow IPC and delimited text files through polars: as data frames, or as rows."""

import copy
import importlib
import os

from core.adapter import Unsupported
from core.operation import Operation
from families.columnar.sampler import ColumnarOperation, natural_uuid
from families.files.adapter import (
    FileAdapter,
    access_of,
    aggregates,
    field_names,
    is_stream,
    layout,
    no_escapes,
    segment_bytes,
)


def renamed(column, name):
    """The column by another name."""
    other = copy.copy(column)
    other.name = name
    return other


def within(part):
    """The first record of a part and how many it has; of a whole file too."""
    return (part[0], part[1] - part[0]) if part else (0, None)


class Adapter(FileAdapter):
    def connect(self):
        super().connect()
        # polars makes its threads when it is imported, once for the process's life.
        os.environ["POLARS_MAX_THREADS"] = str(self.threads * self.sharing)
        self.polars = importlib.import_module("polars")
        self.errors = (self.polars.exceptions.PolarsError,)

    def prepare(self, phase, parameters):
        access, columnar = access_of(phase), importlib.import_module("families.polars.frames")
        frame = self.frame(phase)
        names = [column.name for column in phase.columns]
        columns, blank = phase.columns, 0
        if access == "aggregate":
            names = columnar.aggregate_expressions(aggregates(phase), phase.table_columns)
        if self.engine == "file" and not self.dialect.own:
            text = importlib.import_module("families.polars.delimited")
            blank = text.blank_lines(self.file(phase)) if len(layout(phase)) > 1 else 0
            if access == "segment":
                self.dialect.refuse_parts()
            if blank and access != "scan":
                raise Unsupported(f"polars reads the {blank} blank lines at the file's end as rows")
            if access != "aggregate" and len(names) == len(layout(phase)):
                names = field_names(columns)
                columns = [renamed(column, name) for name, column in zip(names, columns, strict=True)]

        def read(part):
            rows = frame(part).select(names).collect()
            return rows.head(-blank) if blank else rows

        if self.options.get("fetch") == "columnar":
            return ColumnarOperation(columnar.Frames(columns), lambda part: [read(part)], parameters)
        converters = [natural_uuid if column.type == "uuid" else None for column in phase.columns]
        return Operation(lambda part: read(part).iter_rows(), parameters, converters)

    def frame(self, phase):
        """A function that gives the file, or the part of it that is its argument, as a lazy frame."""
        file = self.file(phase)
        if self.engine == "file":
            no_escapes(file, phase, self.dialect)
            text, dialect = importlib.import_module("families.polars.delimited"), self.dialect

            def scanned(part):
                if not part:
                    return text.scanned(file, phase, dialect)
                data = segment_bytes(file, *part, dialect.header)
                return text.scanned(data, phase, dialect._replace(header=False))

            return scanned
        scanned = self.polars.scan_parquet if self.engine == "parquet" else self.polars.scan_ipc
        if self.engine == "arrow" and is_stream(file):
            return lambda part: self.polars.read_ipc_stream(file).slice(*within(part)).lazy()
        return lambda part: scanned(file).slice(*within(part)) if part else scanned(file)

    def facts(self):
        polars = self.polars
        build = polars.build_info()
        return {
            "driver_version": polars.__version__,
            "build": str(build.get("version", "")),
            "settings": {
                "threads": polars.thread_pool_size() // self.sharing,
                "thread_pool": polars.thread_pool_size(),
            },
        }
