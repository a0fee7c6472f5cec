"""Parquet and Arrow IPC files through pyarrow: as Arrow, or as rows."""

from functools import partial
from pathlib import Path

import pyarrow
import pyarrow.parquet
from rowpath_runner.adapter import Adapter as Base
from rowpath_runner.adapter import Unsupported
from rowpath_runner.columnar import ColumnarWork
from rowpath_runner.columnar_arrow import Arrow, arrow_rows
from rowpath_runner.loop import Work


def whole_parquet(file, names, use_threads, _):
    return [pyarrow.parquet.read_table(file, columns=names, use_threads=use_threads)]


def parquet_batches(file, names, use_threads, _):
    with pyarrow.parquet.ParquetFile(file) as opened:
        yield from opened.iter_batches(columns=names, use_threads=use_threads)


def whole_ipc(file, names, use_threads, _):
    options = pyarrow.ipc.IpcReadOptions(use_threads=use_threads)
    with pyarrow.memory_map(str(file)) as mapped:
        return [pyarrow.ipc.open_file(mapped, options=options).read_all().select(names)]


def ipc_batches(file, names, use_threads, _):
    options = pyarrow.ipc.IpcReadOptions(use_threads=use_threads)
    with pyarrow.memory_map(str(file)) as mapped:
        opened = pyarrow.ipc.open_file(mapped, options=options)
        for index in range(opened.num_record_batches):
            yield opened.get_batch(index).select(names)


READERS = {
    ("parquet", "whole"): whole_parquet,
    ("parquet", "chunked:65536"): parquet_batches,
    ("arrow", "whole"): whole_ipc,
    ("arrow", "chunked:65536"): ipc_batches,
}


class Adapter(Base):
    errors = (pyarrow.ArrowException,)

    def connect(self):
        self.folder = Path(self.options["path"])
        next(self.folder.iterdir(), None)  # a folder that is not there is an error of connecting
        self.threads = int(self.options.get("threads", 1))
        pyarrow.set_cpu_count(self.threads)
        pyarrow.set_io_thread_count(self.threads)

    def prepare(self, phase, parameters):
        if not phase.scan:
            raise Unsupported("a columnar file delivers whole tables only")
        form = self.options["engine"]
        file = self.folder / f"{phase.table}.{form}"
        names = [column.name for column in phase.columns]
        read = partial(READERS[form, self.options.get("result", "whole")], file, names, self.threads > 1)
        if self.options.get("fetch") == "columnar":
            return ColumnarWork(Arrow(phase.columns), read)

        def rows(_):
            for batch in read(_):
                yield from arrow_rows(batch)

        return Work(rows)

    def facts(self):
        return {
            "driver_version": pyarrow.__version__,
            "build": f"Arrow C++ {pyarrow.cpp_build_info.version} {pyarrow.cpp_build_info.build_type}",
            "settings": {
                "threads": pyarrow.cpu_count(),
                "io_threads": pyarrow.io_thread_count(),
                "use_threads": self.threads > 1,
                "memory_pool": pyarrow.default_memory_pool().backend_name,
            },
        }
