"""Rows into a data frame of polars: read_database through a driver's connection, read_database_uri by itself."""

import importlib
import os
from functools import partial

from core.adapter import Unsupported
from families.columnar.sampler import ColumnarOperation
from families.dataframes.adapter import DataFrameAdapter


class Panic(Exception):
    """A panic of Rust's, which is no Exception."""


class Adapter(DataFrameAdapter):
    def connect(self):
        # polars makes its threads when it is imported, once for the process's life.
        clients = 1 if self.options.get("concurrency") == "processes" else int(self.options.get("clients", 1))
        os.environ["POLARS_MAX_THREADS"] = str(clients)
        self.polars = importlib.import_module("polars")
        self.own_errors = (self.polars.exceptions.PolarsError, Panic)
        return super().connect()

    def prepare(self, phase, parameters):
        adbc = self.through.startswith("adbc")
        frames = importlib.import_module("families.polars.database").Frames(
            phase.columns, self.as_text, adbc, self.readers(phase)
        )
        return ColumnarOperation(frames, self.reader(frames), self.texts(phase, parameters))

    def reader(self, frames):
        """A function of a query that gives its frames."""
        if self.through == "adbc-uri":
            read = partial(self.polars.read_database_uri, uri=self.below.uri(), engine="adbc")
        elif self.through == "connectorx":
            read = partial(self.below.guarded, self.polars.read_database_uri, uri=self.below.url, engine="connectorx")
            read = partial(read, pre_execution_query=self.below.before or None)
        else:
            read = partial(self.polars.read_database, connection=self.connection, infer_schema_length=None)
        panic = self.polars.exceptions.PanicException

        def frames_of(sql):
            try:
                return [frames.converted_frame(read(query=sql))]
            except panic as error:
                raise Panic(error) from None

        return frames_of

    def texts(self, phase, parameters):
        """The phase's SQL; polars hands it to SQLAlchemy as a text in which a colon begins a parameter."""
        texts = super().texts(phase, parameters)
        return [text.replace(":", "\\:") for text in texts] if self.through == "sqlalchemy" else texts

    def run(self, statement):
        if self.through == "adbc-uri":
            raise Unsupported("read_database_uri connects for each query: no other statement has its connection")
        super().run(statement)

    def facts(self):
        found = self.facts_with(self.polars.__version__)
        return found | {"settings": found["settings"] | {"thread_pool": self.polars.thread_pool_size()}}
