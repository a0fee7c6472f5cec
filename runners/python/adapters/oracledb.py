"""Oracle Database through python-oracledb in its thin mode: pure protocol, no client library of Oracle's."""

from datetime import datetime

import oracledb

from core.adapter import Adapter as Base
from core.adapter import Unsupported
from core.operation import Operation
from families.sql.placeholders import numbered

oracledb.defaults.fetch_lobs = False  # CLOB and BLOB as text and bytes
NATURAL = {"date": datetime.date, "char": str.rstrip}
CACHED = {"prepared": 20, "bound": 0}  # statements that the driver keeps prepared by their text


class Adapter(Base):
    errors = (oracledb.Error,)
    bulk_ways = ("executemany",)

    def connect(self):
        self.shipped = self.options.get("profile") == "shipped"
        self.connection = self.log_in()

    def log_in(self):
        options = self.options
        if options.get("transport") == "unix":
            raise Unsupported("Oracle's servers listen on TCP only")
        connection = oracledb.connect(
            user=options["user"],
            password=options.get("password"),
            host=options["host"],
            port=int(options["port"]),
            service_name=options["database"],
            stmtcachesize=CACHED[options.get("statement", "prepared")],
            tcp_connect_timeout=20,
        )
        connection.autocommit = not self.shipped
        return connection

    def prepare(self, phase, parameters):
        converters = [NATURAL.get(column.type) for column in phase.columns]
        query = numbered(phase.sql, ":")
        if phase.kind == "connect":
            return Operation(
                lambda opened: opened.cursor().execute(query),
                converters=converters,
                connect=self.log_in,
                close=oracledb.Connection.close,
            )
        cursor = self.connection.cursor()
        cursor.arraysize = int(self.options.get("result", "fetch-size:100").partition(":")[2])
        execute = cursor.execute
        # A query's execute gives back its cursor.
        return Operation(lambda row: execute(query, row), parameters, converters)

    def transaction(self, phase):
        if not phase.transaction and not self.shipped:
            return None
        return self.begin, self.commit, self.rollback

    def begin(self):
        self.connection.autocommit = False  # the server begins one by itself

    def commit(self):
        self.connection.commit()
        self.connection.autocommit = not self.shipped

    def rollback(self):
        self.connection.rollback()
        self.connection.autocommit = not self.shipped

    def bulk(self, phase, way):
        cursor, query = self.connection.cursor(), numbered(phase.sql, ":")

        def executemany(rows):
            cursor.executemany(query, rows)
            if self.shipped:
                self.connection.commit()

        return Operation(executemany)

    def run(self, statement):
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            if cursor.description:
                cursor.fetchall()
        self.connection.commit()

    def cancel(self):
        self.connection.cancel()

    def set_timeout(self, milliseconds):
        self.connection.call_timeout = milliseconds

    def facts(self):
        connection = self.connection
        return {
            "driver_version": oracledb.__version__,
            "engine_version": connection.version,
            "settings": {
                "autocommit": "on" if connection.autocommit else "off",
                "statement_cache": connection.stmtcachesize,
                "thin": connection.thin,
            },
        }

    def close(self):
        self.connection.close()

    def code(self, error):
        first = error.args[0] if error.args else None
        return getattr(first, "full_code", "") or type(error).__name__
