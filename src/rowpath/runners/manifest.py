"""The languages that host adapters, one folder of `runners/` each, and their manifests read."""

from __future__ import annotations

import functools
import importlib.util
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from rowpath.errors import UsageError
from rowpath.machine import jobs, processes
from rowpath.machine.directories import data_dir
from rowpath.model.availability import Availability
from rowpath.model.base import Frozen
from rowpath.model.path import MAPPED, RAW, AccessPath
from rowpath.runners.language import Language


class Unsupported(Frozen, frozen=True):
    """A point of the lattice that does not exist, with its reason."""

    when: dict[str, str]
    reason: str


class RoundTrips(Frozen, frozen=True):
    """Paths whose driver takes more round trips than their statement mode means, with the reason."""

    when: dict[str, str]
    most: int  # of an operation of at most one row
    reason: str


class Layer(Frozen, frozen=True):
    """A `[[layer]]` of an `adapters.toml`: what stands above some of its drivers; `none` is the driver by hand."""

    name: str
    source: str
    over: dict[str, tuple[str, ...]]  # driver → the engines whose objects it can hand over there
    kind: Literal["by hand", "query layer", "ORM"]
    requirement: str = ""  # as an adapter's `build.requirement`
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()  # how the names of its modules or packages begin; the first is its part in `explain`
    techniques: tuple[str, ...] = ("none",)
    operations: dict[str, tuple[str, ...]] = {}  # technique → what is written with it; a technique not named: all
    own_query: str = ""  # its file for a query or a table of the user's own
    unmapped: str = ""  # why it makes no classes of a table of the user's own
    reserved: tuple[str, ...] = ()  # what an attribute of its mapped classes cannot be called

    def source_of(self, path: AccessPath) -> str:
        """The file that does what the path is for."""
        return self.own_query if path.technique in (RAW, MAPPED) else self.source


class Pool(Frozen, frozen=True):
    """A `[[pool]]` of an `adapters.toml`: what lends the connections of some drivers to clients."""

    name: str
    source: str
    over: dict[str, tuple[str, ...]]  # driver → the engines whose connections it can lend there
    requirement: str = ""  # as an adapter's `build.requirement`
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()  # as a layer's
    validations: tuple[str, ...] = ("none",)  # what it can ask the server when it lends a connection
    concurrency: tuple[str, ...] = ("threads",)  # how its clients may run at once


class Cure(Frozen, frozen=True):
    """Settings that a driver's documentation names, with which faults that it meets badly as shipped end well."""

    faults: tuple[str, ...]  # their numbers
    settings: tuple[str, ...]  # `name=value`, as the option `driver_settings` takes them
    engines: tuple[str, ...] = ()  # empty: all of the adapter's


class Adapter(Frozen, frozen=True):
    """One entry of an `adapters.toml`: runners/PROTOCOL.md explains each field."""

    driver: str
    source: str
    engines: tuple[str, ...]
    deployments: tuple[str, ...]
    versions: tuple[str, ...]
    phases: tuple[str, ...]
    coordinates: dict[str, tuple[str, ...]]
    loads: tuple[str, ...] = ()  # engines whose databases are made and filled through it
    describes: dict[str, int] = {}  # engine → its turn when a probe asks what columns a query has
    usual: tuple[str, ...] = ()  # engines that most programs of the language reach through it: a probe compares with it
    only_named: bool = False  # a probe tries it only where `--driver` or `--mine` names it
    named_in_urls: tuple[str, ...] = ()  # what URLs of SQLAlchemy call the driver: `postgresql+psycopg2://`
    several_hosts: tuple[str, ...] = ()  # takes several hosts, to use the first that is so; empty: it takes one
    confounded: str = ""
    unprepared: str = ""  # the driver's own setting with which it prepares no statement by name, for poolers
    cures: tuple[Cure, ...] = ()
    session: dict[str, dict[str, str]] = {}  # engine → settings that its own connections begin with
    # `verify-ca`, `verify-full`: what it can check; `client`: it can show its own; `system`: it always trusts the
    # machine's authorities too
    certificates: tuple[str, ...] = ()
    voice: str | dict[str, str] = ""  # what decodes, where several drivers share it: `voice_on`
    build: dict[str, Any] = {}
    shipped: dict[str, str] = {}
    unsupported: tuple[Unsupported, ...] = ()
    round_trips: tuple[RoundTrips, ...] = ()
    language: str = ""
    serves: tuple[str, ...] = ()  # patterns of `workload.phase`: what a program written for it can do; empty: all
    opens_read_only: bool = False  # an embedded engine's file, truly, when `open` has `read_only`
    no_driver: bool = False  # our own code, or a driver of the user's: nothing to list facts of
    floor: bool = False  # takes the bytes and parses nothing: a reference, never ranked, nothing to verify
    modules: tuple[str, ...] = ()  # as a layer's, where layers stand above it
    folder: str = ""  # of the manifest, to which `source` is relative
    layers: tuple[Layer, ...] = ()  # that stand above it
    pools: tuple[Pool, ...] = ()  # that lend its connections

    def layer_of(self, path: AccessPath | None) -> Layer | None:
        """The layer above it that hands over a path's objects; None: the path has rows."""
        if path is None or path.layer == path.technique == "none":
            return None
        return next((layer for layer in self.layers if layer.name == path.layer), None)

    def pool_of(self, path: AccessPath | None) -> Pool | None:
        """The pool that lends a path's connections; None: each client has its own."""
        return next((pool for pool in self.pools if path is not None and pool.name == path.pool), None)

    def voice_on(self, engine: str) -> str:
        """The implementation that decodes an engine's values; by default language and driver."""
        shared = self.voice if isinstance(self.voice, str) else self.voice.get(engine, "")
        return shared or f"{self.language} {self.driver}"


class Manifest(Frozen, frozen=True):
    """An `adapters.toml`."""

    schema_version: int
    language: Language | str  # as a table it adds a language, as a name its adapters belong to one that is there
    adapter: tuple[Adapter, ...]
    layer: tuple[Layer, ...] = ()
    pool: tuple[Pool, ...] = ()
    engine_files: tuple[str, ...] = ()  # Python files with an engine each, beside the manifest: `engines.join_file`

    @property
    def language_name(self) -> str:
        """The language's name, however it is given."""
        return self.language.name if isinstance(self.language, Language) else self.language


class Command(Frozen, frozen=True):
    """How to start a runner: the program, its arguments and what to add to its environment."""

    arguments: tuple[str, ...]
    environment: dict[str, str] = {}


@dataclass(frozen=True)
class DriverFacts:
    """What is known of one version of a driver. `size_bytes`: installed, without its dependencies."""

    version: str = ""
    licence: str = ""
    released: str = ""  # ISO date
    size_bytes: int | None = None
    dependencies: tuple[str, ...] | None = None
    reason: str = ""  # why nothing is known


class Toolchain(Protocol):
    """What the module that builds a language's runners offers."""

    def availability(self, adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
        """Whether this adapter can be built and run here, with what only `path` needs; quick, builds nothing."""

    def build(self, adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
        """Bring runner, adapters and drivers up to date in the cache, with what only these paths need; silent when
        nothing is to do.
        """

    def command(self, adapter: Adapter, version: str, path: AccessPath) -> Command:
        """How to start the runner for this path (a JVM's heap, collector and processors included)."""

    def driver_facts(self, adapter: Adapter, version: str) -> DriverFacts:
        """What the driver's own package has of it; fetches and builds nothing."""


class ServerToolchain(Toolchain, Protocol):
    """What the module of a language offers that an engine's server is written in."""

    def server_command(self, adapter: Adapter, engine: str) -> Command:
        """How to start the server of that engine, one of the adapter's `build.serves`; builds it where needed."""


_external: list[Adapter] = []
_external_languages: dict[str, Manifest] = {}


@functools.cache
def _ours() -> dict[str, Manifest]:
    manifests = map(read_manifest, sorted((data_dir() / "runners").glob("*/adapters.toml")))
    return {manifest.language_name: manifest for manifest in manifests if isinstance(manifest.language, Language)}


def languages() -> tuple[str, ...]:
    """Every language that has a runner: the folders of `runners/` whose manifest has a header, and what was added."""
    return (*_ours(), *_external_languages)


def language(name: str) -> Language:
    """A language's header; one with defaults for a language that only runners of the user's have."""
    header = load_manifest(name).language if name in languages() else name
    return header if isinstance(header, Language) else Language(name, name.capitalize())


def headers() -> list[Language]:
    """The headers of every language."""
    return [language(name) for name in languages()]


def most_clients(adapter: Adapter) -> int:
    """How many clients one process of the adapter's runner can have; 0: as many as fit."""
    return 0 if "command" in adapter.build else language(adapter.language).most_clients


def too_many(adapter: Adapter, clients: int) -> str:
    """Why one process of the adapter's runner cannot have this many clients; empty when it can."""
    at_most, title = most_clients(adapter), language(adapter.language).title
    few = not at_most or clients <= at_most
    return "" if few else f"{clients:,} clients in one process: the runner of {title} has at most {at_most:,}"


def load_manifest(name: str) -> Manifest:
    """The adapters of a language; KeyError for one that has no runner, UsageError naming a file that does not fit."""
    return (_ours() | _external_languages)[name]


def add_external(file: Path) -> None:
    """Take the adapters of a manifest named on the command line, and the language that its header adds.

    An entry whose `build` holds `command = [program, argument, …]` is a runner of its own, which speaks
    runners/PROTOCOL.md; any other is built and hosted by our runner of its language. UsageError for an entry that is
    neither, or that takes the name of another adapter. It runs as the user: this is no sandbox.
    """
    manifest = read_manifest(file)
    if isinstance(manifest.language, Language):
        if manifest.language.name in languages():
            raise UsageError(f"{file}: language '{manifest.language.name}' already exists", "choose another name")
        _external_languages[manifest.language.name] = manifest
        return
    taken = {(adapter.language, adapter.driver) for adapter in every_adapter()}
    for adapter in manifest.adapter:
        if (adapter.language, adapter.driver) in taken:
            text = f"{file}: {adapter.language} adapter '{adapter.driver}' already exists"
            raise UsageError(text, "choose another name")
        _check(file, adapter)
        add(adapter)


def engine_files(file: Path) -> list[Path]:
    """The engines that a manifest brings along."""
    return [file.absolute().parent / name for name in read_manifest(file).engine_files]


def add(adapter: Adapter) -> None:
    """Take one more adapter beside ours."""
    _external.append(adapter)


def _check(file: Path, adapter: Adapter) -> None:
    if "command" in adapter.build:
        command = adapter.build["command"]
        if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
            return
        problem = f"invalid command of '{adapter.driver}': expected a list of strings, got {command!r}"
        hint = 'write build = { command = ["PROGRAM", "ARGUMENT"] }'
    elif adapter.language not in languages():
        problem = f"unknown language '{adapter.language}'"
        hint = f'one of {", ".join(languages())}, or your own runner: build = {{ command = ["…"] }}'
    elif not source_file(adapter).is_file():
        problem = f"the adapter '{adapter.driver}' has no source {source_file(adapter)}"
        hint = f"rowpath adapter new {adapter.language} {adapter.driver}"
    else:
        return
    raise UsageError(f"{file}: {problem}", hint)


def is_external(adapter: Adapter) -> bool:
    """Whether it came from a manifest named on the command line."""
    return any((other.language, other.driver) == (adapter.language, adapter.driver) for other in _external)


def source_file(adapter: Adapter, source: str = "") -> Path:
    """The adapter's source file, or another one named in its manifest: beside the manifest."""
    folder = Path(adapter.folder) if adapter.folder else data_dir() / "runners" / adapter.language
    return folder / (source or adapter.source)


def family_folders(adapter: Adapter) -> list[Path]:
    """The folders of the families that an adapter rests on, ours also for one beside another manifest.

    UsageError for a family that its language does not have.
    """
    families = Path(language(adapter.language).folder) / "families"
    folders = [families / name for name in adapter.build.get("families", ())]
    if unknown := next((folder.name for folder in folders if not folder.is_dir()), ""):
        known = ", ".join(sorted(folder.name for folder in families.iterdir()))
        text = f"{adapter.language} adapter '{adapter.driver}': unknown family '{unknown}'"
        raise UsageError(text, f"one of {known}")
    return folders


def external(like: Adapter, driver: str, command: list[str]) -> Adapter:
    """An adapter like another one whose runner is a command of its own."""
    return msgspec.structs.replace(like, driver=driver, build={"command": command})


def every_adapter() -> Iterator[Adapter]:
    """All adapters: those of our languages and the external ones."""
    for name in languages():
        yield from load_manifest(name).adapter
    yield from _external


def adapter_of(language: str, driver: str) -> Adapter:
    """The adapter of that name; StopIteration when there is none."""
    return next(adapter for adapter in every_adapter() if (adapter.language, adapter.driver) == (language, driver))


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether this adapter can be built and run here, with what only `path` needs when one is given."""
    if "command" in adapter.build:
        program = adapter.build["command"][0]
        there = shutil.which(program) is not None
        return Availability(there, program, "" if there else f"no program {program}", "fix the manifest")
    return toolchain(adapter.language).availability(adapter, version, path)


def build(
    adapters: list[tuple[Adapter, str]],
    note: Callable[[str], None] = lambda _text: None,
    paths: Iterable[AccessPath] = (),
) -> None:
    """Bring runners, adapters and drivers up to date, languages side by side, with what only these paths need.

    `note` gets what is really built or fetched. Errors: the first one; what was begun beside it is given up.
    """
    all_paths = list(paths)
    wanted: dict[str, list[tuple[Adapter, str]]] = {}
    for adapter, version in adapters:
        if "command" not in adapter.build:
            wanted.setdefault(adapter.language, []).append((adapter, version))

    def build_one(name: str) -> None:
        with jobs.announcing(lambda what: note(what or f"building the {language(name).title or name} runner")):
            toolchain(name).build(wanted[name], [path for path in all_paths if path.language == name])

    processes.side_by_side(functools.partial(build_one, name) for name in wanted)


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner of this path."""
    if "command" in adapter.build:
        return Command((*adapter.build["command"], "--adapter", adapter.driver))
    return toolchain(adapter.language).command(adapter, version, path)


def read_manifest(file: Path) -> Manifest:
    """A manifest from its file; UsageError naming the file when it does not fit."""
    try:
        manifest = msgspec.toml.decode(file.read_bytes(), type=Manifest)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}", "name an adapters.toml") from error
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise UsageError(f"{file}: {error}", "see runners/PROTOCOL.md, section adapters.toml") from error
    folder = str(file.absolute().parent)
    header = manifest.language
    if isinstance(header, Language):
        header = msgspec.structs.replace(header, title=header.title or header.name.capitalize(), folder=folder)
    own = {"language": manifest.language_name, "folder": folder}
    adapters = tuple(
        msgspec.structs.replace(
            adapter,
            **own,
            layers=tuple(layer for layer in manifest.layer if adapter.driver in layer.over),
            pools=tuple(pool for pool in manifest.pool if adapter.driver in pool.over),
        )
        for adapter in manifest.adapter
    )
    return msgspec.structs.replace(manifest, language=header, adapter=adapters)


def tools() -> dict[str, tuple[str, ...]]:
    """The programs that the languages' runners rest on: name → command that prints the version."""
    return {name: command for header in headers() for name, command in header.tools.items()}


def toolchain(name: str) -> Toolchain:
    """The module that builds a language's runners: `toolchain.py` of a language's folder, or `command`."""
    header = language(name)
    if header.toolchain == "command":
        from rowpath.runners import command

        return command
    folder = language(header.toolchain).folder if header.toolchain else header.folder
    return _loaded(Path(folder) / "toolchain.py")  # type: ignore[no-any-return]


@functools.cache
def _loaded(file: Path) -> Any:
    """The module of that file."""
    spec = importlib.util.spec_from_file_location(f"rowpath_toolchain_{file.parent.name}", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
