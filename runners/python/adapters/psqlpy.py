"""PostgreSQL through psqlpy: tokio-postgres in Rust, awaited from Python; binary results."""

import importlib.metadata
from collections import Counter
from functools import partial
from uuid import UUID

import psqlpy
from psqlpy import exceptions

from core.adapter import Unsupported
from core.client_tasks import AsyncAdapter
from core.driver_settings import with_settings
from families.postgresql import binary
from families.postgresql.connection import address, numbered, plain, tls
from families.postgresql.facts import TLS, server_facts
from families.sql.literals import literal, with_literals

SSL = {
    "off": {"ssl_mode": psqlpy.SslMode.Disable},
    "on": {"ssl_mode": psqlpy.SslMode.Require},
    "default": {},
}
# CHAR, the text of JSON, months of an interval, long decimals, bits, arrays with NULL: psqlpy has no such values.
DECODERS = {
    "char": binary.text,
    "json": binary.json,
    "interval": binary.interval,
    "decimal": binary.decimal,
    "timetz": binary.timetz,
    "bits": binary.bits,
}
DECIMAL_DIGITS = 28


def where(hosts, port):
    """Keywords for one host, or for several that have the port."""
    return {"hosts": hosts, "ports": [port] * len(hosts)} if hosts[1:] else {"host": hosts[0], "port": port}


class Adapter(AsyncAdapter):
    errors = (exceptions.Error,)
    bulk_ways = ("copy", "executemany")

    def connect(self):
        self.pool, self.connection = self.wait(self.log_in())

    async def log_in(self):
        """A pool, which connects when it is first asked, and one connection of it."""
        at = address(self.options)
        pool = with_settings(
            psqlpy.ConnectionPool,
            self.options,
            username=at["user"],
            password=at["password"],
            **where(at["host"].split(","), int(at["port"])),
            db_name=self.options["database"],
            **({} if plain(self.options) else {"options": "-c TimeZone=UTC"}),
            **SSL[tls(self.options)],
        )
        return pool, await pool.connection()

    def server_pid(self):
        return self.one("SELECT pg_backend_pid()")

    def one(self, sql):
        """The value of the first row and column of a query."""
        return self.wait(awaited(self.connection.fetch_val, sql))

    def prepare(self, phase, parameters):
        connection = self.connection
        query = numbered(phase.sql) if phase.parameter_columns else phase.sql  # a ? may be an operator
        rows_of = partial(fetched, decoders_of(phase.columns), every_decoder(phase.columns))
        converters = [UUID if column.type == "uuid" else None for column in phase.columns]
        operation = partial(self.operation, converters=converters)
        if phase.kind == "connect":
            return operation(lambda opened: rows_of(opened[1].execute(query)), connect=self.log_in, close=hang_up)
        as_text = parameters is not None and self.options.get("statement") == "text"
        if not as_text:
            takes(phase.parameter_columns)
        arguments = [(with_literals(phase.sql, row, literal),) for row in parameters] if as_text else parameters
        cached = self.options.get("statement") == "prepared"  # by their text, for the connection's life
        execute = partial(connection.execute, prepared=cached)
        if as_text:
            run = execute if not phase.delivers else lambda text: rows_of(execute(text))
            return operation(lambda argument: run(*argument), arguments)
        if not phase.delivers:
            return operation(lambda row: execute(query, row), arguments)
        return operation(lambda row: rows_of(execute(query, row)), arguments)

    def transaction(self, phase):
        if not phase.transaction:
            return None
        execute = self.connection.execute_batch
        return partial(execute, "BEGIN"), partial(execute, "COMMIT"), partial(execute, "ROLLBACK")

    def bulk(self, phase, way):
        takes(phase.parameter_columns)
        connection = self.connection
        if way == "copy":
            columns = [column.name.lower() for column in phase.parameter_columns]  # psqlpy quotes names
            copy_in = partial(connection.copy_records_to_table, phase.table.lower(), columns=columns)
            return self.operation(lambda rows: copy_in(records=rows))
        query = numbered(phase.sql)
        return self.operation(lambda rows: connection.execute_many(query, rows))  # one transaction by itself

    def run(self, statement):
        self.wait(awaited(self.connection.execute_batch, statement))

    def set_timeout(self, milliseconds):
        self.run(f"SET statement_timeout = {milliseconds}")

    def facts(self):
        settings = {
            "autocommit": "on",  # seen on the wire: it begins a transaction only when it is asked to
            "tls": self.one(TLS),
            "pool": self.pool.status().max_size,
            "event_loop": self.loop_class,
        }
        return {"driver_version": importlib.metadata.version("psqlpy"), **server_facts(self.one, settings)}

    def close(self):
        self.connection.close()
        self.pool.close()
        if self._owns:
            self.event_loop.close()


def takes(columns):
    """Unsupported for parameters that psqlpy takes in no form that keeps them: json only as what Python makes of it."""
    for column in columns:
        if column.type in ("json", "interval", "array") or (column.type == "decimal" and not kept(column)):
            raise Unsupported(f"column {column.name}: psqlpy does not keep each {column.type} that it stores")


def decoders_of(columns):
    """By a column's name how its bytes become a value, for what psqlpy has none of its own; None where it has all."""
    needed = [c for c in by_name(columns) if c.type in (*DECODERS, "array") and not kept(c)]
    return {column.name.lower(): decoder_of(column) for column in needed} or None


def by_name(columns):
    """The columns whose names are no others' too: psqlpy takes decoders by name."""
    names = Counter(column.name.lower() for column in columns)
    return [column for column in columns if names[column.name.lower()] == 1]


def decoder_of(column):
    """How the bytes of a type that psqlpy has no values of become one."""
    if column.type != "array":
        return DECODERS[column.type]
    [element] = column.fields
    if element.type != "integer":
        return binary.decoder(column)
    return binary.wide_integers if element.bits > 32 else binary.integers


def every_decoder(columns):
    """The same for every type: for values that psqlpy's own have no room for."""
    return {column.name.lower(): binary.decoder(column) for column in by_name(columns)}


def kept(column):
    """Whether it is a decimal that psqlpy's own has room for."""
    return column.type == "decimal" and 0 < column.precision <= DECIMAL_DIGITS


async def fetched(decoders, every, execution):
    """The rows of an execution, as tuples of Python values."""
    found = await execution
    try:
        return found.result(as_tuple=True, custom_decoders=decoders)
    except Exception:
        return found.result(as_tuple=True, custom_decoders=every)


async def awaited(function, argument):
    """What `function` gives once it is awaited; it must be called while the event loop runs."""
    return await function(argument)


async def hang_up(opened):
    """Close a connection and its pool."""
    pool, connection = opened
    connection.close()
    pool.close()
