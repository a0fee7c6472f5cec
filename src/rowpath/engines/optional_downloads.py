"""What is fetched on request only (`rowpath engine fetch NAME`), by name."""

from __future__ import annotations

from rowpath.engines import ENGINES
from rowpath.engines.base import Fetchable


def fetchables() -> dict[str, Fetchable]:
    """Engines that are themselves fetched, and the `downloads` of every engine."""
    found: dict[str, Fetchable] = {}
    for name, engine in ENGINES.items():
        if isinstance(engine, Fetchable):
            found[name] = engine
        found |= engine.downloads
    return found
