"""PostgreSQL, MariaDB and MySQL through connectorx: a query in, an Arrow table out, a connection for each query."""

import importlib
import importlib.metadata
import os
from urllib.parse import quote, urlencode

from core.adapter import Adapter as Base
from core.adapter import Unsupported
from core.driver_settings import driver_settings
from core.operation import Operation
from families.arrow.batches import Arrow, arrow_rows
from families.columnar.sampler import ColumnarOperation, natural_uuid
from families.mysql import connection as mysql
from families.mysql import values as mysql_values
from families.postgresql import connection as postgresql
from families.postgresql.facts import TLS, server_facts
from families.sql.literals import literal, with_literals

SSLMODE = {
    "off": {"sslmode": "disable"},
    "on": {"sslmode": "require"},
    "default": {},
}


class Failed(Exception):
    """An error's text: connectorx has no errors of its own, and its panics are no Exception."""


class Adapter(Base):
    errors = (Failed,)

    def connect(self):
        options = self.options
        self.postgresql = options["engine"] == "postgresql"
        self.before = []
        self.threads = int(options.get("threads", 1))
        clients = 1 if options.get("concurrency") == "processes" else int(options.get("clients", 1))
        os.environ["RAYON_NUM_THREADS"] = str(self.threads * clients)  # read when the first query starts its threads
        self.module = importlib.import_module("connectorx")
        if self.postgresql:
            self.url, self.protocol = self.postgresql_url(), "binary" if options.get("copy", "on") == "on" else "cursor"
        else:
            self.url, self.protocol = self.mysql_url(), options.get("format", "binary")
        self.read("SELECT 1")
        return {"connection": "a new one for each query, inside the clock"}

    def postgresql_url(self):
        at = postgresql.address(self.options)
        ours = "" if postgresql.plain(self.options) else "-c TimeZone=UTC"
        settings = f"{ours} {self.options.get('startup_options', '')}".strip()
        more = ({"options": settings} if settings else {}) | SSLMODE[postgresql.tls(self.options)]
        more |= postgresql.certificates(self.options) | driver_settings(self.options)
        where = f"{self.login(at)}@{quote(at['host'], safe='')}:{at['port']}"
        return f"postgresql://{where}/{self.database()}?{urlencode(more, quote_via=quote)}"

    def mysql_url(self):
        at = mysql.address(self.options)
        more = {"socket": at["unix_socket"]} if "unix_socket" in at else {}
        more |= driver_settings(self.options)
        where = f"{at.get('host', 'localhost')}:{at.get('port', 3306)}"
        return f"mysql://{self.login(at)}@{where}/{self.database()}{'?' if more else ''}{urlencode(more)}"

    @staticmethod
    def login(at):
        return f"{quote(at['user'], safe='')}:{quote(at['password'] or '', safe='')}"

    def database(self):
        return quote(self.options["database"], safe="")

    def read(self, sql, **partitions):
        return self.guarded(
            self.module.read_sql,
            self.url,
            sql,
            return_type="arrow",
            protocol=self.protocol,
            pre_execution_query=self.before or None,
            **partitions,
        )

    def guarded(self, read, *given, **named):
        """What `read` returns; its errors without the URL, which holds the password."""
        try:
            return read(*given, **named)
        except BaseException as error:
            text = str(error).replace(self.url, "its URL")
            raise Failed(text) from None

    def prepare(self, phase, parameters):
        if not phase.columns:
            raise Unsupported("connectorx never ends on a result without columns")
        partitions = self.partitions(phase)
        as_literal = literal if self.postgresql else mysql_values.literal
        queries = (
            [phase.sql] if parameters is None else [with_literals(phase.sql, row, as_literal) for row in parameters]
        )

        def tables(sql):
            return [self.read(sql, **partitions)]

        readers = [self.reader(column) for column in phase.columns]
        if self.options.get("fetch", "columnar") == "columnar":
            return ColumnarOperation(Arrow(phase.columns, readers=readers), tables, queries)
        converters = [natural_uuid if column.type == "uuid" else None for column in phase.columns]
        operation = Operation(lambda sql: arrow_rows(tables(sql)[0]), queries, converters)
        operation.readers = readers
        return operation

    def reader(self, column):
        """For bits of PostgreSQL, which arrive from the highest of the first byte on, without their number."""
        if column.type != "bits" or not self.postgresql:
            return None
        return lambda data: f"{int.from_bytes(data, 'big'):0{8 * len(data)}b}"[: column.length or None]

    def partitions(self, phase):
        """More than one thread: the whole table in that many ranges of its integer key."""
        if self.threads == 1:
            return {}
        kinds = {column.name: column.type for column in phase.columns}
        if not phase.scan or len(phase.key_columns) != 1 or kinds.get(phase.key_columns[0]) != "integer":
            raise Unsupported("connectorx splits only whole tables, by their integer key: use threads=1")
        return {"partition_on": phase.key_columns[0], "partition_num": self.threads}

    def run(self, statement):
        """A SET comes before every query from now on, for each has a connection of its own."""
        if not statement.lstrip().upper().startswith("SET "):
            raise Unsupported("connectorx executes only queries")
        self.before.append(statement)

    def one(self, sql):
        """The value of the first row and column of a query."""
        return self.read(sql).column(0)[0].as_py()

    def facts(self):
        # Seen on the wire: it never begins a transaction.
        settings = {"protocol": self.protocol, "threads": self.threads, "autocommit": "on"}
        settings["rayon_threads"] = os.environ["RAYON_NUM_THREADS"]
        if self.postgresql:
            server = server_facts(self.one, settings | {"tls": self.one(TLS)})
        else:
            version = self.one("SELECT version()")
            schema = "information_schema" if "mariadb" in version.lower() else "performance_schema"
            tls = self.one(f"SELECT variable_value FROM {schema}.session_status WHERE variable_name = 'Ssl_version'")
            settings["tls"] = f"on ({tls})" if tls else "off"
            server = {"engine_version": version, "build": version, "settings": settings}
        return {"driver_version": importlib.metadata.version("connectorx"), **server}
