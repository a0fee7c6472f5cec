"""Derby: the same database directory embedded in a client's JVM and behind the network server.

10.8.2.2 and IBM's driver jcc come on request only: newer Derby refuses jcc, whose licence is IBM's. 10.3.1.4 only makes
databases that newer versions open (execution/mixed_load/directory_copies.py).
"""

from __future__ import annotations

import fcntl
from collections.abc import Mapping
from pathlib import Path

from typing_extensions import override

from rowpath.engines import backup
from rowpath.engines.base import Instance, LoadingCost, Place, Wire
from rowpath.engines.jvm_engine import DATABASE, SQL_TYPES, JvmEngine, ServerCommand, jvm_command
from rowpath.engines.probe_facts import FileLayout, FileLock, ProbeFacts, Syntax
from rowpath.errors import RowpathError
from rowpath.machine import processes
from rowpath.machine.maven import JCC, Artefacts
from rowpath.model.availability import Availability
from rowpath.model.workload import Column, Table

OLD, OLDEST = "10.8.2.2", "10.3.1.4"
OLD_JARS = tuple(f"{name}:{OLD}" for name in ("derbynet", "derby", "derbytools"))  # of the server
BY_VERSION: Mapping[str, Artefacts] = {
    version: Artefacts(name, f"Derby {version}", "Apache-2.0", size, tuple(f"org.apache.derby:{jar}" for jar in jars))
    for version, name, size, jars in (
        (OLD, "derby-10.8", "4 MB", (*OLD_JARS, f"derbyclient:{OLD}")),
        (OLDEST, "derby-10.3", "2 MB", (f"derby:{OLDEST}",)),
    )
}
LONGEST_CHAR = 254
JARS = ("derbynet", "derby", "derbytools", "derbyshared")
RESTORING = ("-Dderby.stream.error.file=/dev/null", "-Dderby.storage.pageCacheSize=20000")
WRONG = "ERROR "
SHUT_DOWN = "ERROR 08006"  # what ij prints for a database that was shut down as requested
# The function itself fails for a table that does not match its indexes; it is called before rows are left out.
CHECK = """
SELECT TABLENAME FROM SYS.SYSTABLES JOIN SYS.SYSSCHEMAS USING (SCHEMAID)
WHERE TABLETYPE = 'T' AND SYSCS_UTIL.SYSCS_CHECK_TABLE(SCHEMANAME, TABLENAME) <> 1;
"""
CONTROL = "org.apache.derby.drda.NetworkServerControl"


def _locks(main: Path, _every: tuple[Path, ...]) -> list[FileLock]:
    lock = main / "dbex.lck"
    return [FileLock(lock, fcntl.F_WRLCK)] if lock.is_file() else []


class Derby(JvmEngine):
    """The kind of engine: Derby. Durability none: `derby.system.durability=test` in the JVM with the database."""

    name = "derby"
    order = 11
    title = "Derby"
    types = {
        **{kind: SQL_TYPES[kind] for kind in ("decimal", "float32", "float64", "boolean", "char", "varchar", "date")},
        "text": "CLOB",
        "binary": "VARCHAR({length}) FOR BIT DATA",
        "time": "TIME",
        "timestamp": "TIMESTAMP",
    }
    settles_with = ("CALL SYSCS_UTIL.SYSCS_CHECKPOINT_DATABASE()",)
    made_file = "service.properties"
    lock_file = "db.lck"
    ways = ("procedure",)
    backup_file = DATABASE  # its procedure copies the directory under its own name into the folder
    backup_words = "CALL SYSCS_UTIL.SYSCS_BACKUP_DATABASE({folder})"
    drop_words = "DROP TABLE {name}"
    server_url = "jdbc:derby://{host}:{port}/{database}"
    downloads = {artefacts.name: artefacts for artefacts in (*BY_VERSION.values(), JCC)}
    loading = LoadingCost(10e6, 2.0, 8e6)
    wire = Wire("drda", needs_password=True)
    probe = ProbeFacts(
        schemes=("derby",),
        port=1527,
        layout=FileLayout(
            directory_mark="service.properties",
            not_copied=".lck",
            exclusive=True,
            locks=_locks,
            written_when_read=lambda _main: "Derby writes to a database as soon as it boots it",
        ),
        syntax=Syntax(fold=str.upper),
        row_limit="FETCH FIRST {rows} ROWS ONLY",
        session_note="Derby's sessions have no read-only mode and no timeouts in SQL: only your role protects the data",
    )
    # The condition covers every table: one on fewer would be tested before the others are joined.
    slow_query = (
        "SELECT COUNT(*) FROM SYS.SYSCOLUMNS a, SYS.SYSCOLUMNS b, SYS.SYSCOLUMNS c, SYS.SYSCOLUMNS d, SYS.SYSCOLUMNS e"
        " WHERE a.COLUMNNUMBER + b.COLUMNNUMBER + c.COLUMNNUMBER + d.COLUMNNUMBER + e.COLUMNNUMBER < 0"
    )
    user = "APP"  # whose default schema is that of the embedded database, which has no users

    def __init__(self, version: str = "") -> None:
        self._version = version  # empty: the pinned one

    @override
    def version(self) -> str:
        """The version of the pinned jar, or of the old one."""
        return self._version or super().version()

    def versions(self) -> tuple[str, ...]:
        """The pinned one; the old one, only a server, which IBM's driver needs."""
        return super().version(), OLD

    def movable_versions(self) -> tuple[str, ...]:
        """The oldest too (execution/mixed_load/directory_copies.py)."""
        return *self.versions(), OLDEST

    def tls_version(self) -> str:
        """Empty: Derby's own TLS is left out."""
        return ""

    def availability_of(self, version: str, tls: str) -> Availability:
        """Whether that version can run here; an old one only once it was fetched."""
        here = self.availability()
        return BY_VERSION[version].availability() if here.ok and version in BY_VERSION else here

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        """A database directory, or a server over one, not yet made. Errors: EnvironmentMissing."""
        if place.version in BY_VERSION:
            BY_VERSION[place.version].availability().require()
        return JvmEngine.instance(Derby(place.version), deployment, durability, place)

    @override
    def supports(self, logical_type: str) -> str:
        if self.version() == OLD and logical_type in ("float32", "float64"):
            return f"the greatest values of REAL and DOUBLE are out of range in Derby {OLD}"
        return super().supports(logical_type)

    def imported(self, name: str, table: Table, file: Path, folder: Path) -> list[str]:
        """Derby's import of a copy with every value in quotes: blanks at the ends of others would be lost."""
        copy = folder / f"{name}.quoted"
        with file.open("rb") as lines, copy.open("wb") as target:
            target.writelines(b'"' + line[:-1].replace(b"|", b'"|"') + b'"\n' for line in lines)
        return [
            f"CALL SYSCS_UTIL.SYSCS_IMPORT_TABLE(NULL, '{name.upper()}', {backup.literal(copy)}, '|', '\"', 'UTF-8', 0)"
        ]

    @override
    def once(self, durability: str) -> list[str]:
        """Index statistics are made when a table is filled and never renewed: the daemon would work beside us."""
        return ["CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('derby.storage.indexStats.auto', 'false')"]

    @override
    def filled(self, name: str, table: Table) -> list[str]:
        """Where its numbering goes on, and statistics, which the oldest cannot make."""
        if self.version() == OLDEST:
            return super().filled(name, table)
        return [*super().filled(name, table), f"CALL SYSCS_UTIL.SYSCS_UPDATE_STATISTICS('APP', '{name.upper()}', NULL)"]

    @override
    def restore(self, kept: Path, database: Path) -> None:
        """Derby's program ij restores it, applies its log and checks every table against its indexes."""
        connect = f"connect 'jdbc:derby:{database};"
        script = f"{connect}restoreFrom={kept}';{CHECK}{connect}shutdown=true';"
        command = jvm_command(self._jars(), "-XX:TieredStopAtLevel=1", *RESTORING)
        done = processes.run([*command, "org.apache.derby.tools.ij"], text=script, timeout_s=backup.TIMEOUT_S)
        errors = [line[line.index(WRONG) :] for line in done.stdout.splitlines() if WRONG in line]
        if not errors or not errors[0].startswith(SHUT_DOWN):
            raise RowpathError(errors[0] if errors else f"ij ended early: {done.stdout.strip()[-500:]}")

    @override
    def set_password(self, password: str) -> list[str]:
        """The server knows its user, the database none."""
        return []

    @override
    def server_files(self, password: str) -> dict[str, str]:
        """`derby.properties` with the only login."""
        lines = [
            "derby.connection.requireAuthentication=true",
            "derby.authentication.provider=BUILTIN",
            f"derby.user.{self.user}={password}",
        ]
        return {"derby.properties": "\n".join(lines) + "\n"}

    @override
    def server_command(self, home: Path, port: int, durability: str) -> ServerCommand:
        """The network server."""
        properties = [f"-Dderby.system.home={home}", f"-Dderby.stream.error.file={home / 'derby.log'}"]
        if durability == "none":
            properties.append("-Dderby.system.durability=test")
        return ServerCommand(
            jars=self._jars(),
            properties=tuple(properties),
            arguments=(CONTROL, "start", "-h", "127.0.0.1", "-p", str(port), "-noSecurityManager"),
            ready="ready to accept connections",
        )

    @override
    def server_settings(self, durability: str) -> dict[str, str]:
        """Durability as Derby calls it."""
        return {"derby.system.durability": "test" if durability == "none" else "full"}

    @override
    def ping(self, port: int) -> list[str]:
        """Derby's control program."""
        return [CONTROL, "ping", "-h", "127.0.0.1", "-p", str(port)]

    def _jars(self) -> tuple[str, ...]:
        return OLD_JARS if self.version() == OLD else JARS

    @override
    def spelt(self, column: Column) -> str:
        # A CHAR beyond the longest is kept without its blanks, which the digest drops anyway.
        return self._spelt("varchar" if column.type == "char" and column.length > LONGEST_CHAR else column.type, column)


ENGINE = Derby()
