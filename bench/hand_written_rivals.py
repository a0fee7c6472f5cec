"""Which row path stands beside which program by hand, and the bar of each."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Any

from rowpath.analysis.statistics.intervals import Interval
from rowpath.machine.c_compiler import library_file
from rowpath.planning.plan import PlannedPath
from rowpath.runners import building

TCP = {"transport": "tcp"}
UNIX = {"transport": "unix"}


@dataclass(frozen=True)
class Rival:
    """A row path and its program; `url` (JDBC) takes the engine's options, `properties` are of the driver's users.

    `bar`: the interval of ours over theirs must reach what lies between these two.
    """

    language: str
    driver: str
    source: str
    placeholder: str = "?"
    url: str = ""
    properties: tuple[str, ...] = ()
    coordinates: dict[str, str] = field(default_factory=dict)
    user: str = ""  # of an embedded database that wants one; its password is empty
    bar: tuple[float, float] = (0.0, 1.05)
    which: str = ""  # of several paths of one driver

    @property
    def name(self) -> str:
        """The path's."""
        return f"{self.language} {self.driver} {self.which}".strip()

    @property
    def bar_text(self) -> str:
        """What the interval must reach."""
        least, most = self.bar
        return f"interval reaches {least} to {most}" if least else f"interval reaches {most} or less"

    def is_met(self, interval: Interval) -> bool:
        """Whether the interval of ours over theirs reaches that."""
        least, most = map(math.log, (self.bar[0] or sys.float_info.min, self.bar[1]))
        return interval.low <= most and interval.high >= least

    def settings(self, options: dict[str, Any], ours: PlannedPath) -> dict[str, str]:
        """What the program reads first, from where the engine is."""
        found = {name: str(value) for name, value in options.items()}
        found |= {key: ours.path.get(key) for key in ("transport", "statement")}
        if self.source == "odbc.c":
            found["driver"] = str(building.odbc_driver(ours.adapter, ours.path.get("version"), library_file))
            found |= dict(each.split("=") for each in self.properties)
        found |= {"user": self.user, "password": ""} if self.user else {}
        return found | ({"url": self.url.format(**options)} if self.url else {})


POSTGRESQL_URL = "jdbc:postgresql://{host}:{port}/{database}?sslmode=disable&binaryTransfer=false"
DERBY = ("timestamp_of_java_sql=true", "derby.stream.error.file=/dev/null")
CONNECTOR_J_URL = (
    "jdbc:mysql://{host}:{port}/{database}?sslMode=DISABLED&useServerPrepStmts=true&connectionTimeZone=UTC"
)
MARIADB_URL = "jdbc:mariadb://{host}:{port}/{database}?useServerPrepStmts=true&connectionTimeZone=UTC"
SERVER = "SERVER={host};PORT={port};DATABASE={database};UID={user};PWD={password};"
OF_TOUR = (0.97, 1.03)  # the C paths of experiments/tour.toml
THIN = (0.0, 1.02)
RIVALS = (
    Rival("c", "libpq", "libpq.c", "$1", coordinates=TCP, bar=OF_TOUR),
    Rival("c", "libpq", "libpq.c", "$1", coordinates=UNIX, which="unix", bar=OF_TOUR),
    Rival("c", "libpq", "libpq.c", "$1", coordinates=TCP | {"statement": "text"}, which="text", bar=OF_TOUR),
    Rival("c", "sqlite", "sqlite.c", bar=OF_TOUR),
    Rival("c", "file", "file.c", bar=OF_TOUR),
    Rival("c", "psqlodbc", "odbc.c", url=SERVER + "SSLmode=disable;", coordinates=TCP, bar=THIN),
    Rival("c", "odbc-mariadb", "odbc.c", url=SERVER, coordinates=TCP | {"engine": "mariadb"}, bar=THIN),
    Rival(
        "c",
        "libsqliteodbc",
        "odbc.c",
        url="Database={path};StepAPI=1;SyncPragma=OFF;",
        properties=("timestamp_is_text=1",),
        bar=THIN,
    ),
    Rival("java", "pgjdbc", "Jdbc.java", url=POSTGRESQL_URL, properties=("key_as_char=true",), coordinates=TCP),
    Rival("java", "sqlite-jdbc", "Jdbc.java", url="jdbc:sqlite:{path}", properties=("timestamp_as_text=true",)),
    Rival("java", "derby", "Jdbc.java", url="jdbc:derby:{path}", properties=DERBY),
    Rival("java", "h2", "Jdbc.java", url="jdbc:h2:file:{path};OPTIMIZE_REUSE_RESULTS=FALSE", user="SA"),
    Rival("java", "hsqldb", "Jdbc.java", url="jdbc:hsqldb:file:{path};shutdown=true", user="SA"),
    Rival("java", "connector-j", "Jdbc.java", url=CONNECTOR_J_URL, coordinates=TCP, bar=THIN),
    Rival("java", "mariadb-java-client", "Jdbc.java", url=MARIADB_URL, coordinates=TCP, bar=THIN),
    Rival("python", "psycopg", "dbapi.py", "%s", coordinates=TCP),
    Rival("python", "psycopg2", "dbapi.py", "%s", coordinates=TCP),
    Rival("python", "asyncpg", "asynchronous.py", "$1", coordinates=TCP),
    Rival("python", "sqlite3", "dbapi.py"),
    Rival("python", "duckdb", "dbapi.py"),
    Rival("go", "pgx", "go/pgx.go", "$1", coordinates=TCP),
    Rival("go", "pgx-stdlib", "go/databasesql.go", "$1", coordinates=TCP),
    Rival("go", "pq", "go/databasesql.go", "$1", coordinates=TCP),
    Rival("go", "go-sql-driver-mysql", "go/databasesql.go", coordinates=TCP),
    Rival("go", "mattn-sqlite3", "go/databasesql.go"),
    Rival("go", "modernc-sqlite", "go/databasesql.go"),
    Rival("rust", "rusqlite", "rust/rusqlite.rs"),
    Rival("rust", "tokio-postgres", "rust/tokio-postgres.rs", "$1", coordinates=TCP),
    Rival("node", "pg", "asynchronous.js", "$1", coordinates=TCP),
    Rival("node", "postgres-js", "asynchronous.js", "$1", coordinates=TCP),
    Rival("node", "mysql2", "asynchronous.js", coordinates=TCP),
    Rival("node", "mariadb", "asynchronous.js", coordinates=TCP),
    Rival("node", "better-sqlite3", "better-sqlite3.js"),
)
