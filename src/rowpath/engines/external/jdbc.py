"""Any database with a JDBC driver of the user's own: reached by `rowpath probe` only, for its dialect is unknown."""

from __future__ import annotations

from typing import NoReturn

from typing_extensions import override

from rowpath.engines.base import Place
from rowpath.engines.external.base import ExternalEngine
from rowpath.engines.probe_facts import UNKNOWN_SESSION, ProbeFacts, Syntax
from rowpath.errors import UsageError
from rowpath.model.availability import Availability
from rowpath.model.workload import Table


class OwnDriver(ExternalEngine):
    """The kind of engine: whatever a driver that the user names leads to; `example` is how a probe names it."""

    def __init__(self, name: str, order: int, driver_flag: str, example: str) -> None:
        self.name = name
        self.order = order
        self.probe = ProbeFacts(
            schemes=(name,),
            driver_flag=driver_flag,
            syntax=Syntax(brackets=True, unknown=True),
            session_note=UNKNOWN_SESSION,
        )
        self._example = example

    @override
    def availability(self) -> Availability:
        """Never on its own: only a probe names a driver and a URL."""
        reason = "any database whose driver you have, and only to probe it: its dialect is unknown"
        return Availability(False, f"any database through {self.name}", reason, self._example)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> NoReturn:
        """Errors: UsageError, always."""
        raise UsageError(f"Rowpath starts no engine for {self.name}", self._example)

    @override
    def create(self, name: str, table: Table) -> NoReturn:
        """Errors: UsageError, always."""
        raise UsageError(self.supports(""), self._example)

    @override
    def supports(self, logical_type: str) -> str:
        return f"Rowpath creates no tables through {self.name}: its dialect is unknown"


ENGINE = OwnDriver("jdbc", 80, "--jar", "rowpath probe jdbc:… --jar FILE --query 'SELECT …'")
