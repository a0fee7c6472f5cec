"""PostgreSQL, MariaDB, MySQL and SQLite through pyodbc and their ODBC drivers."""

from contextlib import closing
from functools import partial

import pyodbc

from core.adapter import Unsupported
from core.operation import Operation
from families.mysql.adapter import compression
from families.odbc.connection import connection_string
from families.odbc.facts import facts_of
from families.odbc.values import LITERALS, check, converters_of, taken
from families.sql.adapter import SqlAdapter
from families.sql.blocks import block_size, in_blocks
from families.sql.literals import with_literals

pyodbc.pooling = False  # a connection is a new one
pyodbc.native_uuid = True


class Adapter(SqlAdapter):
    errors = (pyodbc.Error,)
    bulk_ways = ("executemany", "array")
    running = None

    def connect(self):
        self.engine = self.options["engine"]
        self.shipped = self.options.get("profile") == "shipped"
        self.connection = self.log_in()

    def log_in(self):
        connection = pyodbc.connect(connection_string(self.options), autocommit=not self.shipped)
        connection.setdecoding(pyodbc.SQL_CHAR, encoding="utf-8")
        return connection

    def server_pid(self):
        return self.rows("SELECT pg_backend_pid()")[0][0] if self.engine == "postgresql" else None

    def prepare(self, phase, parameters):
        check(self.engine, phase.parameter_columns)
        converters = converters_of(self.engine, phase.columns)
        connection, sql = self.connection, phase.sql
        if phase.kind == "connect":
            close = pyodbc.Connection.close
            return Operation(lambda opened: opened.execute(sql), None, converters, connect=self.log_in, close=close)
        # A cursor keeps its last statement prepared as long as its text stays the same.
        # One in the server stays open as long as pyodbc's: there each execution has one of its own.
        in_server = self.options.get("result", "whole").startswith("cursor")
        execute = connection.execute if in_server else connection.cursor().execute
        if parameters is None:
            work = Operation(lambda _: execute(sql), converters=converters)
        elif self.options.get("statement") == "text":
            texts = [with_literals(sql, row, LITERALS[self.engine]) for row in parameters]
            work = Operation(execute, texts, converters)
        else:
            arguments = [taken(self.engine, row) for row in parameters]
            run = execute if self.options.get("statement") == "prepared" else connection.execute
            work = Operation(lambda row: run(sql, row), arguments, converters)
        size = block_size(self.options)
        if size and phase.delivers:
            work.execute = in_blocks(work.execute, size)
        return work

    def transaction(self, phase):
        connection = self.connection
        if self.shipped:  # the driver begins one by itself, and it is ours to end it
            return int, connection.commit, connection.rollback
        if not phase.transaction:
            return None
        return partial(setattr, connection, "autocommit", False), self.commit, self.roll_back

    def commit(self):
        self.connection.commit()
        self.connection.autocommit = not self.shipped

    def roll_back(self):
        self.connection.rollback()
        self.connection.autocommit = not self.shipped

    def bulk(self, phase, way):
        check(self.engine, phase.parameter_columns)
        if (
            way == "array"
            and self.engine == "postgresql"
            and any(column.type == "binary" for column in phase.parameter_columns)
        ):
            raise Unsupported("pyodbc makes no array of binary values whose greatest length the driver does not say")
        connection = self.connection
        cursor = connection.cursor()
        cursor.fast_executemany = way == "array"

        def executemany(rows):
            connection.autocommit = False
            try:
                cursor.executemany(phase.sql, [taken(self.engine, row, way == "array") for row in rows])
            except BaseException:
                self.roll_back()
                raise
            self.commit()

        return Operation(executemany)

    def rows(self, sql):
        """All rows of a statement; none of one that has no result."""
        with closing(self.connection.cursor()) as cursor:
            self.running = cursor
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def run(self, statement):
        self.rows(statement)
        if self.shipped:
            self.connection.commit()

    def cancel(self):
        self.running.cancel()

    def set_timeout(self, milliseconds):
        if self.engine == "sqlite":
            raise Unsupported("SQLite has no statement timeout")
        self.connection.timeout = max(1, milliseconds // 1000)

    def facts(self):
        connection = self.connection
        settings = {"autocommit": "on" if connection.autocommit else "off"}
        found = facts_of(self.engine, self.rows, settings | compression(self.options, self.rows))
        if self.shipped:
            connection.commit()
        driver = f"{connection.getinfo(pyodbc.SQL_DRIVER_NAME)} {connection.getinfo(pyodbc.SQL_DRIVER_VER)}"
        libraries = {"odbc driver": driver, "driver manager": connection.getinfo(pyodbc.SQL_DM_VER)}
        return found | {"driver_version": pyodbc.version, "libraries": libraries}

    def close(self):
        self.connection.close()

    def code(self, error):
        return error.args[0] if error.args else type(error).__name__
