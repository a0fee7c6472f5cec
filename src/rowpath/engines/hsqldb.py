"""HSQLDB: the same database files embedded in a client's JVM and behind its server."""

from __future__ import annotations

import tarfile
import zlib
from pathlib import Path

from typing_extensions import override

from rowpath.engines.base import LoadingCost
from rowpath.engines.jvm_engine import DATABASE, SQL_TYPES, JvmEngine, ServerCommand
from rowpath.errors import RowpathError

NEVER_MS = 2_147_483_647
# A killed server's database can be opened 10.1 s after its last sign of life; by itself HSQLDB tries for 9.2 s.
LOCK_TRIES = "-Dhsqldb.lockfile_poll_retries=40"


class Hsqldb(JvmEngine):
    """The kind of engine: HSQLDB, its tables CACHED (rows on disk). Durability full: its log is synced at each commit.

    Durability none: that sync is delayed past the end of any run.
    """

    name = "hsqldb"
    order = 13
    title = "HSQLDB"
    types = {**SQL_TYPES, "text": "LONGVARCHAR", "array": "{integer} ARRAY"}
    lacks = {"interval": "HSQLDB has intervals of months and of seconds, but none with both"}
    create_words = "CREATE CACHED TABLE"
    inside = DATABASE
    made_file = f"{DATABASE}.script"
    lock_file = f"{DATABASE}.lck"
    user = "SA"
    ways = ("backup",)
    backup_file = f"{DATABASE}.tar.gz"  # of the database's files
    backup_words = "BACKUP DATABASE TO {file} NOT BLOCKING"
    server_url = "jdbc:hsqldb:hsql://{host}:{port}/{database}"
    # HSQLDB checks for a cancel only while it reads a stored table: of system tables only BLOCKS is one.
    slow_query = (
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SYSTEM_COLUMNS a, INFORMATION_SCHEMA.SYSTEM_COLUMNS b,"
        " INFORMATION_SCHEMA.SYSTEM_COLUMNS c, INFORMATION_SCHEMA.SYSTEM_COLUMNS d, SYSTEM_LOBS.BLOCKS e"
    )
    loading = LoadingCost(0, 2.0, 3e6)
    greeting = b"GET "  # not its protocol: it hangs up

    @override
    def once(self, durability: str) -> list[str]:
        """When its log is synced: a property of the database, not of a connection."""
        return [f"SET FILES WRITE DELAY {'FALSE' if durability == 'full' else f'{NEVER_MS} MILLIS'}"]

    @override
    def restore(self, kept: Path, database: Path) -> None:
        """Unpack it. Errors: RowpathError, OSError."""
        database.mkdir(mode=0o700)
        try:
            with tarfile.open(kept, "r:gz") as packed:
                packed.extraction_filter = getattr(tarfile, "data_filter", None)  # not in the oldest Python 3.11
                packed.extractall(database)
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise RowpathError(f"{kept.name} is not a complete archive: {error}") from error

    @override
    def server_command(self, home: Path, port: int, durability: str) -> ServerCommand:
        """The command of HSQLDB's server, which opens the database when it starts."""
        database = ("--database.0", f"file:{self.path(home / DATABASE)}", "--dbname.0", DATABASE)
        return ServerCommand(
            jars=("hsqldb",),
            properties=(LOCK_TRIES,),
            arguments=("org.hsqldb.server.Server", "--address", "127.0.0.1", "--port", str(port), *database),
            ready="is online on port",
        )


ENGINE = Hsqldb()
