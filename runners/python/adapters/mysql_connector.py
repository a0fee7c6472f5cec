"""MariaDB and MySQL through Oracle's MySQL Connector/Python: its C extension, or pure Python."""

from uuid import UUID

import mysql.connector

from core.adapter import Unsupported
from core.driver_settings import with_settings
from families.mysql.adapter import MysqlAdapter
from families.mysql.connection import address, driver_module
from families.mysql.values import NATURAL, as_text
from families.sql.placeholders import split_placeholders


class Adapter(MysqlAdapter):
    errors = (mysql.connector.Error,)
    bulk_binding = "one INSERT of many rows"

    @property
    def prepared(self):
        return self.options.get("statement") == "prepared"

    @property
    def pure(self):
        return self.options.get("implementation") == "pure"

    @property
    def binding(self):
        if self.prepared:
            return "server: prepared once, and reset before each execution, which takes a round trip of its own"
        return "client: the driver puts the values into the SQL"

    @property
    def natural(self):
        # In pure Python a prepared cursor takes any text of a binary collation for bytes.
        texts = ("char", "varchar", "text", "json") if self.pure else ("json",)
        as_texts = dict.fromkeys(texts, as_text) | {"uuid": lambda value: UUID(as_text(value))}
        return NATURAL | (as_texts if self.prepared else {})

    def log_in(self):
        if not self.pure:
            driver_module("_mysql_connector", "use implementation=pure")
        return with_settings(
            mysql.connector.connect,
            self.options,
            **address(self.options),
            use_pure=self.pure,
            autocommit=not self.shipped,
            charset="utf8mb4",
            collation="utf8mb4_bin",  # its own default is one that MariaDB does not know
            allow_local_infile=True,
            consume_results=True,  # what a failed operation left unread would else block the connection
            ssl_disabled=not self.encrypted,
            **self.compress,
            **(self.checked() if self.encrypted else {}),
        )

    def checked(self):
        chain, name = self.checks
        return self.files() | ({"ssl_verify_cert": True, "ssl_verify_identity": name} if chain else {})

    def connection_id(self):
        return self.connection.connection_id

    def cursor(self, phase):
        if self.prepared:
            return self.connection.cursor(prepared=True)
        return self.connection.cursor(buffered=bool(phase.columns) and self.options.get("result") == "whole")

    def placed(self, sql):
        return "%s".join(split_placeholders(sql))  # to this driver %% is two signs

    def ready(self, parameters, phase):
        if self.prepared and not self.pure and phase.way != "bulk":
            for column in phase.parameter_columns:
                if column.type in ("float32", "float64"):
                    raise Unsupported(
                        "the C extension sends a prepared statement's floats with 4 bytes: they are rounded"
                    )
        if any(column.type == "uuid" for column in phase.parameter_columns):
            return [tuple(str(value) if isinstance(value, UUID) else value for value in row) for row in parameters]
        return parameters

    def begin(self):
        self.connection.start_transaction()

    def driver_facts(self):
        libraries = {"implementation": "pure" if self.pure else "c"}
        if not self.pure:
            extension = driver_module("_mysql_connector", "use implementation=pure")
            libraries["libmysqlclient"] = extension.MySQL().get_client_info()
        return {"driver_version": mysql.connector.__version__, "libraries": libraries}

    def code(self, error):
        return error.errno if error.errno and error.errno > 0 else type(error).__name__
