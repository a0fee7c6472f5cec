"""MariaDB and MySQL through MariaDB Connector/Python: C, over libmariadb."""

from core.adapter import Unsupported
from core.driver_settings import with_settings
from families.mysql.adapter import MysqlAdapter
from families.mysql.connection import address_over_tcp, driver_module
from families.mysql.values import NATURAL, as_text

mariadb = driver_module("mariadb", "apt-get install libmariadb3")
READ_ONLY = 1  # mariadb.constants.CURSOR.READ_ONLY: a cursor in the server


class Adapter(MysqlAdapter):
    errors = (mariadb.Error,)
    natural = NATURAL | {"json": as_text}
    bulk_binding = "COM_STMT_BULK_EXECUTE: all rows in one message, to a server that knows it"

    @property
    def binding(self):
        if self.options.get("format") == "binary":
            return "server: prepared and executed in one message, each time again"
        return "client: the driver puts the values into the SQL (server, when bytes or a date is among them)"

    def log_in(self):
        tls = (
            {"ssl": True, "ssl_verify_cert": self.options["tls"] == "verify-full", **self.files()}
            if self.encrypted
            else {}
        )
        ours = {
            **address_over_tcp(self.options),
            **tls,
            **self.compress,
            "autocommit": not self.shipped,
            "local_infile": True,
        }
        return with_settings(mariadb.connect, self.options, **ours)

    def connection_id(self):
        return self.connection.thread_id

    def cursor(self, phase):
        result = self.options.get("result", "whole") if phase.columns else "whole"
        server_side = {"cursor_type": READ_ONLY} if result.startswith("cursor") else {}
        if server_side and result != "cursor:1":
            raise Unsupported(
                "a server's cursor gives 1 row a round trip, whatever prefetch_size says: result=cursor:1"
            )
        binary = self.options.get("format") == "binary"
        return self.connection.cursor(buffered=result == "whole", binary=binary, **server_side)

    def placed(self, sql):
        return sql

    def driver_facts(self):
        return {"driver_version": mariadb.__version__, "libraries": {"libmariadb": mariadb.mariadbapi_version}}

    def code(self, error):
        return error.errno or error.sqlstate or type(error).__name__
