"""`rowpath setup`: everything built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowpath.model.path import AccessPath
from rowpath.runners.manifest import availability, build, every_adapter

if TYPE_CHECKING:
    from rich.console import Console


def build_everything(console: Console) -> None:
    """Fetch and build all that can run here."""
    ready, special = [], []
    for adapter in every_adapter():
        here = availability(adapter, adapter.versions[0])
        if here.ok:
            ready += [(adapter, version) for version in adapter.versions]
        else:
            words = f"skipped {adapter.language} {adapter.driver}: {here.reason}; enable it with: {here.remedy}"
            console.print(words, highlight=False)
        for one in adapter.coordinates.get("concurrency", ()):
            path = AccessPath.of({"language": adapter.language, "concurrency": one})
            special += [path] if availability(adapter, adapter.versions[0], path).ok else []
    build(ready, lambda text: console.print(text, highlight=False), special)
