"""An engine's dialect of SQL, as far as a workload's text needs to know it."""

from __future__ import annotations

from typing import Protocol

from rowpath.model.workload import Table


class Dialect(Protocol):
    """What an engine is called, and how it makes and drops a table."""

    name: str

    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect."""

    def drop(self, name: str) -> str:
        """DROP TABLE in its dialect (may fail when the table does not exist)."""
