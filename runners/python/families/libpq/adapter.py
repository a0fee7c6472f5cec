"""What psycopg and psycopg2 have in common, which both stand on libpq."""

from core.operation import Operation
from families.postgresql.facts import server_facts
from families.sql.adapter import SqlAdapter
from families.sql.placeholders import formatted


def copy_command(phase, form="text"):
    """The COPY that stores rows in the phase's table."""
    return f"COPY {phase.table} ({column_names(phase)}) FROM STDIN (FORMAT {form})"


def column_names(phase):
    """The columns to store, as SQL."""
    return ", ".join(column.name for column in phase.parameter_columns)


class LibpqAdapter(SqlAdapter):
    """What psycopg and psycopg2 have in common; `log_in()` gives a new connection."""

    def connect(self):
        self.shipped = self.options.get("profile") == "shipped"
        self.connection = self.log_in()

    def server_pid(self):
        return self.connection.info.backend_pid

    def transaction(self, phase):
        if phase.delivers and self.options.get("result", "").startswith("cursor"):
            return None  # the cursor has one of its own
        if self.shipped:  # the driver begins one by itself, and it is ours to end it
            return int, self.connection.commit, self.connection.rollback
        return super().transaction(phase)

    def executemany(self, phase, transaction):
        """An `Operation` that stores a list of rows by the driver's executemany, inside `transaction()`."""
        cursor = self.connection.cursor()
        query = formatted(phase.sql)

        def executemany(rows):
            with transaction():
                cursor.executemany(query, rows)

        return Operation(executemany)

    def facts_of_server(self, tls, settings):
        """The server's part of the reply to `facts`."""
        reply = server_facts(
            self.one,
            {"autocommit": "on" if self.connection.autocommit else "off", "tls": "on" if tls else "off", **settings},
        )
        if self.shipped:
            self.connection.commit()
        return reply

    def one(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()[0]

    def set_timeout(self, milliseconds):
        self.run(f"SET statement_timeout = {milliseconds}")

    def close(self):
        self.connection.close()


def begun(rows):
    """`rows(argument)` gives the same generator, run to its first `yield`: executing is seen apart from fetching."""

    def execute(argument):
        steps = rows(argument)
        next(steps)
        return steps

    return execute
