"""What the engines share for which Rowpath can start no server: a URL names their servers."""

from __future__ import annotations

from collections.abc import Mapping

from typing_extensions import override

from rowpath.engines.base import BY_URL, Place
from rowpath.engines.external.server import ExternalServer, ServerKind
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.model.availability import Availability
from rowpath.model.workload import Column


class ExternalEngine(SqlDialect):
    """A kind of engine with servers that others run; a subclass has its types and limits.

    `longest`: the greatest length of a type and the type that takes what is longer (empty: `unlimited_binary`).
    """

    kind: ServerKind
    deployments: tuple[str, ...] = ("server",)
    durabilities: tuple[str, ...] = ("full",)  # it is what its owner made it
    drop_words = "DROP TABLE {name}"
    longest: Mapping[str, tuple[int, str]] = {}
    unlimited_binary: str

    @override
    def availability(self) -> Availability:
        """Whether a URL names a server; connects to none."""
        return self.kind.availability()

    @override
    def version(self) -> str:
        """Known only once connected: its facts have it."""
        return BY_URL

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> ExternalServer:
        """The server of the URL. Errors: EnvironmentMissing, UsageError."""
        return ExternalServer(self, self.kind, durability, place)

    @override
    def _type(self, column: Column) -> str:
        kind = str(column.type)
        while kind in self.longest and not 0 < column.length <= self.longest[kind][0]:
            kind = self.longest[kind][1]
            if not kind:
                return self.unlimited_binary
        return self._spelt(kind, column)
