"""The options of `rowpath probe`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rowpath.probe.budget import DEFAULT_S


@dataclass(frozen=True)
class ProbeOptions:
    """The options of one `rowpath probe`."""

    url: str
    query: str = ""
    query_file: Path | None = None
    table: str = ""
    params: Sequence[str] = ()  # TYPE:VALUE each
    params_file: Path | None = None
    params_query: str = ""
    languages: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    budget_s: float = DEFAULT_S
    mine: str = ""
    connections: int = 4
    max_rows: int | None = None
    jar: Path | None = None
    odbc_driver: Path | None = None
    in_place: bool = False
    redact_query: bool = False
    yes: bool = False
    directory: Path | None = None
    seed: int | None = None
    from_host: str = ""  # the host of a file of hosts where all of it is done; empty: this machine

    @property
    def from_words(self) -> str:
        """` from host web1`; empty without such a host."""
        return f" from host {self.from_host}" if self.from_host else ""
