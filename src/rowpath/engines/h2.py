"""H2: the same database file embedded in a client's JVM and behind its TCP server."""

from __future__ import annotations

import zipfile
from pathlib import Path

from typing_extensions import override

from rowpath.engines import backup
from rowpath.engines.base import LoadingCost
from rowpath.engines.jvm_engine import DATABASE, SQL_TYPES, JvmEngine, ServerCommand
from rowpath.engines.probe_facts import LOCK_TIMEOUT_S, FileLayout, ProbeFacts, Syntax
from rowpath.errors import RowpathError
from rowpath.model.workload import Table


class H2(JvmEngine):
    """The kind of engine: H2. Its store never syncs at a commit, whatever its settings: there is no durability full."""

    name = "h2"
    order = 12
    title = "H2"
    durabilities = ("none",)
    types = {**SQL_TYPES, "text": "VARCHAR", "array": "{integer} ARRAY"}
    lacks = {
        "json": "H2 keeps JSON in its own form, without the blanks of the stored text",
        "interval": "H2 has intervals of months and of seconds, but none with both",
    }
    settles_with = ("CHECKPOINT SYNC",)  # everything into the file and the file to the disk
    inside = DATABASE
    made_file = f"{DATABASE}.mv.db"
    user = "SA"
    ways = ("backup-to",)
    backup_file = f"{DATABASE}.zip"  # of the database's file
    backup_words = "BACKUP TO {file}"
    greeting = bytes(8)  # an impossible version of its protocol
    server_url = "jdbc:h2:tcp://{host}:{port}/./{database}"
    slow_query = "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000) a, SYSTEM_RANGE(1, 1000000) b WHERE a.X + b.X < 0"
    loading = LoadingCost(0, 2.4, 6e6)
    probe = ProbeFacts(
        schemes=("h2",),
        port=9092,
        layout=FileLayout(
            (".mv.db",),
            open_mark=".lock.db",
            exclusive=True,
            written_when_read=lambda _main: "H2 may write to a database as soon as it opens it",
        ),
        syntax=Syntax(fold=str.upper, dollar_quotes=True),
        row_limit="LIMIT {rows}",
        session_statements=lambda _version, timeout_ms: (
            f"SET QUERY_TIMEOUT {timeout_ms}",
            f"SET LOCK_TIMEOUT {LOCK_TIMEOUT_S * 1000}",
        ),
        session_note="H2's sessions have no read-only mode in SQL: only your role protects the data; H2 also returns"
        " the last result of a query again while no table changes, so the figures show only its delivery",
    )

    def imported(self, name: str, table: Table, file: Path, folder: Path) -> list[str]:
        """A query over the file, which nothing in it is quoted for; blanks at a value's ends are its own."""
        columns = "|".join(column.name for column in table.columns)
        form = "charset=UTF-8 fieldSeparator=| fieldDelimiter= escape= preserveWhitespace=true"
        return [f"INSERT INTO {name} SELECT * FROM CSVREAD({backup.literal(file)}, '{columns}', '{form}')"]

    @override
    def filled(self, name: str, table: Table) -> list[str]:
        """Statistics too."""
        return [*super().filled(name, table), f"ANALYZE TABLE {name}"]

    @override
    def restore(self, kept: Path, database: Path) -> None:
        """Unpack it; each file in it has a checksum. Errors: RowpathError, OSError."""
        try:
            with zipfile.ZipFile(kept) as packed:
                packed.extract(self.made_file, database)
        except (zipfile.BadZipFile, KeyError) as error:
            raise RowpathError(f"{kept.name} is not a complete zip file: {error}") from error

    @override
    def server_command(self, home: Path, port: int, durability: str) -> ServerCommand:
        """The TCP server: by its own default it would listen everywhere."""
        return ServerCommand(
            jars=("h2",),
            properties=("-Dh2.bindAddress=127.0.0.1",),
            arguments=("org.h2.tools.Server", "-tcp", "-tcpPort", str(port), "-baseDir", str(home / DATABASE)),
            ready="TCP server running at",
        )


ENGINE = H2()
