"""What the drivers of MariaDB and MySQL have in common: rows of a cursor, bulk ways, facts."""

import os
from contextlib import closing
from functools import partial

from core.adapter import Unsupported
from core.operation import Operation
from families.mysql.values import NATURAL, field, literal
from families.sql.adapter import SqlAdapter
from families.sql.blocks import block_size, in_blocks
from families.sql.literals import with_literals
from families.sql.placeholders import formatted

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
# Kept as long as the process lives: mariadb 1.1.14 crashes (SIGSEGV) some statements after one was freed.
CURSORS = []


def fetched(cursor, execute):
    """`execute`, giving back the cursor: its rows."""

    def rows(argument):
        execute(argument)
        return cursor

    return rows


def compression(options, rows):
    """The setting `compression`, as the server has it for this connection, where it was requested."""
    if options.get("compression") != "zlib":
        return {}
    return {"compression": dict(map(tuple, rows("SHOW STATUS LIKE 'Compression'")))["Compression"].lower()}


class MysqlAdapter(SqlAdapter):
    """What these drivers have in common; `log_in()` connects, `connection_id()` is the server's number of it."""

    bulk_ways = ("executemany", "load-data")
    binding = "client: the driver puts the values into the SQL"
    bulk_binding = "one INSERT of many rows"
    natural = NATURAL

    def connect(self):
        self.shipped = self.options.get("profile") == "shipped"
        self.connection = self.log_in()
        self.number = self.connection_id()  # some drivers refuse it to another thread

    @property
    def encrypted(self):
        """Whether TLS is requested, with a check or without."""
        return self.options.get("tls", "off") not in ("off", "default")

    @property
    def checks(self):
        """(whether the server's certificate is checked, whether its name is)"""
        return self.options.get("tls") in ("verify-ca", "verify-full"), self.options.get("tls") == "verify-full"

    def files(self, ca="ssl_ca", cert="ssl_cert", key="ssl_key"):
        """The PEM files that are given, by the driver's own words."""
        words = {"tls_ca": ca, "tls_cert": cert, "tls_key": key}
        return {word: self.options[option] for option, word in words.items() if self.options.get(option)}

    @property
    def compress(self):
        """The argument by which the drivers that can do so compress what crosses the connection."""
        return {"compress": True} if self.options.get("compression") == "zlib" else {}

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
            return Operation(
                partial(self.first_query, phase.sql), converters=converters, connect=self.log_in, close=self.hang_up
            )
        arguments = parameters
        cursor = self.cursor(phase)
        CURSORS.append(cursor)
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
        return Operation(run, arguments, converters)

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

        return Operation(executemany)

    def load_data(self, phase):
        """LOAD DATA of a file that exists only in memory."""
        if self.value_of("SELECT @@local_infile") != 1:
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

        return Operation(load)

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

    def value_of(self, query):
        return self.rows(query)[0][0]

    def cancel(self):
        """KILL QUERY, from a connection of its own."""
        other = self.log_in()
        with closing(other.cursor()) as cursor:
            cursor.execute(f"KILL QUERY {self.number}")
        other.close()

    def set_timeout(self, milliseconds):
        if "MariaDB" in self.value_of("SELECT VERSION()"):
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
            **compression(self.options, self.rows),
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
