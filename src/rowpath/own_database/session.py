"""What keeps the sessions of a probe harmless: settings of each, or behind a pooler a transaction for each request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rowpath.engines.probe_facts import PooledTransaction

NOT_KEPT = "the pooler keeps no prepared statements: others would meet one by its name"  # a failure of its mode
PREPARED_FAILS = (
    "Prepared statements fail through this pooler, whatever the driver: it keeps none. "
    "Settings with them were left out. A pooler can be set up to keep them."
)


@dataclass(frozen=True)
class PooledSession:
    """How requests are sent through a pooler. `keeps`: prepared statements last as long as the connection to it."""

    mode: str
    transaction: PooledTransaction
    timeout_ms: int
    asked: tuple[str, ...] = ()  # what gives a session the settings of the URL
    keeps: bool = False

    def begin(self, settings: Iterable[tuple[str, str]] = ()) -> list[str]:
        """The statements before a request, with these settings for it only."""
        local = (self.transaction.local.format(key=key, value=value) for key, value in settings)
        asked = map(self.transaction.made_local, self.asked)
        return [*self.transaction.begin(self.timeout_ms), *asked, *local, self.transaction.savepoint]

    def end(self) -> list[str]:
        """The statements after a request that succeeded; they fail where something would stay behind."""
        return [self.transaction.release, *([] if self.mode == "session" else [self.transaction.refuse])]

    def give_up(self) -> list[str]:
        """The statements after one that failed, or whose end failed."""
        return [self.transaction.roll_back, *([] if self.mode == "session" else [self.transaction.clean])]


@dataclass(frozen=True)
class Session:
    """What keeps a connection harmless: the statements right after it was opened, or behind a pooler `pooled`."""

    before: tuple[str, ...] = ()
    pooled: PooledSession | None = None

    def setting(self, settings: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """The statements that make these settings, as long as the session is ours."""
        text = self.pooled.transaction.local if self.pooled else "SET {key} = {value}"
        return tuple(text.format(key=key, value=value) for key, value in settings)
