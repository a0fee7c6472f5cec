"""Parquet, Arrow IPC and delimited text files through polars: as data frames, or as rows."""

import importlib
import os

from core.operation import Operation
from families.columnar.sampler import ColumnarOperation, natural_uuid
from families.files.adapter import FileAdapter, access_of, aggregates, no_escapes, segment_bytes


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
        if access == "aggregate":
            names = columnar.aggregate_expressions(aggregates(phase), phase.table_columns)

        def read(part):
            return frame(part).select(names).collect()

        if self.options.get("fetch") == "columnar":
            return ColumnarOperation(columnar.Frames(phase.columns), lambda part: [read(part)], parameters)
        converters = [natural_uuid if column.type == "uuid" else None for column in phase.columns]
        return Operation(lambda part: read(part).iter_rows(), parameters, converters)

    def frame(self, phase):
        """A function that gives the file, or the part of it that is its argument, as a lazy frame."""
        file = self.file(phase)
        if self.engine == "file":
            no_escapes(file, phase)
            text = importlib.import_module("families.polars.delimited")
            return lambda part: text.scanned(segment_bytes(file, *part) if part else file, phase, self.delimiter)
        scanned = self.polars.scan_parquet if self.engine == "parquet" else self.polars.scan_ipc
        return lambda part: scanned(file).slice(part[0], part[1] - part[0]) if part else scanned(file)

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
