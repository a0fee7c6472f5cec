"""What is fetched on request alone (`rowpath engine fetch NAME`), by name."""

from __future__ import annotations

from rowpath.engines import ENGINES, NAMES, module_of
from rowpath.engines.base import Fetchable


def fetchables() -> dict[str, Fetchable]:
    """Engines that are themselves fetched, and what an engine's module names in `FETCHABLE`."""
    found: dict[str, Fetchable] = {}
    for name in NAMES:
        engine = ENGINES[name]
        if isinstance(engine, Fetchable):
            found[name] = engine
        found |= getattr(module_of(name), "FETCHABLE", {})
    return found
