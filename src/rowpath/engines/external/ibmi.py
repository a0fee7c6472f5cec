"""Db2 for i (IBM i), by URL only: it runs on IBM's Power machines, on no Linux."""

from __future__ import annotations

from typing_extensions import override

from rowpath.engines.external.base import ExternalEngine
from rowpath.engines.external.server import ServerKind
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.model.workload import Column, Table

_OURS = "QSYS2.SYSTABLES WHERE TABLE_SCHEMA = CURRENT SCHEMA AND TABLE_TYPE IN ('T', 'P')"


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
        tables=f"SELECT TABLE_NAME FROM {_OURS}",
        clear=(
            f"BEGIN FOR made AS SELECT TABLE_NAME AS name FROM {_OURS} DO "
            "EXECUTE IMMEDIATE 'DROP TABLE \"' CONCAT made.name CONCAT '\"'; END FOR; END",
        ),
    )
    slow_query = "SELECT COUNT(*) FROM QSYS2.SYSCOLUMNS a, QSYS2.SYSCOLUMNS b, QSYS2.SYSCOLUMNS c"
    longest = {"binary": (32_000, "")}
    unlimited_binary = "BLOB(16M)"


ENGINE = Ibmi()
