"""Python: the drivers' own virtual environment, apart from the controller's, and how to start the runner in it.

Drivers that have no wheel for Linux are compiled here from checksummed sources, each in an environment of its own.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import logging
import os
import platform
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from rowpath.errors import EnvironmentMissing, TimedOut, UsageError
from rowpath.machine import compiling, jobs, processes
from rowpath.machine.directories import build_dir, digest, locked
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners import building
from rowpath.runners.building import system_library
from rowpath.runners.driver_facts import NOT_FETCHED
from rowpath.runners.manifest import Adapter, Command, DriverFacts, is_external, source_file

PIP_TIMEOUT_S = 300.0
COMPILE_TIMEOUT_S = 1200.0  # a driver from its source, on a machine that does other things; a failure is remembered
REMEDY = "apt-get install python3-venv python3-pip"
# Written last: an environment without it was interrupted and is made again. It names the packages of the lock that are
# there; empty: all that the environment is for.
COMPLETE = "complete"
CORE_PACKAGE = "xxhash"
CHECKED = ("--require-hashes", "--no-deps", "-r")
COMPILED_LOCK = "compiled.lock"
COMPILED_PACKAGES = {"mariadb_config": "libmariadb-dev", "pg_config": "libpq-dev"}  # of Debian, with each program
VARIANTS = ("engine", "implementation", "loop")  # coordinates whose values need packages of their own
FAILED = "failed"  # instead of it: why a driver could not be compiled

log = logging.getLogger("rowpath")
SOURCES = Path(__file__).parent
METADATA_SCRIPT = SOURCES / "driver_metadata.py"


def _lock(adapter: Adapter | None = None) -> Path:
    return SOURCES / (COMPILED_LOCK if adapter and is_compiled(adapter) else "requirements.lock")


def _own_lock(adapter: Adapter, version: str) -> Path | None:
    """The lock of a version that has one of its own."""
    name = adapter.build.get("locks", {}).get(version)
    return SOURCES / name if name else None


@functools.cache
def locked_in(lock: Path) -> dict[str, str]:
    """Each locked package's requirement with its checksums, by name."""
    text = re.sub(r"^#.*\n", "", lock.read_text(), flags=re.MULTILINE)
    entries = re.split(r"\n(?=\S)", text.strip())
    return {entry.partition("==")[0]: entry for entry in entries}


def _name(requirement: str) -> str:
    return requirement.partition("[")[0]


def locked_version(adapter: Adapter, requirement: str) -> str:
    """The version that the lock pins; empty when it has none."""
    pinned = re.match(r"[^=]+==([^\s;]+)", locked_in(_lock(adapter)).get(_name(requirement), ""))
    return pinned[1] if pinned else ""


def own_requirement(adapter: Adapter, version: str) -> str:
    """The requirement of an environment of its own: a version other than the locked one; empty for the shared one."""
    requirement = str(adapter.build.get("requirement", ""))
    if not requirement:
        if version not in adapter.versions:
            text = f"{adapter.driver} has no version {version!r}: it comes with Python"
            raise UsageError(text, f"version={adapter.versions[0]}")
        return ""
    if "/" in version:
        return f"{requirement} @ {Path(version).absolute().as_uri()}"
    return "" if version == locked_version(adapter, requirement) else f"{requirement}=={version}"


def variants_of(adapter: Adapter, path: AccessPath | None = None) -> list[Adapter]:
    """The adapter as a path needs it; without a path as each of its engines does.

    `build.engine.NAME`, `build.implementation.NAME` and `build.loop.NAME` hold what is there instead of the adapter's
    own.
    """
    if path is None:
        engines = adapter.build.get("engine", {})
        return [variants_of(adapter, AccessPath.of({"engine": name}))[0] for name in engines] or [adapter]
    own: dict[str, Any] = {}
    for key in VARIANTS:
        own |= adapter.build.get(key, {}).get(path.get(key), {})
    for above in (adapter.layer_of(path), adapter.pool_of(path)):
        if above:
            requirement = [_name(above.requirement)] if above.requirement else []
            packages = own.get("packages", adapter.build.get("packages", ()))
            own["packages"] = [*packages, *requirement, *above.packages]
    return [structs.replace(adapter, build=adapter.build | own) if own else adapter]


def environment_of(adapter: Adapter, version: str) -> Path:
    """Where the environment is: named by everything that makes it what it is."""
    own = adapter.driver if is_compiled(adapter) or adapter.build.get("apart") else ""
    own += own_requirement(adapter, version) + (digest(Path(version)) if "/" in version else "")
    if lock := _own_lock(adapter, version):
        own += digest(lock)
    return build_dir("python") / f"environment-{_made_of(_lock(adapter), own)}"


@functools.cache
def _made_of(lock: Path, own: str) -> str:
    parts = [lock.read_bytes(), sys.version.encode(), sys.base_prefix.encode(), own.encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _program(environment: Path) -> Path:
    return environment / "bin" / "python"


def interpreter(adapter: Adapter, version: str) -> Path | None:
    """The Python that has the driver; None until its environment is made."""
    return _program(environment_of(adapter, version)) if _absent(adapter, version) == [] else None


def packages_of(adapter: Adapter, version: str) -> list[str]:
    """What the driver needs of the lock in the shared environment; a driver of the user's may need anything."""
    if is_external(adapter):
        return list(locked_in(_lock()))
    if own_requirement(adapter, version) or is_compiled(adapter):
        return []
    requirement = _name(str(adapter.build.get("requirement", "")))
    return [CORE_PACKAGE, *([requirement] if requirement else []), *adapter.build.get("packages", ())]


def _absent(adapter: Adapter, version: str) -> list[str] | None:
    """The packages that the driver's environment still lacks; None: all of it."""
    try:
        there = (environment_of(adapter, version) / COMPLETE).read_text().split()
    except FileNotFoundError:
        return None
    return [name for name in packages_of(adapter, version) if there and name not in there]


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether the driver's environment is there or can be made; makes nothing."""
    problems = [_problem(variant, version) for variant in variants_of(adapter, path)]
    what = f"{adapter.driver} {version} (Python {platform.python_version()})"
    return Availability.of(what, problems[0] if all(problems) else None)


def _problem(adapter: Adapter, version: str) -> tuple[str, str] | None:
    problem = (
        (building.refused(adapter, version, "requirement") if "/" in version else None)
        or compiling.lacking("library", adapter.build.get("libraries", {}), system_library)
        or building.odbc_problem(adapter, "", system_library)
    )
    if problem or interpreter(adapter, version) is not None:
        return problem
    if is_compiled(adapter):
        if failure := _failure(adapter, version):
            return failure
        if lacking := compiler_lacking(adapter):
            return lacking, compiler_remedy(adapter)
    possible = _has("venv") and (_has("pip") or _has("ensurepip"))
    return None if possible else ("this Python has no venv or no pip for the drivers' environment", REMEDY)


def _failure(adapter: Adapter, version: str) -> tuple[str, str] | None:
    """Why the driver could not be compiled."""
    file = environment_of(adapter, version) / FAILED
    return (file.read_text(), f"fix it, then rm -r {file.parent}") if file.is_file() else None


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Make the environments that these adapters need; silent when they are there. EnvironmentMissing when pip fails.

    A driver that cannot be compiled stops no other: a warning names it, and `command` refuses it.
    """
    by_environment: dict[Path, list[tuple[Adapter, str]]] = {}
    every_path = list(paths)
    for adapter, version in adapters:
        named = [path for path in every_path if path.driver == adapter.driver and path.version in (version, "none")]
        variants = {tuple(map(path.get, (*VARIANTS, "layer", "pool"))): path for path in named}
        for variant in [variants_of(adapter, path)[0] for path in variants.values()] or [adapter]:
            if _absent(variant, version) != []:
                by_environment.setdefault(environment_of(variant, version), []).append((variant, version))
    processes.side_by_side(functools.partial(_bring_up_to_date, *needs) for needs in by_environment.items())


def _bring_up_to_date(environment: Path, needed: list[tuple[Adapter, str]]) -> None:
    with locked(environment):
        absent = [_absent(*driver) for driver in needed]  # another process may have made it since
        if None in absent:
            _make(environment, *needed[0])
            absent = [_absent(*driver) for driver in needed]
        packages = sorted({name for names in absent for name in names or ()})
        if packages:
            _add(environment, packages)


def _make(environment: Path, adapter: Adapter, version: str) -> None:
    """The environment with what it is for; the shared one with the core's package only."""
    import venv  # here, for it is needed once and slow to load

    jobs.begins()
    own, compiled = own_requirement(adapter, version), is_compiled(adapter)
    shutil.rmtree(environment, ignore_errors=True)
    if not _has("pip") and not _has("ensurepip"):
        raise EnvironmentMissing("this Python has no pip to fetch the drivers", REMEDY)
    venv.EnvBuilder(symlinks=True, with_pip=not _has("pip")).create(environment)
    pip = _pip(environment)
    if not own and not compiled:
        _add(environment, [CORE_PACKAGE])
        return
    tools = [locked_in(_lock(adapter))[name] for name in adapter.build.get("tools", ())]
    beside = adapter.build.get("packages", ()) if (own_lock := _own_lock(adapter, version)) else ()
    core = [locked_in(_lock())[name] for name in (CORE_PACKAGE, *beside)]
    _install(pip, [*CHECKED, _written(environment / "core.lock", [*core, *tools])])
    if compiled:
        names = [_name(str(adapter.build["requirement"])), *adapter.build.get("packages", ())]
        pinned = [locked_in(_lock(adapter))[name] for name in names]
        driver = [own] if own else [*CHECKED, _written(environment / "driver.lock", pinned)]
        try:
            # pip keeps what it compiled only by the source: another library's build would be taken for this one's.
            options = ["--no-build-isolation", "--no-cache-dir", *driver]
            _install(pip, options, ":none:", library_flags(adapter), COMPILE_TIMEOUT_S)
        except EnvironmentMissing as error:
            log.warning("skipped %s: %s", adapter.driver, error.message)
            (environment / FAILED).write_text(error.message)
            return
    else:
        _install(pip, [*CHECKED, str(own_lock)] if own_lock else [own])
    (environment / COMPLETE).touch()


def _add(environment: Path, packages: list[str]) -> None:
    """Install these packages of the lock, and note them beside those that are there."""
    jobs.begins()
    complete = environment / COMPLETE
    there = complete.read_text().split() if complete.is_file() else []
    entries = [locked_in(_lock())[name] for name in packages]
    _install(_pip(environment), [*CHECKED, _written(environment / "packages.lock", entries)])
    noted = environment / "noted"
    noted.write_text("\n".join(sorted({*there, *packages})) + "\n")
    noted.replace(complete)  # whole or not at all: an empty one would stand for every package


def _pip(environment: Path) -> list[str]:
    if _has("pip"):
        return [sys.executable, "-m", "pip", "--python", str(_program(environment))]
    return [str(_program(environment)), "-m", "pip"]


def _written(file: Path, entries: list[str]) -> str:
    file.write_text("\n".join(entries) + "\n")
    return str(file)


def _install(
    pip: list[str],
    what: list[str],
    wheels: str = ":all:",
    environment: Mapping[str, str] = {},
    timeout_s: float = PIP_TIMEOUT_S,
) -> None:
    # Runners keep what they compile in a folder of their own, and only of what they import.
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-compile", "--only-binary", wheels]
    try:
        done = processes.run([*pip, "install", *options, *what], timeout_s=timeout_s, environment=environment)
    except TimedOut as error:
        late = f"pip did not fetch {what[-1]} within {timeout_s:g} s"
        raise EnvironmentMissing(late, "check the network, then run it again") from error
    if done.returncode:
        last = " ".join(done.stderr.strip().splitlines()[-2:])
        own = "==" in what[-1] or " @ file:" in what[-1]
        hint = "check that this version exists, and the network" if own else "check the network"
        raise EnvironmentMissing(f"pip could not install {what[-1]}: {last}", f"{hint}, then run it again")


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner: this path's interpreter, our source, and nothing of the user's own Python settings.

    EnvironmentMissing for a driver that could not be compiled.
    """
    layer, pool = adapter.layer_of(path), adapter.pool_of(path)
    above = layer.source_of(path) if layer else pool.source if pool else ""
    apart = source_file(adapter, above) if above or is_external(adapter) else None
    source = ("--source", str(apart)) if apart else ()
    adapter = variants_of(adapter, path)[0]
    Availability.of(adapter.driver, _failure(adapter, version)).require()
    program = str(_program(environment_of(adapter, version)))
    return Command(
        arguments=(program, "-m", "core", *source, "--adapter", adapter.driver),
        environment={
            "PYTHONPATH": str(SOURCES),
            "PYTHONSAFEPATH": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTHONUTF8": "1",
            "PYTHONPYCACHEPREFIX": str(build_dir("python") / "pycache"),
            **adapter.build.get("environment", {}),
            **building.odbc_environment(adapter, "", system_library),
        },
    )


def is_compiled(adapter: Adapter) -> bool:
    """Whether its manifest names `compiled_with`: the program that knows where its C library is."""
    return "compiled_with" in adapter.build


def compiler_remedy(adapter: Adapter) -> str:
    """The command that brings what compiling the driver takes."""
    return f"apt-get install gcc {COMPILED_PACKAGES[str(adapter.build['compiled_with'])]} python3-dev"


def compiler_lacking(adapter: Adapter) -> str:
    """What compiling the driver lacks here, in words; empty when nothing; starts nothing."""
    program = str(adapter.build["compiled_with"])
    compiler = shlex.split(os.environ.get("CC", "") or str(sysconfig.get_config_var("CC") or "cc"))[0]
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    needed = {
        f"the C compiler {compiler}": shutil.which(compiler),
        f"{program} (with the C library's headers)": shutil.which(program),
        f"Python's own header {headers}": headers.is_file(),
    }
    lacking = [f"{what} is missing" for what, there in needed.items() if not there]
    return f"it has no wheel and is compiled here: {', '.join(lacking)}" if lacking else ""


def library_flags(adapter: Adapter) -> dict[str, str]:
    """The environment in which the driver's build finds this one C library and no other.

    Errors: EnvironmentMissing when the library's own program does not say.
    """
    program = str(adapter.build["compiled_with"])
    if program == "pg_config":  # which the driver's build asks by itself
        return {"LDFLAGS": f"-Wl,-rpath,{_library_answer(adapter, '--libdir')}"}
    return {
        "MYSQLCLIENT_CFLAGS": _library_answer(adapter, "--include"),
        "MYSQLCLIENT_LDFLAGS": _library_answer(adapter, "--libs"),
        "MARIADB_CONFIG": shutil.which(program) or program,
    }


def _library_answer(adapter: Adapter, question: str) -> str:
    program = str(adapter.build["compiled_with"])
    done = processes.run([program, question], timeout_s=30)
    if done.returncode:
        raise EnvironmentMissing(f"{program} {question} failed: {done.stderr.strip()[-300:]}", compiler_remedy(adapter))
    return done.stdout.strip()


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """What the distribution's metadata has."""
    program = interpreter(adapter, version)
    if program is None:
        return DriverFacts(reason=NOT_FETCHED)
    wanted = str(adapter.build.get("requirement", "")) or Path(adapter.source).stem
    done = processes.run([program, "-I", METADATA_SCRIPT, wanted], timeout_s=60)
    if done.returncode:
        return DriverFacts(reason=f"cannot read its metadata: {done.stderr.strip().splitlines()[-1]}")
    metadata: dict[str, Any] = json.loads(done.stdout)
    return DriverFacts(**(metadata | {"dependencies": tuple(metadata["dependencies"])}))
