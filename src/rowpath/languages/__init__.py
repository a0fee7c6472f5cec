"""The languages that host adapters: one module each (`c`, `java`, `python`), and the reading of their manifests."""

from __future__ import annotations

import functools
import importlib
import shutil
from collections.abc import Callable, Iterator
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


_external: list[Adapter] = []


@functools.cache
def load_manifest(language: str) -> Manifest:
    """The adapters of a language; UsageError naming the file when it does not fit."""
    return read_manifest(data_dir() / "runners" / language / "adapters.toml")


def add_external(file: FilePath) -> None:
    """Take the adapters of a manifest named on the command line, whose runners are commands of their own.

    Each entry's `build` holds `command = [program, argument, …]`; the program speaks runners/PROTOCOL.md. UsageError
    when an entry has none. It runs as the user: this is no sandbox.
    """
    for adapter in read_manifest(file).adapter:
        command = adapter.build.get("command")
        if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
            raise UsageError(
                f"{file}: the adapter '{adapter.driver}' has no command", 'write build = { command = ["…"] }'
            )
        _external.append(adapter)


def external(like: Adapter, driver: str, command: list[str]) -> Adapter:
    """An adapter like another one whose runner is a command of its own."""
    return msgspec.structs.replace(like, driver=driver, build={"command": command})


def every_adapter() -> Iterator[Adapter]:
    """All adapters: those of our languages and the external ones."""
    for name in LANGUAGES:
        yield from load_manifest(name).adapter
    yield from _external


def availability(adapter: Adapter, version: str) -> Availability:
    """Whether this adapter can be built and run here."""
    if "command" in adapter.build:
        program = adapter.build["command"][0]
        there = shutil.which(program) is not None
        return Availability(there, program, "" if there else f"there is no program {program}", "mend the manifest")
    return language(adapter.language).availability(adapter, version)


def build(adapters: list[tuple[Adapter, str]], note: Callable[[str], None] = lambda _text: None) -> None:
    """Bring runners, adapters and drivers up to date, language by language."""
    wanted: dict[str, list[tuple[Adapter, str]]] = {}
    for adapter, version in adapters:
        if "command" not in adapter.build:
            wanted.setdefault(adapter.language, []).append((adapter, version))
    for name, mine in wanted.items():
        note(f"building the {name} runner")
        language(name).build(mine)


def command(adapter: Adapter, version: str, path: Path) -> Command:
    """How to start the runner of this path."""
    if "command" in adapter.build:
        return Command((*adapter.build["command"], "--adapter", adapter.driver))
    return language(adapter.language).command(adapter, version, path)


def read_manifest(file: FilePath) -> Manifest:
    """A manifest from its file; UsageError naming the file when it does not fit."""
    try:
        manifest = msgspec.toml.decode(file.read_bytes(), type=Manifest)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}", "give an adapters.toml") from error
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise UsageError(f"{file}: {error}", "see runners/PROTOCOL.md, section adapters.toml") from error
    adapters = tuple(msgspec.structs.replace(adapter, language=manifest.language) for adapter in manifest.adapter)
    return msgspec.structs.replace(manifest, adapter=adapters)


def language(name: str) -> Language:
    """The module of a language."""
    module: Any = importlib.import_module(f"rowpath.languages.{name}")
    return module  # type: ignore[no-any-return]


def lines_of_code(adapter: Adapter) -> int:
    """Lines of the adapter's own sources that are neither blank nor comment; 0 for an external one."""
    if "command" in adapter.build:
        return 0
    folder: FilePath = data_dir() / "runners" / adapter.language
    marks = ("#",) if adapter.language == "python" else ("//", "/*", "*")
    sources = [adapter.source, *adapter.build.get("more_sources", ())]
    lines = (line.strip() for source in sources for line in (folder / source).read_text(encoding="utf-8").splitlines())
    return sum(1 for line in lines if line and not line.startswith(marks))
