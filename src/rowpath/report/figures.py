"""What a script draws over the page's tables: numbers for Observable Plot, from the same records as the tables."""

from __future__ import annotations

from typing import Any, Literal

from rowpath.model.base import Frozen


class Figure(Frozen, frozen=True):
    """A drawing: its kind, its label for screen readers, and its numbers."""

    key: str
    kind: Literal["clients", "scaling", "timeline"]
    label: str
    rows: tuple[dict[str, Any], ...]
    note: str = ""
    axis: dict[str, Any] | None = None  # timeline: seconds, stages, backups and kills that all rows share
