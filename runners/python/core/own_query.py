"""A layer above a driver with a query, or a table, that is not ours: rows of a raw query, objects of a mapped class."""

import re
from operator import attrgetter

from core.adapter import Unsupported
from core.layer import AboveDriver

NAME_PART = re.compile(r'"((?:[^"]|"")*)"')


class MappedTable:
    """The table that a class is made of: `parts` of its name, and its columns.

    `attributes` are what the columns are called in the class, `key` those of the primary key, in order.
    """

    def __init__(self, phase):
        self.name = phase.table
        self.parts = [part.replace('""', '"') for part in NAME_PART.findall(phase.table)]
        self.columns = phase.columns
        self.attributes = [column.name for column in phase.table_columns]
        self.key = phase.key_columns

    @property
    def schema(self):
        """The part before the table's own name; None without one."""
        return ".".join(self.parts[:-1]) or None

    def is_key(self, column):
        """Whether the column is one of the primary key."""
        return column.name in self.key

    def each(self):
        """(attribute, column) of every column."""
        return zip(self.attributes, self.columns, strict=True)


class OwnQueryLayer(AboveDriver):
    """A query layer or an ORM: one class called `Adapter` in one file under layers/own_query/.

    `open()` connects as the layer's documentation says. `beneath()` gives the connection of the driver's own that the
    layer then has, and keeps. `raw(sql)` gives a function of a tuple of parameters: the rows, as the layer hands them
    over. `mapped(table)` gives a function without arguments: every row of the table as an object of a class that is
    made at run time. Above an asynchronous driver these are coroutine functions.
    """

    def beneath(self):
        raise NotImplementedError

    def raw(self, sql):
        raise NotImplementedError

    def mapped(self, table):
        raise NotImplementedError

    def connect(self):
        self.open()
        self.driver.adopt(self.beneath())

    def another(self):
        raise Unsupported("a layer with a query that is not ours has one client here")

    def server_pid(self):
        return self.driver.server_pid()

    def prepare(self, phase, parameters):
        if phase.kind != "query":
            raise Unsupported(f"a layer with a query that is not ours does nothing of kind {phase.kind!r}")
        if self.options["technique"] != "mapped":
            return self.operation(self.raw(self.statement(phase)), parameters)
        table = MappedTable(phase)
        select, read = self.mapped(table), reader(table.attributes)
        if self.concurrency != "tasks":
            return self.operation(lambda _: map(read, select()), None)

        async def execute(_):
            return map(read, await select())

        return self.operation(execute, None)

    def statement(self, phase):
        """The SQL with the placeholders that the layer takes."""
        return phase.sql

    def transaction(self, phase):
        return None


def reader(attributes):
    """A function of an object: a tuple of these attributes."""
    read = attrgetter(*attributes)
    return read if len(attributes) > 1 else lambda of: (read(of),)
