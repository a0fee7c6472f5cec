"""MariaDB and MySQL through PyMySQL: pure Python; values become part of the SQL in the client."""

import pymysql
from pymysql.cursors import Cursor, SSCursor

from core.driver_settings import with_settings
from families.mysql.adapter import MysqlAdapter
from families.mysql.connection import address
from families.pymysql import describe

UNVERIFIED = {"check_hostname": False, "verify_mode": "none"}


class Adapter(MysqlAdapter):
    errors = (pymysql.Error,)
    bulk_binding = f"one INSERT of many rows for each {Cursor.max_stmt_length} bytes"

    def log_in(self):
        chain, name = self.checks
        checks = {"check_hostname": name, "verify_mode": "required"} if chain else UNVERIFIED
        tls = {"ssl": checks | self.files("ca", "cert", "key")} if self.encrypted else {"ssl_disabled": True}
        ours = {**address(self.options), **tls, "autocommit": not self.shipped, "local_infile": True}
        return with_settings(pymysql.connect, self.options, **ours)

    def connection_id(self):
        return self.connection.thread_id()

    def cursor(self, phase):
        streamed = phase.columns and self.options.get("result") == "single-row"
        return self.connection.cursor(SSCursor if streamed else Cursor)

    def describe(self, sql):
        return describe.columns(self.connection, sql)

    def driver_facts(self):
        return {"driver_version": pymysql.__version__}
