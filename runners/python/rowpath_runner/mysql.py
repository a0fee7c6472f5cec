"""What the drivers of MariaDB and MySQL have in common: address, literals, rows of a cursor, bulk ways, what to ask."""

import importlib
import os
from contextlib import closing
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import partial
from uuid import UUID

from rowpath_runner.adapter import Adapter, Unsupported, formatted, with_literals
from rowpath_runner.blocks import block_size, in_blocks
from rowpath_runner.loop import Work

SHOWN = (
    "version",
    "version_comment",
    "autocommit",
    "time_zone",
    "sql_mode",
    "tx_isolation",
    "transaction_isolation",
    "default_storage_engine",
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    "character_set_client",
    "collation_connection",
    "collation_database",
    "log_bin",
    "max_allowed_packet",
)
ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\0": "\\0"})
FIELD_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\0": "\\0"})
MIDNIGHT = datetime(1970, 1, 1)


def time_of_day(duration):
    """TIME is a duration; ValueError for one that is no time of a day."""
    if duration.days:
        raise ValueError(f"{duration} is out of range: no time of a day")
    return (MIDNIGHT + duration).time()


# The natural type of what every one of these drivers delivers as another: TIME is a duration to them, time zones and
# UUIDs are unknown.
NATURAL = {
    "time": time_of_day,
    "timestamptz": lambda moment: moment.replace(tzinfo=UTC),
    "uuid": UUID,
}


def as_text(value):
    """Text that some drivers hand over as bytes: JSON of MySQL, and whatever is of a binary collation."""
    return value if isinstance(value, str) else value.decode()


def driver_module(name, remedy):
    """The driver's own module; Unsupported with the reason when it cannot be loaded."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unsupported(f"the driver {name} cannot be loaded: {error}; {remedy}") from error


def address(options):
    """Where the server is and who logs in, by the names that all of these drivers use."""
    if options.get("transport") == "unix":
        where = {"unix_socket": options["socket"]}
    else:
        where = {"host": options["host"], "port": int(options["port"])}
    login = {"user": options["user"], "password": options.get("password") or "", "database": options["database"]}
    return where | login


def literal(value):
    """A value as it stands inside the SQL of MariaDB and MySQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    return f"'{_moment(value).translate(ESCAPES)}'"


def field(value):
    """A value as LOAD DATA reads it, in bytes."""
    if value is None:
        return b"\\N"
    if isinstance(value, bytes):
        return value.decode("latin-1").translate(FIELD_ESCAPES).encode("latin-1")
    if isinstance(value, bool):
        return b"1" if value else b"0"
    text = format(value, "f") if isinstance(value, Decimal) else _moment(value)
    return text.translate(FIELD_ESCAPES).encode()


def _moment(value):
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ")  # the session's time zone is UTC
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def fetched(cursor, execute):
    """`execute`, giving back the cursor: its rows."""

    def rows(argument):
        execute(argument)
        return cursor

    return rows


class MysqlAdapter(Adapter):
    """What these drivers do alike; `log_in()` gives a new connection, `connection_id()` the server's number of it."""

    bulk_ways = ("executemany", "load-data")
    binding = "client: the driver puts the values into the SQL"
    bulk_binding = "one INSERT of many rows"
    natural = NATURAL

    def connect(self):
        self.shipped = self.options.get("profile") == "shipped"
        self.connection = self.log_in()
        self.cursors = []  # kept to the end: mariadb 1.1.14 crashes (SIGSEGV) some statements after one was freed
        self.number = self.connection_id()  # some drivers refuse to tell it to another thread

    def log_in(self):
        raise NotImplementedError

    def connection_id(self):
        raise NotImplementedError

    def cursor(self, phase):
        """The cursor that a phase is executed with."""
        raise NotImplementedError

    def placed(self, sql):
        """The SQL with the driver's own placeholders."""
        return formatted(sql)

    def ready(self, parameters, phase):
        """The parameters as the driver takes them, made before the clock runs."""
        return parameters

    def prepare(self, phase, parameters):
        converters = [self.natural.get(column.type) for column in phase.columns]
        if phase.kind == "connect":
            return Work(
                partial(self.first_query, phase.sql), converters=converters, connect=self.log_in, close=self.hang_up
            )
        arguments = parameters
        cursor = self.cursor(phase)
        self.cursors.append(cursor)
        execute = cursor.execute
        if parameters is None:
            query = phase.sql

            def run(_):
                execute(query)

        elif self.options.get("statement") == "text":
            arguments, run = [with_literals(phase.sql, row, literal) for row in parameters], execute
        else:
            arguments, query = self.ready(parameters, phase), self.placed(phase.sql)

            def run(row):
                execute(query, row)

        if phase.columns:
            run, size = fetched(cursor, run), block_size(self.options)
            run = in_blocks(run, size) if size else run
        return Work(run, arguments, converters)

    @staticmethod
    def first_query(sql, connection):
        cursor = connection.cursor()
        cursor.execute(sql)
        return cursor

    @staticmethod
    def hang_up(connection):
        connection.close()

    def begin(self):
        self.connection.begin()

    def transaction(self, phase):
        if self.shipped:  # the server begins one by itself, and it is ours to end it
            return int, self.connection.commit, self.connection.rollback
        return (self.begin, self.connection.commit, self.connection.rollback) if phase.transaction else None

    def bulk(self, phase, way):
        connection = self.connection
        if way == "load-data":
            return self.load_data(phase)
        cursor, query = connection.cursor(), self.placed(phase.sql)
        begin = int if self.shipped else self.begin

        def executemany(rows):
            begin()
            try:
                cursor.executemany(query, self.ready(rows, phase))
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

        return Work(executemany)

    def load_data(self, phase):
        """LOAD DATA of a file that lives in memory alone."""
        if self.asked("SELECT @@local_infile") != 1:
            raise Unsupported("the server refuses LOAD DATA LOCAL: local_infile is off")
        connection = self.connection
        cursor = connection.cursor()
        names = ", ".join(column.name for column in phase.parameter_columns)
        # In the character set `binary` every byte is taken as it is.
        into = f"INTO TABLE {phase.table} CHARACTER SET binary ({names})"

        def load(rows):
            with os.fdopen(os.memfd_create("rows"), "wb") as file:
                file.write(b"".join([b"\t".join(map(field, row)) + b"\n" for row in rows]))
                file.flush()
                cursor.execute(f"LOAD DATA LOCAL INFILE '/proc/self/fd/{file.fileno()}' {into}")
            connection.commit()

        return Work(load)

    def run(self, statement):
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(statement)
            if cursor.description:
                cursor.fetchall()
        if self.shipped:
            self.connection.commit()

    def rows(self, query):
        """All rows of a query about the connection itself."""
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(query)
            found = cursor.fetchall()
        if self.shipped:
            self.connection.commit()
        return found

    def asked(self, query):
        return self.rows(query)[0][0]

    def cancel(self):
        """KILL QUERY, from a connection of its own."""
        other = self.log_in()
        with closing(other.cursor()) as cursor:
            cursor.execute(f"KILL QUERY {self.number}")
        other.close()

    def set_timeout(self, milliseconds):
        if "MariaDB" in self.asked("SELECT VERSION()"):
            self.run(f"SET SESSION max_statement_time = {milliseconds / 1000}")
        else:
            self.run(f"SET SESSION max_execution_time = {milliseconds}")

    def facts(self):
        names = ", ".join(f"'{name}'" for name in SHOWN)
        shown = dict(self.rows(f"SHOW VARIABLES WHERE Variable_name IN ({names})"))
        cipher = dict(self.rows("SHOW STATUS LIKE 'Ssl_cipher'")).get("Ssl_cipher")
        build = shown.pop("version_comment")
        settings = shown | {
            "autocommit": shown["autocommit"].lower(),
            "tls": f"on ({cipher})" if cipher else "off",
            "binding": "none: the values stand in the SQL" if self.options.get("statement") == "text" else self.binding,
            "executemany": self.bulk_binding,
        }
        return {
            "engine_version": shown["version"],
            "build": build,
            "settings": settings,
            **self.driver_facts(),
        }

    def driver_facts(self):
        """`driver_version` and `libraries`."""
        raise NotImplementedError

    def close(self):
        self.connection.close()

    def code(self, error):
        number = error.args[0] if error.args else ""
        return number if isinstance(number, int) else type(error).__name__
