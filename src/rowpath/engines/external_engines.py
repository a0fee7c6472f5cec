"""Engines for which Rowpath can start no server: a URL names their servers, or only a probe reaches them.

Oracle Database comes from no registry that Rowpath could fetch it from, Db2 for i runs on IBM's Power machines only.
Any other database is reached through a JDBC or ODBC driver of the user's own, by `rowpath probe` only: its dialect is
unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from typing_extensions import override

from rowpath.engines.base import BY_URL, Place
from rowpath.engines.external_server import MARKER, ExternalServer, ServerKind
from rowpath.engines.probe_facts import UNKNOWN_SESSION, ProbeFacts, Syntax
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.errors import UsageError
from rowpath.model.availability import Availability
from rowpath.model.workload import Column, Table


class ExternalEngine(SqlDialect):
    """A kind of engine with servers that others run; a subclass has its types and limits.

    `longest`: the greatest length of a type and the type that takes what is longer (empty: `unlimited_binary`).
    """

    kind: ServerKind
    deployments: tuple[str, ...] = ("server",)
    durabilities: tuple[str, ...] = ("full",)  # it is what its owner made it
    drop_words = "DROP TABLE {name}"
    longest: Mapping[str, tuple[int, str]] = {}
    unlimited_binary: str

    @override
    def availability(self) -> Availability:
        """Whether a URL names a server; connects to none."""
        return self.kind.availability()

    @override
    def version(self) -> str:
        """Known only once connected: its facts have it."""
        return BY_URL

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> ExternalServer:
        """The server of the URL. Errors: EnvironmentMissing, UsageError."""
        return ExternalServer(self, self.kind, durability, place)

    @override
    def spelt(self, column: Column) -> str:
        kind = str(column.type)
        while kind in self.longest and not 0 < column.length <= self.longest[kind][0]:
            kind = self.longest[kind][1]
            if not kind:
                return self.unlimited_binary
        return self._spelt(kind, column)


class Oracle(ExternalEngine):
    """The kind of engine: Oracle. To it an empty string is NULL."""

    name = "oracle"
    title = "Oracle"
    order = 30
    kind = ServerKind(
        engine=name,
        title=title,
        port=1521,
        example="oracle://user@host:1521/SERVICE",
        why_none="Oracle's server is in no package or registry for Linux, so Rowpath can start none",
        tables="SELECT table_name FROM user_tables",
        clear=(
            "BEGIN FOR made IN (SELECT table_name FROM user_tables) LOOP "
            "EXECUTE IMMEDIATE 'DROP TABLE \"' || made.table_name || '\" PURGE'; END LOOP; END;",
        ),
        make_marker=f"CREATE TABLE {MARKER} (a NUMBER(10))",
    )
    drop_words = "DROP TABLE {name} PURGE"  # past the recycle bin
    integers = {16: "NUMBER(5)", 32: "NUMBER(10)", 64: "NUMBER(19)"}
    types = {
        "decimal": "NUMBER({precision},{scale})",
        "float32": "BINARY_FLOAT",
        "float64": "BINARY_DOUBLE",
        "boolean": "NUMBER(1)",
        "char": "CHAR({length} CHAR)",
        "varchar": "VARCHAR2({length} CHAR)",
        "text": "CLOB",
        "binary": "RAW({length})",
        "date": "DATE",
        "timestamp": "TIMESTAMP(6)",
    }
    slow_query = "SELECT COUNT(*) FROM all_objects a, all_objects b, all_objects c, all_objects d"
    longest = {"char": (2000, "varchar"), "varchar": (4000, "text"), "binary": (2000, "")}
    unlimited_binary = "BLOB"
    lacks = {
        "time": "Oracle has no time of day without a date",
        "timestamptz": "Oracle's TIMESTAMP WITH TIME ZONE keeps the zone; other engines do not",
        "json": "only newer versions of Oracle have JSON",
        "interval": "Oracle has intervals of months and of days, but none with both",
        "uuid": "Oracle has no type for UUIDs",
        "array": "Oracle needs its own CREATE TYPE for each array type",
    }


_LIBRARY = "QSYS2.SYSTABLES WHERE TABLE_SCHEMA = CURRENT SCHEMA AND TABLE_TYPE IN ('T', 'P')"


class Db2ForI(SqlDialect):
    """How Db2 for i spells types. Texts are UTF-8 (CCSID 1208), in a table of ASCII texts EBCDIC (CCSID 37)."""

    types = {
        "decimal": "DECIMAL({precision},{scale})",
        "float32": "REAL",
        "float64": "DOUBLE",
        "boolean": "SMALLINT",
        "char": "CHAR({length}) CCSID 1208",
        "varchar": "VARCHAR({length}) CCSID 1208",
        "text": "CLOB(16M) CCSID 1208",
        "binary": "VARBINARY({length})",
        "date": "DATE",
        "time": "TIME",
        "timestamp": "TIMESTAMP",
    }
    lacks = {
        "timestamptz": "Db2 for i has no timestamps with a time zone",
        "json": "Db2 for i keeps JSON as text and has no type for it",
        "interval": "Db2 for i has no column type for durations",
        "uuid": "Db2 for i has no type for UUIDs",
        "array": "Db2 for i has arrays only in procedures",
    }

    @override
    def _column(self, name: str, column: Column, table: Table) -> str:
        words = super()._column(name, column, table)
        return words.replace(" CCSID 1208", " CCSID 37") if table.ascii else words


class Ibmi(Db2ForI, ExternalEngine):
    """The kind of engine: Db2 for i. The URL's database is a library of its own."""

    name = "ibmi"
    title = "Db2 for i"
    order = 31
    kind = ServerKind(
        engine=name,
        title=title,
        port=8471,
        example="ibmi://user@host/LIBRARY",
        why_none="Db2 for i runs only on IBM i, so Rowpath can start none on Linux",
        tables=f"SELECT TABLE_NAME FROM {_LIBRARY}",
        clear=(
            f"BEGIN FOR made AS SELECT TABLE_NAME AS name FROM {_LIBRARY} DO "
            "EXECUTE IMMEDIATE 'DROP TABLE \"' CONCAT made.name CONCAT '\"'; END FOR; END",
        ),
    )
    slow_query = "SELECT COUNT(*) FROM QSYS2.SYSCOLUMNS a, QSYS2.SYSCOLUMNS b, QSYS2.SYSCOLUMNS c"
    longest = {"binary": (32_000, "")}
    unlimited_binary = "BLOB(16M)"


class OwnDriver(ExternalEngine):
    """The kind of engine: whatever a driver that the user names leads to; `example` is how a probe names it."""

    def __init__(self, name: str, order: int, driver_flag: str, example: str) -> None:
        self.name = name
        self.order = order
        self.probe = ProbeFacts(
            schemes=(name,),
            driver_flag=driver_flag,
            syntax=Syntax(brackets=True, unknown=True),
            session_note=UNKNOWN_SESSION,
        )
        self._example = example

    @override
    def availability(self) -> Availability:
        """Never on its own: only a probe names a driver and a URL."""
        reason = "any database whose driver you have, and only to probe it: its dialect is unknown"
        return Availability(False, f"any database through {self.name}", reason, self._example)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> NoReturn:
        """Errors: UsageError, always."""
        raise UsageError(f"Rowpath starts no engine for {self.name}", self._example)

    @override
    def create(self, name: str, table: Table) -> NoReturn:
        """Errors: UsageError, always."""
        raise UsageError(self.supports(""), self._example)

    @override
    def supports(self, logical_type: str) -> str:
        return f"Rowpath creates no tables through {self.name}: its dialect is unknown"


ORACLE, IBMI = Oracle(), Ibmi()
FAMILY = (
    ORACLE,
    IBMI,
    OwnDriver("jdbc", 80, "--jar", "rowpath probe jdbc:… --jar FILE --query 'SELECT …'"),
    OwnDriver(
        "odbc",
        81,
        "--odbc-driver",
        "rowpath probe 'odbc:SERVER=…;DATABASE=…' --odbc-driver FILE --query 'SELECT …'",
    ),
)
