"""Any database with a JDBC driver of the user's own: reached by `rowpath probe` alone, for its dialect is unknown."""

from __future__ import annotations

from typing import NoReturn

from typing_extensions import override

from rowpath.engines.base import BY_URL, Place
from rowpath.engines.external.base import GivenEngine
from rowpath.errors import UsageError
from rowpath.model.availability import Availability
from rowpath.model.workload import Table


class OwnDriver(GivenEngine):
    """The kind of engine: whatever a driver that the user names leads to; `example` is how a probe names it."""

    def __init__(self, name: str, example: str) -> None:
        self.name = name
        self._example = example

    @override
    def availability(self) -> Availability:
        """Never on its own: only a probe names a driver and a URL."""
        reason = "any database whose driver you have, and only to probe it: its dialect is unknown"
        return Availability(False, f"any database through {self.name}", reason, self._example)

    @override
    def version(self) -> str:
        """Known to the server alone."""
        return BY_URL

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> NoReturn:
        """Errors: UsageError, always."""
        raise UsageError(f"nothing of ours runs behind {self.name}", self._example)

    @override
    def create(self, name: str, table: Table) -> NoReturn:
        """Errors: UsageError, always."""
        raise UsageError(f"no table is made through {self.name}: its dialect is unknown", self._example)

    @override
    def supports(self, logical_type: str) -> str:
        """The reason why no table of ours can be there."""
        return f"no table is made through {self.name}: its dialect is unknown"

    @override
    def slow_query(self) -> str:
        """None: its dialect is unknown."""
        return ""


ENGINE = OwnDriver("jdbc", "rowpath probe jdbc:… --jar FILE --query 'SELECT …'")
