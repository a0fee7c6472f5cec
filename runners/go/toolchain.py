"""Go: one program per adapter, built by the `go` command from modules that go.sum pins by checksum."""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from rowpath.machine import c_compiler, compiling, processes
from rowpath.machine.directories import build_dir
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners import building
from rowpath.runners.driver_facts import NOT_FETCHED
from rowpath.runners.manifest import Adapter, Command, DriverFacts, source_file

FOLDER = Path(__file__).parent
OLDEST = (1, 26)
PLACES = ("/usr/local/go/bin/go",)  # where the archive of go.dev is unpacked
REMEDY = "install Go 1.26 or newer from https://go.dev/dl and put its bin on PATH (Debian's is older)"
# Nothing that the user's environment says may change what is built or measured; no other toolchain is fetched.
BUILDING = {
    "GOFLAGS": "-mod=readonly",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
    "GOEXPERIMENT": "",
    "CGO_CFLAGS": "-O2",  # Go's own is `-g -O2`: the same code, with a debugger's tables
}
RUNNING = {"GOGC": "100", "GOMEMLIMIT": "off", "GOMAXPROCS": "", "GODEBUG": "", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
FLAGS = ("-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags=-w")  # nothing here reads DWARF


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether this adapter can be built and run here; quick, builds nothing."""
    if problem := tools_problem():
        return Availability(False, f"Go adapter {adapter.driver}", *problem)
    what = f"{building.named(adapter, version)} (Go {go_version().removeprefix('go')})"
    lacking = c_compiler.problem(", which cgo takes") if adapter.build.get("cgo") else None
    return Availability.of(what, building.unpinned(adapter, version, "go.mod") or lacking)


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Build the runners of these adapters that are not up to date; fetches the modules that they need.

    Errors: EnvironmentMissing without Go, InternalError when a source does not compile or a module is not there.
    """
    for adapter in {adapter.driver: adapter for adapter, _version in adapters}.values():
        program(adapter)  # one after the other: each compiles on every core


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner for this path."""
    return Command((str(program(adapter)), "--adapter", adapter.driver), RUNNING)


def server_command(adapter: Adapter, engine: str) -> Command:
    """How to start the server of that engine, of the adapter's `build.serves`; builds it when it is not there yet."""
    source = FOLDER / str(adapter.build["serves"][engine])
    return Command((str(built(source.stem, source)),), RUNNING)


def program(adapter: Adapter) -> Path:
    """The adapter's runner, built when it is not there yet."""
    tags = tuple(adapter.build.get("tags", ()))
    return built(adapter.driver, source_file(adapter), adapter.build.get("cgo", False), tags)


def built(name: str, source: Path, cgo: bool = False, tags: tuple[str, ...] = ()) -> Path:
    """A program of that file, in the cache under a hash over everything of ours that it depends on."""
    inputs = [source, FOLDER / "go.mod", FOLDER / "go.sum"]
    inputs += [file for part in ("core/*", "families/*/*", "pools/*/*") for file in sorted(FOLDER.glob(part))]
    key = compiling.key(inputs, [*FLAGS, go_version(), str(cgo), *tags])

    def compile_to(made: Path) -> None:
        Availability.of("Go", tools_problem()).require()
        environment = BUILDING | {"CGO_ENABLED": str(int(cgo))}
        compiling.run(build_words(made, source, tags), f"{name} does not compile", REMEDY, environment)

    return compiling.made_once(build_dir("go") / f"{name}-{key}", compile_to)


def build_words(made: Path, source: Path, tags: tuple[str, ...] = ()) -> list[str]:
    """How a program of one file is built with the modules of go.mod."""
    tagged = ["-tags", ",".join(tags)] if tags else []
    # -C must come first. A file by its name: each adapter is a program of its own.
    return [go(), "build", "-C", str(FOLDER), *FLAGS, *tagged, "-o", str(made.absolute()), str(source.absolute())]


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """What the driver's module shows in Go's module cache."""
    module = adapter.build.get("module", "")
    escaped = re.sub("[A-Z]", lambda letter: "!" + letter[0].lower(), module)  # as the cache spells it
    folder = _modules() / f"{escaped}@v{version}" if module and not tools_problem() else Path()
    if not module or not folder.is_dir():
        return DriverFacts(version, reason=NOT_FETCHED if module else "")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    wanted = re.findall(r"^(?:require )?\t?(\S+) v\S+$", (folder / "go.mod").read_text(), re.MULTILINE)
    return DriverFacts(version, size_bytes=size, dependencies=tuple(wanted))


def go() -> str:
    """The `go` command; empty where it is neither on PATH nor where its archive is unpacked."""
    return shutil.which("go") or next((place for place in PLACES if Path(place).is_file()), "")


@functools.cache
def go_version() -> str:
    """Go's version as it prints it: go1.26.8; empty without Go."""
    return processes.run([go(), "env", "GOVERSION"], timeout_s=30, environment=BUILDING).stdout.strip() if go() else ""


@functools.cache
def _modules() -> Path:
    return Path(processes.run([go(), "env", "GOMODCACHE"], timeout_s=30).stdout.strip())


def tools_problem() -> tuple[str, str] | None:
    """Why nothing can be built here, and what helps; None when it can."""
    if not go():
        return "Go is missing (no program go)", REMEDY
    numbers = re.match(r"go(\d+)\.(\d+)", go_version())
    if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
        return f"{go_version()} is too old: go.mod wants {OLDEST[0]}.{OLDEST[1]}", REMEDY
    return None
