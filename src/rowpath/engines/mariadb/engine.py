"""The kind of engine: MariaDB, whose instance is a server, or a directory for its library."""

from __future__ import annotations

from typing_extensions import override

from rowpath.engines.base import Instance, Place
from rowpath.engines.mariadb.dialect import MariadbDialect
from rowpath.engines.mariadb.embedded import MariadbDirectory
from rowpath.engines.mariadb.server import MariadbServer


class Mariadb(MariadbDialect):
    """The kind of engine: MariaDB."""

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        """A server or a directory for the library, not yet started. Errors: EnvironmentMissing."""
        kind = MariadbServer if deployment == "server" else MariadbDirectory
        return kind(self, durability, place)


ENGINE = Mariadb()
