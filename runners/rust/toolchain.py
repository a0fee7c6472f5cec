"""Rust: one program per adapter, built by cargo from crates that Cargo.lock pins by checksum.

`build.package` names a folder with a Cargo.toml and a Cargo.lock of its own, for crates that exclude others.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import re
import shutil
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rowpath.machine import c_compiler, compiling, jobs, maven, processes
from rowpath.machine.directories import build_dir, locked, made_whole
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners import building
from rowpath.runners.driver_facts import NOT_FETCHED
from rowpath.runners.manifest import Adapter, Command, DriverFacts, source_file

FOLDER = Path(__file__).parent
REMEDY = "install Rust 1.94 or newer with rustup from https://rustup.rs (Debian's is older)"
BUILD_TIMEOUT_S = 1800  # the crates of a driver: a minute or two of a core that is free
RUNNING = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "RUST_BACKTRACE": "", "MALLOC_ARENA_MAX": "", "GLIBC_TUNABLES": ""}
# Of the user's environment only what says where crates come from and are kept.
KEPT = ("CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN")
CLEARED = ("CARGO", "RUST", "LIBSQLITE3_", "SQLITE3_", "DUCKDB_", "CFLAGS", "CPPFLAGS", "LDFLAGS")
# A user's configuration of cargo cannot change these.
PROFILE = {"opt-level": "3", "debug": "false", "lto": "false", "codegen-units": "16", "panic": '"unwind"'}


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether this adapter can be built and run here; quick, builds nothing."""
    if problem := tools_problem(_package(adapter)) or _lacking(adapter):
        return Availability(False, f"Rust adapter {adapter.driver}", *problem)
    what = f"{building.named(adapter, version)} ({rustc_version()})"
    return Availability.of(what, building.unpinned(adapter, version, "Cargo.lock"))


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Build the runners of these adapters that are not up to date; fetches the crates that they need.

    Errors: EnvironmentMissing without Rust, InternalError when a source does not compile or a crate is not there.
    """
    wanted = [_program(adapter) for adapter in {adapter.driver: adapter for adapter, _version in adapters}.values()]
    missing = [program for program in wanted if _is_ours(program.source) and not program.file.is_file()]
    for package in dict.fromkeys(program.package for program in missing):
        _build_together([program for program in missing if program.package == package])
    for program in wanted:
        program.built()


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner for this path."""
    program = _program(adapter)
    folders = ":".join(program.folders.values())
    libraries = {"LD_LIBRARY_PATH": folders} if folders else {}
    return Command((str(program.built()), "--adapter", adapter.driver), RUNNING | libraries)


class Program(NamedTuple):
    """A program of one file, with the features and libraries that it needs of its package's crates."""

    name: str
    source: Path
    features: tuple[str, ...] = ()
    package: Path = FOLDER
    folders: Mapping[str, str] = {}

    @property
    def inputs(self) -> list[Path]:
        """Every file of ours that it depends on."""
        inputs = [self.source, *(self.package / own for own in ("Cargo.toml", "Cargo.lock"))]
        inputs += [FOLDER / "build.rs", FOLDER / "lib.rs"]
        inputs += [] if _is_ours(self.source) else sorted(self.source.parent.glob("*.rs"))  # any may be a module of it
        return inputs + [
            file for part in ("core/*.rs", "families/**/*.rs", "pools/*.rs") for file in sorted(FOLDER.glob(part))
        ]

    @property
    def file(self) -> Path:
        """Where it is, or will be: in the cache under a hash over everything of ours that it depends on."""
        words = [*self.features, *map("=".join, (*PROFILE.items(), *self.folders.items())), rustc_version()]
        return build_dir("rust") / f"{self.name}-{compiling.key(self.inputs, words)}"

    def built(self) -> Path:
        """Its file, made when it is not there yet."""
        if not self.file.is_file():
            _build_together([self])
        return self.file


def _program(adapter: Adapter) -> Program:
    """The adapter's runner."""
    return with_crates_of(adapter, adapter.driver, source_file(adapter))


def with_crates_of(adapter: Adapter, name: str, source: Path) -> Program:
    """A program of this source, with the crates, features and libraries of an adapter's."""
    features = tuple(adapter.build.get("features", ()))
    return Program(name, source, features, _package(adapter), library_folders(adapter))


def _build_together(programs: list[Program]) -> None:
    """Build these programs of one package, one that is not ours by itself: no crate is compiled twice.

    Their crates then have the features of all, which adds code to a crate but changes none that a driver runs. Cargo
    tells sources by name and time, not by their clone: what it compiled for another clone, later than this one's files
    were written, would be taken for ours. So `build.rs` hears of their contents.
    """
    jobs.begins()
    Availability.of("Rust", tools_problem(programs[0].package)).require()
    names = tuple(program.name for program in programs)
    features = tuple(dict.fromkeys(feature for program in programs for feature in program.features))
    folders = {name: folder for program in programs for name, folder in program.folders.items()}
    sources = compiling.key(dict.fromkeys(file for program in programs for file in program.inputs), [])
    target = build_dir("rust") / "target"
    how = build_words(_manifest(programs[0]), names, features, target, folders | {"ROWPATH_SOURCES": sources})
    failed = f"{names[0]} does not compile" if len(names) == 1 else f"one of {', '.join(names)} does not compile"
    with locked(target):
        compiling.run(how, failed, REMEDY, timeout_s=BUILD_TIMEOUT_S)
        for program in programs:
            with made_whole(program.file) as made:
                shutil.copy2(target / "release" / program.name, made)


def build_words(
    manifest: Path, names: tuple[str, ...], features: tuple[str, ...], target: Path, folders: Mapping[str, str] = {}
) -> list[str]:
    """How programs are built: nothing that the user's environment or configuration says changes it.

    `folders`: where libraries are, by the variable that names each to a crate; further variables.
    """
    cleared = (variable for variable in sorted(os.environ) if variable.startswith(CLEARED))
    dropped = [f"-u{variable}" for variable in cleared if not variable.startswith(KEPT)]
    profile = [word for key, value in PROFILE.items() for word in ("--config", f"profile.release.{key}={value}")]
    words = ["env", *dropped, "CARGO_ENCODED_RUSTFLAGS=", *map("=".join, folders.items())]
    words += [cargo(), "build", "--release", "--locked", "--quiet"]
    words += [*profile, "--manifest-path", str(manifest), "--target-dir", str(target)]
    words += [word for name in names for word in ("--bin", name)]
    return words + (["--features", ",".join(features)] if features else [])


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """What the driver's crate shows in cargo's cache."""
    crate = adapter.build.get("crate", "")
    folder = next(_home().glob(f"registry/src/*/{crate}-{version}"), None) if crate else None
    if folder is None:
        return DriverFacts(version, reason=NOT_FETCHED if crate else "")
    manifest = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))
    # A condition is not evaluated: those of crates that have one are about WebAssembly.
    conditional = manifest.get("target", {}).items()
    tables = [manifest, *(table for place, table in conditional if not place.startswith("cfg(all"))]
    wanted = {name: how for table in tables for name, how in table.get("dependencies", {}).items()}
    always = [name for name, how in wanted.items() if not (isinstance(how, dict) and how.get("optional"))]
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    licence = manifest["package"].get("license", "")
    return DriverFacts(version, licence, size_bytes=size, dependencies=tuple(sorted(always)))


def cargo() -> str:
    """The program `cargo`; empty where it is neither on PATH nor where rustup puts it."""
    usual = _home() / "bin" / "cargo"
    return shutil.which("cargo") or (str(usual) if usual.is_file() else "")


@functools.cache
def rustc_version() -> str:
    """The compiler's version as it prints it: rustc 1.95.0 (…); empty without Rust."""
    if not cargo():
        return ""
    rustc = Path(cargo()).with_name("rustc")
    return processes.run([str(rustc), "--version"], timeout_s=30).stdout.strip() if rustc.is_file() else ""


def _manifest(program: Program) -> Path:
    """Cargo.toml; of an adapter that is not one of ours a copy that names its source."""
    if _is_ours(program.source):
        return program.package / "Cargo.toml"
    text = (program.package / "Cargo.toml").read_text(encoding="utf-8").partition("[[bin]]")[0]
    text = re.sub(r'"(?:\.\./)?(build|lib)\.rs"', rf'"{FOLDER}/\1.rs"', text)
    made = build_dir("rust") / "foreign" / program.name
    made.mkdir(parents=True, exist_ok=True)
    text += f'[[bin]]\nname = "{program.name}"\npath = "{program.source.absolute()}"\n'
    (made / "Cargo.toml").write_text(text, encoding="utf-8")
    shutil.copyfile(program.package / "Cargo.lock", made / "Cargo.lock")
    return made / "Cargo.toml"


def _home() -> Path:
    return Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")


def tools_problem(package: Path | None = None) -> tuple[str, str] | None:
    """Why this package, by default ours, cannot be built here, and what helps; None when it can."""
    if not cargo() or not rustc_version():
        return "Rust is missing (no programs cargo and rustc)", REMEDY
    numbers, oldest = re.match(r"rustc (\d+)\.(\d+)", rustc_version()), _oldest(package or FOLDER)
    if numbers and (int(numbers[1]), int(numbers[2])) < oldest:
        return f"{rustc_version()} is too old: Cargo.toml wants {'.'.join(map(str, oldest))}", REMEDY
    return c_compiler.problem(", with which rustc links")


@functools.cache
def _oldest(package: Path) -> tuple[int, ...]:
    """The oldest Rust that a package's Cargo.toml allows."""
    text = (package / "Cargo.toml").read_text(encoding="utf-8")
    return tuple(map(int, tomllib.loads(text)["package"]["rust-version"].split(".")))


def _lacking(adapter: Adapter) -> tuple[str, str] | None:
    """What crates over a C library lack: the library, its headers, or the program that says where they are."""
    if library := adapter.build.get("library"):
        if platform.machine() not in library["members"]:
            return f"{library['jar']} has no library for {platform.machine()}", ""
        if problem := maven.problem([library["jar"]]):
            return problem
    headers = adapter.build.get("headers", {})
    if headers and shutil.which("pkg-config") is None:
        return "the program pkg-config is missing", "apt-get install pkg-config"
    return compiling.lacking("header", headers, c_compiler.has_header)


def library_folders(adapter: Adapter) -> dict[str, str]:
    """Where `build.library` is, by the variable that names the place to its crate; fetches it.

    It is there under the name that the linker looks for, and under that which it has in itself.
    """
    library = adapter.build.get("library")
    if library is None:
        return {}
    member = library["members"][platform.machine()]
    folder = build_dir("rust") / "libraries" / compiling.key([], [library["jar"], member])

    def unpack_to(made: Path) -> None:
        (jar,) = maven.fetch([library["jar"]])
        with zipfile.ZipFile(jar) as archive, archive.open(member) as packed, made.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)

    own = compiling.made_once(folder / member, unpack_to)
    linked = folder / library["file"]
    if not linked.exists():
        with contextlib.suppress(FileExistsError):
            linked.symlink_to(own.name)
    return {library["folder"]: str(folder)}


def _is_ours(source: Path) -> bool:
    return source.resolve().is_relative_to(FOLDER.resolve())


def _package(adapter: Adapter) -> Path:
    return FOLDER / str(adapter.build.get("package", ""))
