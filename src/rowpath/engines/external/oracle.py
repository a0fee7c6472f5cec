"""Oracle Database, by URL only: its server comes from no registry that Rowpath could fetch it from."""

from __future__ import annotations

from rowpath.engines.external.base import ExternalEngine
from rowpath.engines.external.server import MARKER, ServerKind


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


ENGINE = Oracle()
