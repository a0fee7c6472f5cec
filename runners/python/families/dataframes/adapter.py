"""What pandas and polars have in common here: another driver's connection brings the rows, a data frame holds them."""

import importlib

from core.adapter import Adapter, Unsupported
from families.sql.literals import literal, with_literals
from families.sqlite.literals import literal as literal_of_sqlite

# The adapter of the driver below, by engine and the coordinate `through`.
BELOW = {
    "postgresql": {
        "adbc": "adbc_postgresql",
        "adbc-uri": "adbc_postgresql",
        "connectorx": "connectorx",
        "psycopg": "psycopg",
        "psycopg2": "psycopg2",
        "sqlalchemy": "psycopg2",
    },
    "sqlite": {"sqlite3": "sqlite3", "sqlalchemy": "sqlite3"},
}
LITERALS = {"postgresql": literal, "sqlite": literal_of_sqlite}
DIALECTS = {"postgresql": "postgresql+psycopg2", "sqlite": "sqlite+pysqlite"}
# Columns that arrive as text through a driver.
AS_TEXT = {"adbc_postgresql": ("decimal",), "sqlite3": ("decimal", "date", "time", "timestamp")}


class DataFrameAdapter(Adapter):
    """A library that makes data frames; the driver below has its own adapter, which connects and answers for it.

    `connection` is what the library is given: a DBAPI connection, or SQLAlchemy's around one. `own_errors` lists the
    classes of the library's own errors.
    """

    own_errors = ()

    def connect(self):
        engine, self.through = self.options["engine"], self.options["through"]
        self.below_name = name = BELOW[engine].get(self.through)
        if name is None:
            raise Unsupported(f"{engine} is not reached through {self.through}")
        self.as_text = AS_TEXT.get(name, ())
        self.below = importlib.import_module(f"adapters.{name}").Adapter(self.options)
        self.errors = (*self.below.errors, *self.own_errors)
        self.libraries = {}
        notes = self.below.connect()
        self.connection = getattr(self.below, "connection", None)  # connectorx has none that stays
        if self.through == "sqlalchemy":
            self.connection = self.of_sqlalchemy(DIALECTS[engine])
        return notes

    def of_sqlalchemy(self, dialect):
        """A connection of SQLAlchemy's around the driver's own one."""
        sqlalchemy = importlib.import_module("sqlalchemy")
        self.errors += (sqlalchemy.exc.SQLAlchemyError,)
        self.libraries = {"sqlalchemy": sqlalchemy.__version__, "dialect": dialect}
        connection = self.connection
        engine = sqlalchemy.create_engine(
            f"{dialect}://", creator=lambda: connection, poolclass=sqlalchemy.pool.StaticPool
        )
        return engine.connect().execution_options(no_parameters=True)  # without any a % is no placeholder

    def texts(self, phase, parameters):
        """The phase's SQL, with each row's values in it."""
        if parameters is None:
            return [phase.sql]
        as_literal = LITERALS[self.options["engine"]]
        return [with_literals(phase.sql, row, as_literal) for row in parameters]

    def readers(self, phase):
        """The readers of the driver below, whose own forms the frames keep."""
        return [getattr(self.below, "reader", lambda _: None)(column) for column in phase.columns]

    def server_pid(self):
        return self.below.server_pid()

    def transaction(self, phase):
        return self.below.transaction(phase)

    def cancel(self):
        self.below.cancel()

    def set_timeout(self, milliseconds):
        self.below.set_timeout(milliseconds)

    def run(self, statement):
        self.below.run(statement)

    def facts_with(self, version):
        """The facts of the driver below, as those of this library's version."""
        found = self.below.facts()
        driver = {f"driver {type(self.below).__module__.rpartition('.')[2]}": found["driver_version"]}
        libraries = found.get("libraries", {}) | driver | self.libraries
        return found | {"driver_version": version, "libraries": libraries}

    def close(self):
        if self.through == "sqlalchemy":
            self.connection.close()
            self.connection.engine.dispose()
        self.below.close()

    def code(self, error):
        while not isinstance(error, self.below.errors) and error.__cause__:  # the library wraps the driver's own
            error = error.__cause__
        return self.below.code(error) if isinstance(error, self.below.errors) else type(error).__name__
