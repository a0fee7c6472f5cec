"""Parquet and Arrow IPC files through polars: as data frames, or as rows."""

import importlib
import os
from functools import partial
from pathlib import Path
from uuid import UUID

from rowpath_runner.adapter import Adapter as Base
from rowpath_runner.adapter import Unsupported
from rowpath_runner.columnar import ColumnarWork
from rowpath_runner.loop import Work


def uuid(value):
    return UUID(bytes=value)


class Adapter(Base):
    def connect(self):
        self.folder = Path(self.options["path"])
        next(self.folder.iterdir(), None)  # a folder that is not there is an error of connecting
        # polars makes its threads when it is imported, once for the process's life.
        os.environ["POLARS_MAX_THREADS"] = self.options.get("threads", "1")
        self.polars = importlib.import_module("polars")
        self.errors = (self.polars.exceptions.PolarsError,)

    def prepare(self, phase, parameters):
        if not phase.scan:
            raise Unsupported("a columnar file delivers whole tables only")
        form = self.options["engine"]
        file = self.folder / f"{phase.table}.{form}"
        names = [column.name for column in phase.columns]
        read = partial(self.polars.read_parquet if form == "parquet" else self.polars.read_ipc, file, columns=names)
        if self.options.get("fetch") == "columnar":
            columnar = importlib.import_module("rowpath_runner.columnar_polars")
            return ColumnarWork(columnar.Frames(phase.columns), lambda _: [read()])
        converters = [uuid if column.type == "uuid" else None for column in phase.columns]
        return Work(lambda _: read().iter_rows(), converters=converters)

    def facts(self):
        polars = self.polars
        build = polars.build_info()
        return {
            "driver_version": polars.__version__,
            "build": str(build.get("version", "")),
            "settings": {"threads": polars.thread_pool_size()},
        }
