"""What tests look at inside Java's toolchain: private members are used here, not in the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rowpath.runners.manifest import Adapter, toolchain

java: Any = toolchain("java")


def java_compiled(name: str, libraries: list[Path], folder: str = "") -> Path:
    """The classes of a folder of Java's runner, by default of the one of that name."""
    classes: Path = java._compile(name, java._sources(folder or name), libraries)
    return classes


def java_artefacts(adapter: Adapter, version: str) -> list[str]:
    """The driver's Maven coordinates, those that only a transport needs included."""
    coordinates: list[str] = java._coordinates(adapter, version)
    return coordinates


def java_classes(adapter: Adapter, version: str) -> list[Path]:
    """Where the classes of an adapter and of all it rests on are, each unit compiled by itself."""
    return [java._output(*unit) for unit in java._units(adapter, version)]
