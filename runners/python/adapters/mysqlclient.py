"""MariaDB and MySQL through mysqlclient: C, over libmariadb; values become part of the SQL in the client."""

from core.driver_settings import with_settings
from families.mysql.adapter import MysqlAdapter
from families.mysql.connection import address_over_tcp, driver_module

MySQLdb = driver_module("MySQLdb", "apt-get install libmariadb3")
release = driver_module("MySQLdb.release", "apt-get install libmariadb3")
cursors = driver_module("MySQLdb.cursors", "apt-get install libmariadb3")

SSL_MODES = {
    "off": "DISABLED",
    "on": "REQUIRED",
    "verify-full": "VERIFY_IDENTITY",
}


class Adapter(MysqlAdapter):
    errors = (MySQLdb.Error,)
    bulk_binding = f"one INSERT of many rows for each {cursors.Cursor.max_stmt_length} bytes"

    def log_in(self):
        return with_settings(
            MySQLdb.connect,
            self.options,
            **address_over_tcp(self.options),
            autocommit=not self.shipped,
            charset="utf8mb4",
            local_infile=True,
            ssl_mode=SSL_MODES[self.options.get("tls", "off")],
            **self.compress,
            **({"ssl": self.files("ca", "cert", "key")} if self.encrypted else {}),
        )

    def connection_id(self):
        return self.connection.thread_id()

    def cursor(self, phase):
        streamed = phase.columns and self.options.get("result") == "single-row"
        return self.connection.cursor(cursors.SSCursor if streamed else cursors.Cursor)

    def driver_facts(self):
        return {"driver_version": release.__version__, "libraries": {"libmariadb": MySQLdb.get_client_info()}}
