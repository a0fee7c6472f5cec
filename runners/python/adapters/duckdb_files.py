"""Parquet and delimited text files through DuckDB, which reads them by SQL; no database is there."""

import copy

from adapters.duckdb import Adapter as Database
from core.adapter import Unsupported
from families.files.adapter import FileAdapter, access_of, aggregates, layout, no_escapes

INTEGERS = {16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
FLOATS = {"float32": "FLOAT", "float64": "DOUBLE"}
OF_ITS_NAME = ("boolean", "date", "time", "timestamp", "timestamptz", "uuid")


def type_name(column):
    if column.type == "integer":
        return INTEGERS[column.bits]
    if column.type == "decimal":
        return f"DECIMAL({column.precision},{column.scale})"
    return column.type.upper() if column.type in OF_ITS_NAME else FLOATS.get(column.type, "VARCHAR")


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


class Adapter(FileAdapter, Database):
    def connect(self):
        FileAdapter.connect(self)
        Database.connect(self)

    @property
    def place(self):
        return ":memory:"

    @property
    def read_only(self):
        return False

    def prepare(self, phase, parameters):
        self.file(phase).stat()  # one that is not there is an error of connecting
        read = copy.copy(phase)
        read.sql = self.query(phase, access_of(phase))
        return Database.prepare(self, read, parameters)

    def query(self, phase, access):
        """What the phase asks of the file, in DuckDB's SQL."""
        if access == "aggregate":
            names = ", ".join(f"{function}({column or '*'}) AS {name}" for function, column, name in aggregates(phase))
        else:
            names = ", ".join(column.name for column in phase.columns)
        file = quoted(self.file(phase))
        if self.engine == "file":
            if access == "segment":
                raise Unsupported("DuckDB reads no part of a delimited file by its bytes")
            no_escapes(self.file(phase), phase)
            types = ", ".join(f"{quoted(column.name)}: {quoted(type_name(column))}" for column in layout(phase))
            return f"SELECT {names} FROM read_csv({file}, {self.dialect()}, columns = {{{types}}})"
        if access == "segment":
            rows = f"read_parquet({file}, file_row_number = true)"
            return f"SELECT {names} FROM {rows} WHERE file_row_number >= ? AND file_row_number < ?"
        return f"SELECT {names} FROM read_parquet({file})"

    def dialect(self):
        return (
            f"delim = {quoted(self.delimiter)}, header = false, auto_detect = false, quote = '', escape = '', "
            f"nullstr = '\\N', new_line = '\\n'"
        )
