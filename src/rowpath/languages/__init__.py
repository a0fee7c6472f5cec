"""The languages that host adapters: one module each (`c`, `java`, `python`), and the reading of their manifests."""

from __future__ import annotations

import functools
import importlib
from pathlib import Path as FilePath
from typing import Any, Protocol

import msgspec

from rowpath.engines.base import Availability
from rowpath.errors import UsageError
from rowpath.model import Frozen, Path
from rowpath.places import data_dir

LANGUAGES = ("c", "java", "python")


class Unsupported(Frozen, frozen=True):
    """A point of the lattice that does not exist, with its reason."""

    when: dict[str, str]
    reason: str


class Adapter(Frozen, frozen=True):
    """One entry of an `adapters.toml`: runners/PROTOCOL.md explains each field."""

    driver: str
    source: str
    engines: tuple[str, ...]
    deployments: tuple[str, ...]
    versions: tuple[str, ...]
    phases: tuple[str, ...]
    coordinates: dict[str, tuple[str, ...]]
    confounded: str = ""
    build: dict[str, Any] = {}
    shipped: dict[str, str] = {}
    unsupported: tuple[Unsupported, ...] = ()
    language: str = ""


class Manifest(Frozen, frozen=True):
    """An `adapters.toml`."""

    schema_version: int
    language: str
    adapter: tuple[Adapter, ...]


class Command(Frozen, frozen=True):
    """How to start a runner: the program, its arguments and what to add to its environment."""

    arguments: tuple[str, ...]
    environment: dict[str, str] = {}


class Language(Protocol):
    """What the module of a language offers."""

    def availability(self, adapter: Adapter, version: str) -> Availability:
        """Whether this adapter can be built and run here; quick, builds nothing."""

    def build(self, adapters: list[tuple[Adapter, str]]) -> None:
        """Bring runner, adapters and drivers up to date in the cache; silent when nothing is to do."""

    def command(self, adapter: Adapter, version: str, path: Path) -> Command:
        """How to start the runner for this path (a JVM's heap, collector and processors included)."""


@functools.cache
def load_manifest(language: str) -> Manifest:
    """The adapters of a language; UsageError naming the file when it does not fit."""
    file = data_dir() / "runners" / language / "adapters.toml"
    try:
        manifest = msgspec.toml.decode(file.read_bytes(), type=Manifest)
    except msgspec.ValidationError as error:
        raise UsageError(f"{file}: {error}", "see runners/PROTOCOL.md, section adapters.toml") from error
    adapters = tuple(msgspec.structs.replace(adapter, language=language) for adapter in manifest.adapter)
    return msgspec.structs.replace(manifest, adapter=adapters)


def language(name: str) -> Language:
    """The module of a language."""
    module: Any = importlib.import_module(f"rowpath.languages.{name}")
    return module  # type: ignore[no-any-return]


def lines_of_code(adapter: Adapter) -> int:
    """Lines of the adapter's source that are neither blank nor comment."""
    file: FilePath = data_dir() / "runners" / adapter.language / adapter.source
    marks = ("#",) if adapter.language == "python" else ("//", "/*", "*")
    lines = (line.strip() for line in file.read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith(marks))
