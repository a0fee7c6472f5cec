"""MySQL 8: a private server, on request only (`rowpath engine fetch mysql`); the rest is as with MariaDB."""

from __future__ import annotations

import re

from typing_extensions import override

from rowpath.engines.base import BY_URL, Instance, LoadingCost, Place
from rowpath.engines.mariadb import dialect
from rowpath.engines.mariadb.engine import Mariadb
from rowpath.engines.mariadb.settings import TLS_SUFFIX, Flavour
from rowpath.engines.mysql import external
from rowpath.engines.mysql import programs as mysql_binaries
from rowpath.engines.probe_facts import ServerClock, ServerTimes
from rowpath.model.availability import Availability


def _server_times(text: str) -> ServerTimes:
    """The times in the output of `EXPLAIN ANALYZE`: the outermost step's last row, times how often it ran."""
    found = re.search(r"actual time=[\d.e+-]+?\.\.([\d.e+-]+) rows=\S+ loops=(\d+)", text)
    if not found:
        raise ValueError("EXPLAIN ANALYZE shows no actual time")
    return ServerTimes(0.0, float(found[1]) * int(found[2]))


EXPLAIN_ANALYZE = ServerClock("EXPLAIN ANALYZE", "EXPLAIN ANALYZE {sql}", _server_times)


class Mysql(Mariadb):
    """The kind of engine: MySQL 8, always a server."""

    name = "mysql"
    order = 22
    flavour: Flavour = "mysql"
    title = "MySQL"
    deployments: tuple[str, ...] = ("server",)
    storages: tuple[str, ...] = ("innodb", "myisam")
    ways = ()  # the artefact has only the server
    types = dialect.TYPES | {"uuid": "CHAR(36)"}  # it has no type for them
    loading = LoadingCost(350e6, 4.5, 15e6)
    probe = dialect.probe_facts("mysql", "client", clock=EXPLAIN_ANALYZE)
    fetch = staticmethod(mysql_binaries.fetch)
    fetched = staticmethod(mysql_binaries.fetched)
    unreachable = staticmethod(external.unreachable)
    programs = staticmethod(mysql_binaries.found)
    private = staticmethod(mysql_binaries.availability)
    licence = mysql_binaries.LICENCE
    size_text = mysql_binaries.SIZE

    @override
    def availability(self) -> Availability:
        """Whether a URL names a server, or ours was fetched and can run here."""
        return external.KIND.availability() if self.version() == BY_URL else self.private()

    @override
    def version(self) -> str:
        """The default of `versions`."""
        return self.versions()[0]

    @override
    def versions(self) -> tuple[str, ...]:
        """The pinned one, without TLS and with it; before them, when a URL is given, the server that it names."""
        ours = mysql_binaries.VERSION, mysql_binaries.VERSION + TLS_SUFFIX
        return ((BY_URL,) if external.KIND.has_url() else ()) + ours

    @override
    def tls_version(self) -> str:
        """The same server with a certificate, or whatever the URL names."""
        return BY_URL if external.KIND.has_url() else super().tls_version()

    @override
    def availability_of(self, version: str, tls: str) -> Availability:
        """Whether that version can run here, with tls=on encrypted; or a URL names it."""
        return external.KIND.availability() if version == BY_URL else super().availability_of(version, tls)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        """A server, not yet started; or the one that the URL names. Errors: EnvironmentMissing, UsageError."""
        if place.version == BY_URL:
            return external.server(self, durability, place)
        own = super().instance(deployment, durability, place)
        own.version = place.version or mysql_binaries.VERSION
        return own

    @override
    def backup_availability(self, way: str) -> Availability:
        reason = "the artefact has no program that makes backups, and the server's clone plugin came later (8.0.17)"
        return Availability(False, mysql_binaries.WHAT, reason, "engine=mariadb")

    @override
    def settle_statements(self) -> list[str]:
        """MyISAM holds nothing back, the server waits for InnoDB's pages, and FLUSH TABLES waits for any HANDLER."""
        return []


ENGINE = Mysql()
