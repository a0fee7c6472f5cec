"""Facts about drivers, known without a run: licence, version, release date, size, dependencies.

Each comes from the driver's own package once it is fetched: a Python distribution's metadata, a Java
artefact's POM and archive, a Debian package's files. What a package does not name stays empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from rowpath.machine.directories import data_dir
from rowpath.model.base import Frozen
from rowpath.runners.driver_package import DriverFacts
from rowpath.runners.manifest import Adapter, every_adapter, toolchain
from rowpath.toml_file import decode_file


def drivers() -> Iterator[tuple[Adapter, str]]:
    """Every adapter that has a driver, with each version of it."""
    for adapter in every_adapter():
        if not adapter.no_driver and "command" not in adapter.build:
            for version in adapter.versions:
                yield adapter, version


class Absent(Frozen, frozen=True):
    """A driver that cannot be here, why, and what stands for it."""

    language: str
    driver: str
    reason: str
    instead: str


def absent() -> tuple[Absent, ...]:
    """The drivers of runners/absent.toml."""
    tables: dict[str, tuple[Absent, ...]] = decode_file(
        data_dir() / "runners" / "absent.toml", dict[str, tuple[Absent, ...]]
    )
    return tables["absent"]


def facts_of(adapter: Adapter, version: str) -> DriverFacts:
    """What is known; `reason` is set when the driver is not here yet. Fetches and builds nothing."""
    return toolchain(adapter.language).driver_facts(adapter, version)
