"""MariaDB's versions, types and statements: what its servers and directories need of the engine."""

from __future__ import annotations

import functools
import json
import shlex
import shutil
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import probe_facts as probing
from rowpath.engines.backup import BackupWays
from rowpath.engines.base import LoadingCost, Wire
from rowpath.engines.mariadb import connections, login, url_options
from rowpath.engines.mariadb import programs as mariadb_binaries
from rowpath.engines.mariadb.settings import TLS_SUFFIX, Flavour
from rowpath.machine import certificates, private_directories
from rowpath.model.availability import Availability
from rowpath.model.workload import Column, Table

TYPES = {
    "decimal": "DECIMAL({precision},{scale})",
    # FLOAT's text has six digits; every number of 32 bits is exact in a DOUBLE, and its text has all digits.
    "float32": "DOUBLE",
    "float64": "DOUBLE",
    "boolean": "BOOLEAN",
    "char": "CHAR({length})",
    "varchar": "VARCHAR({length})",
    "text": "LONGTEXT",
    "json": "JSON",
    "binary": "VARBINARY({length})",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "DATETIME(6)",
    "uuid": "UUID",
}
DUMP, PHYSICAL = ("mariadb-dump", "mariadb-backup")
BACKUP_PROGRAMS = {  # and how each is installed
    DUMP: mariadb_binaries.INSTALL_CLIENT,
    PHYSICAL: "apt-get install --no-install-recommends mariadb-backup",
}
LONGEST_CHAR = 255
LONGEST_BINARY_BYTES = 8_000  # a row of InnoDB, MyISAM and Aria must hold it beside others
_GRANTEE = "CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')"
# How a text of TABLE.tbl becomes the column's value, where the server would not convert it.
READ = {"boolean": "{0} = 't'", "binary": "UNHEX(SUBSTRING({0}, 3))"}


def _session_statements(version: str, timeout_ms: int) -> tuple[str, ...]:
    """A URL of either scheme may name a server of either kind."""
    mariadb = "mariadb" in version.lower()
    limit = f"max_statement_time = {timeout_ms / 1000}" if mariadb else f"max_execution_time = {timeout_ms}"
    return (
        "SET SESSION TRANSACTION READ ONLY",
        f"SET SESSION {limit}",
        f"SET SESSION lock_wait_timeout = {probing.LOCK_TIMEOUT_S}",
        f"SET SESSION innodb_lock_wait_timeout = {probing.LOCK_TIMEOUT_S}",
        "SET SESSION time_zone = @@GLOBAL.time_zone",  # adapters of experiments take UTC
    )


def _server_times(text: str) -> probing.ServerTimes:
    """The times in the output of `ANALYZE FORMAT=JSON`."""
    block = json.loads(text)
    planning = block.get("query_optimization", {}).get("r_total_time_ms", 0.0)
    return probing.ServerTimes(planning, block["query_block"]["r_total_time_ms"])


ANALYZE = probing.ServerClock("ANALYZE FORMAT=JSON", "ANALYZE FORMAT=JSON {sql}", _server_times)


def probe_facts(
    scheme: str,
    *option_groups: str,
    odbc_drivers: tuple[str, ...],
    clock: probing.ServerClock = ANALYZE,
    status: str = "information_schema.GLOBAL_STATUS",
) -> probing.ProbeFacts:
    """What a probe must know of a server of the family; `option_groups`: what its clients read of .my.cnf.

    `status`: the table of the server's counters.
    """
    return probing.ProbeFacts(
        schemes=(scheme,),
        port=login.PORT,
        server_programs=("mariadbd", "mysqld"),
        url_options=probing.SOCKET_KEYS,
        protocol="mysql",
        options=url_options.OPTIONS,
        key_values=url_options.key_values(scheme, odbc_drivers),
        local_name_is_socket=True,
        complete_login=functools.partial(login.complete, option_groups),
        tls=probing.TlsFacts(
            "ssl-mode=VERIFY_IDENTITY",
            {"ca": "ssl-ca", "cert": "ssl-cert", "key": "ssl-key"},
            saved=functools.partial(login.saved_tls, option_groups),
        ),
        syntax=probing.Syntax(name_quote="`", backslashes=True),
        row_limit_statement="SET SESSION sql_select_limit = {rows}",
        session_statements=_session_statements,
        session_note="TIMESTAMP columns are read in the server's own time zone",
        server_clock=clock,
        empty_query="SELECT 1",
        connection_limits=connections.limits(status),
        privileged_query="SELECT privilege_type FROM information_schema.user_privileges"
        f" WHERE grantee = {_GRANTEE} AND privilege_type = 'SUPER'",
    )


class MariadbDialect(BackupWays):
    """The family's engine without its instances. What durability promises depends on the storage."""

    name = "mariadb"
    order = 21
    flavour: Flavour = "mariadb"
    title = "MariaDB"
    listens = True
    wire = Wire("mysql", chunk_bytes=16384, socket_name="socket", password_variable="MYSQL_PWD")  # net_buffer_length
    deployments: tuple[str, ...] = ("server", "embedded")
    storages: tuple[str, ...] = ("innodb", "myisam", "aria")
    compressions = ("none", "zlib")
    no_compressions = {"zstd": "MariaDB's protocol compresses with zlib only"}
    ways: tuple[str, ...] = tuple(BACKUP_PROGRAMS)
    availability = staticmethod(mariadb_binaries.availability)
    private = staticmethod(mariadb_binaries.availability)  # whether a private server can run here
    version = staticmethod(mariadb_binaries.version_here)
    programs = staticmethod(mariadb_binaries.programs)
    types = TYPES
    integers = {16: "SMALLINT", 32: "INT", 64: "BIGINT"}
    lacks = {
        "timestamptz": "TIMESTAMP holds only 1970 to 2038, and DATETIME has no time zone",
        "interval": "INTERVAL exists in expressions, not as a column type",
        "array": "there is no array type",
    }
    identity_words = "AUTO_INCREMENT"
    identity_is_key = True
    nullable_word = "NULL"  # some types would otherwise be NOT NULL
    slow_query = "SELECT count(*) FROM " + ", ".join(f"information_schema.collations AS c{n}" for n in range(1, 7))
    loading = LoadingCost(350e6, 4.5, 20e6)
    probe = probe_facts("mariadb", "client", "client-mariadb", odbc_drivers=("mariadb", "maodbc"))

    def versions(self) -> tuple[str, ...]:
        """The one that is here, without TLS and with it."""
        version = self.version()
        return version, version + TLS_SUFFIX

    def tls_version(self) -> str:
        """The same server with a certificate."""
        return self.versions()[-1]

    def availability_of(self, version: str, tls: str) -> Availability:
        """Whether that version can run here, and with tls=on whether it is the one with TLS."""
        here, encrypts = self.private(), version.endswith(TLS_SUFFIX)
        if not here.ok or (tls != "on" and not encrypts):
            return here
        if not encrypts:
            reason = f"{self.title} {version} is started without a certificate"
            return Availability(False, here.what, reason, f"engine_version={version}{TLS_SUFFIX}")
        missing = certificates.problem()
        return Availability(False, here.what, missing, certificates.INSTALL) if missing else here

    def durabilities_of(self, storage: str) -> tuple[str, ...]:
        """MyISAM never syncs; the others sync each commit or never wait for it."""
        return ("none",) if storage == "myisam" else self.durabilities

    @override
    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect; the instance's default storage engine keeps it."""
        return super().create(name, table) + " CHARACTER SET latin1 COLLATE latin1_bin" * table.ascii

    @override
    def supports(self, logical_type: str) -> str:
        reason = super().supports(logical_type)
        return f"{self.title}: {reason}" if reason else ""

    @override
    def connect_lines(self, options: dict[str, Any], folder: Path) -> tuple[str, ...]:
        file = folder / "client.cnf"
        lines = [f'{key}="{options[key]}"\n' for key in ("user", "password", "host", "port", "socket")]
        private_directories.write_private(file, "".join(["[client]\n", *lines]))
        program = shutil.which("mariadb") or shutil.which("mysql") or "mariadb"
        return tuple(
            shlex.join([program, f"--defaults-extra-file={file}", f"--protocol={protocol}", options["database"]])
            for protocol in ("tcp", "socket")
        )

    @override
    def filled(self, name: str, table: Table) -> list[str]:
        return [*super().filled(name, table), f"ANALYZE TABLE {name}"]

    def fill(self, name: str, table: Table, file: Path) -> str:
        """The statement that loads a file of `generators.write_delimited` from the client's side."""
        read = {
            column.name: READ[column.type].format(f"@{column.name}") for column in table.columns if column.type in READ
        }
        targets = [f"@{column.name}" if column.name in read else column.name for column in table.columns]
        settings = [f"{name} = {expression}" for name, expression in read.items()]
        quoted = str(file).replace("\\", "\\\\").replace("'", "''")
        return (
            f"LOAD DATA LOCAL INFILE '{quoted}' INTO TABLE {name} CHARACTER SET utf8mb4"
            r" FIELDS TERMINATED BY '|' ESCAPED BY '\\' LINES TERMINATED BY '\n'"
            f" ({', '.join(targets)}){' SET ' * bool(settings)}{', '.join(settings)}"
        )

    @override
    def settle_statements(self) -> list[str]:
        """Close MyISAM's and Aria's tables and let InnoDB write its changed pages: what an embedded path's runner does.

        A library too old for the last of them leaves these pages to be written when it ends.
        """
        checkpoint = ["SET GLOBAL innodb_log_checkpoint_now = ON"] if mariadb_binaries.has_checkpoint() else []
        return ["FLUSH TABLES", *checkpoint]

    @override
    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """MariaDB's programs, which connect to a server; none can connect to its library."""
        return self.ways if deployment == "server" else ()

    @override
    def backup_availability(self, way: str) -> Availability:
        """Whether the program of that name is here."""
        here = super().backup_availability(way)
        if here.ok and mariadb_binaries.find(way) is None:
            return Availability(False, here.what, f"MariaDB's program {way} is missing", BACKUP_PROGRAMS[way])
        return here

    @override
    def spelt(self, column: Column) -> str:
        if column.type == "char" and column.length > LONGEST_CHAR:
            return f"VARCHAR({column.length})"
        if column.type == "binary" and not 0 < column.length <= LONGEST_BINARY_BYTES:
            return "LONGBLOB"
        return super().spelt(column)
