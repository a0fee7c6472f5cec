"""Parquet and delimited text files through DuckDB, which reads them by SQL; no database is there."""

import copy

from adapters.duckdb import Adapter as Database
from core.adapter import Unsupported
from families.files.adapter import FileAdapter, access_of, aggregates, field_names, layout, no_escapes

INTEGERS = {16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
FLOATS = {"float32": "FLOAT", "float64": "DOUBLE"}
OF_ITS_NAME = ("boolean", "date", "time", "timestamp", "timestamptz", "uuid")


def type_name(column):
    if column.type == "integer":
        return INTEGERS[column.bits]
    if column.type == "decimal":
        return f"DECIMAL({column.precision},{column.scale})"
    return column.type.upper() if column.type in OF_ITS_NAME else FLOATS.get(column.type, "VARCHAR")


def quoted_name(name):
    return '"' + name.replace('"', '""') + '"'


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
            names = ", ".join(
                f"{function}({(column and quoted_name(column)) or '*'}) AS {name}"
                for function, column, name in aggregates(phase)
            )
        else:
            names = ", ".join(map(quoted_name, self.names(phase)))
        file = quoted(self.file(phase))
        if self.engine == "file":
            if access == "segment":
                raise Unsupported("DuckDB reads no part of a delimited file by its bytes")
            no_escapes(self.file(phase), phase, self.dialect)
            typed = zip(field_names(layout(phase)), layout(phase), strict=True)
            types = ", ".join(f"{quoted(name)}: {quoted(type_name(column))}" for name, column in typed)
            return f"SELECT {names} FROM read_csv({file}, {self.read_options()}, columns = {{{types}}})"
        if access == "segment":
            rows = f"read_parquet({file}, file_row_number = true)"
            return f"SELECT {names} FROM {rows} WHERE file_row_number >= ? AND file_row_number < ?"
        return f"SELECT {names} FROM read_parquet({file})"

    def names(self, phase):
        """What DuckDB calls the phase's columns."""
        whole = self.engine == "file" and len(phase.columns) == len(layout(phase))
        return field_names(phase.columns) if whole else [column.name for column in phase.columns]

    def read_options(self):
        """The file's dialect as read_csv has it."""
        dialect = self.dialect
        if dialect.own:
            return (
                f"delim = {quoted(dialect.delimiter)}, header = false, auto_detect = false, quote = '', escape = '', "
                f"nullstr = '\\N', new_line = '\\n'"
            )
        quote, longest = quoted(dialect.quote), dialect.longest_record
        return (
            f"delim = {quoted(dialect.delimiter)}, header = {dialect.header}, auto_detect = false, quote = {quote}, "
            f"escape = {quote}, nullstr = '', allow_quoted_nulls = {dialect.null == 'empty'}, "
            + {"lf": "new_line = '\\n'", "crlf": "new_line = '\\r\\n'"}.get(dialect.line_end, "strict_mode = false")
            + (f", max_line_size = {longest}" if longest else "")
        )
