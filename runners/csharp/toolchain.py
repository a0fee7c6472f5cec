"""C#: runner and adapters compiled with Mono's mcs, one program per adapter, which Mono's JIT runs."""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from rowpath.machine import compiling, processes
from rowpath.machine.directories import build_dir
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners import building
from rowpath.runners.building import system_library
from rowpath.runners.driver_facts import facts_of_files
from rowpath.runners.manifest import Adapter, Command, DriverFacts, source_file

COMPILER, RUNTIME = "mcs", "mono"
sources_of = functools.partial(building.sources_of, "csharp")
PACKAGES = {COMPILER: "mono-mcs", RUNTIME: "mono-runtime"}
# Of the class library, what the core is compiled with, and the package that has each.
ASSEMBLIES = {"System.Core": "libmono-system-core4.0-cil", "System.Data": "libmono-system-data4.0-cil"}
FLAGS = ("-optimize+", "-warn:4", "-unsafe")  # unsafe: the counters shared with the controller are plain memory
# Without the setting Mono leaves a file in /dev/shm behind when it is killed.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "MONO_DISABLE_SHARED_AREA": "1"}


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether this adapter can be built and run here; quick, builds nothing."""
    what = f"C# adapter {adapter.driver} on Mono {mono_version() or '?'}"
    problem = (
        tools_problem()
        or building.refused(adapter, version)
        or compiling.lacking("assembly", ASSEMBLIES | adapter.build.get("assemblies", {}), assembly_file)
        or compiling.lacking("library", adapter.build.get("libraries", {}), system_library)
        or building.odbc_problem(adapter, version, system_library)
    )
    return Availability.of(what, problem)


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Compile the runners of these adapters that are not up to date.

    Errors: EnvironmentMissing without Mono, InternalError when a source does not compile.
    """
    by_driver = {adapter.driver: adapter for adapter, _version in adapters}
    processes.side_by_side((functools.partial(program, adapter) for adapter in by_driver.values()), compiling.AT_ONCE)


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner for this path."""
    arguments = (RUNTIME, str(program(adapter)), "--adapter", adapter.driver, "--class", adapter.build["class_name"])
    return Command(arguments, ENVIRONMENT | building.odbc_environment(adapter, version, system_library))


def program(adapter: Adapter) -> Path:
    """The adapter's runner, compiled when it is not there yet."""
    families = [file for name in adapter.build.get("families", ()) for file in sources_of(f"families/{name}")]
    own = [source_file(adapter, name) for name in ("", *adapter.build.get("more_sources", ()))]
    return compiled(adapter.driver, [*sources_of("core"), *families, *own], adapter.build.get("assemblies", ()))


def compiled(name: str, sources: list[Path], assemblies: Iterable[str] = (), main: str = "Rowpath.Program") -> Path:
    """A program of these sources, in the cache under a hash over everything that it depends on."""
    arguments = [*FLAGS, f"-main:{main}", f"-r:{','.join([*ASSEMBLIES, *assemblies])}"]

    def compile_to(made: Path) -> None:
        Availability.of("Mono", tools_problem()).require()
        command = [COMPILER, *arguments, f"-out:{made}", *map(str, sources)]
        compiling.run(command, f"{name} does not compile", f"apt-get install {PACKAGES[COMPILER]}", ENVIRONMENT)

    target = build_dir("csharp") / f"{name}-{compiling.key(sources, [mono_version(), *arguments])}.exe"
    return compiling.made_once(target, compile_to)


def assembly_file(name: str) -> Path | None:
    """An assembly of Mono's class library, where its link leads; None when it is not there."""
    program_file = shutil.which(RUNTIME)
    folder = Path(program_file).resolve().parents[1] / "lib" / "mono" / "4.5" if program_file else None
    file = folder / f"{name}.dll" if folder else None
    return file.resolve() if file is not None and file.is_file() else None


@functools.cache
def mono_version() -> str:
    """Mono's version as it prints it: 6.8.0.105; empty without Mono."""
    if shutil.which(RUNTIME) is None:
        return ""
    printed = re.search(r"version (\S+)", processes.run([RUNTIME, "--version"], timeout_s=30).stdout)
    return printed.group(1) if printed else ""


def tools_problem() -> tuple[str, str] | None:
    """Why nothing can be built here, and what helps; None when it can."""
    missing = [tool for tool in (RUNTIME, COMPILER) if shutil.which(tool) is None]
    if not missing:
        return None
    packages = " ".join(PACKAGES[tool] for tool in missing)
    return f"Mono is missing ({' and '.join(missing)} not found)", f"apt-get install {packages}"


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """What the Debian package of the driver's assembly or library has, else the file itself."""
    files = [building.odbc_driver(adapter, version, system_library) if "odbc" in adapter.build else None]
    files += [assembly_file(name) for name in adapter.build.get("assemblies", {})]
    return facts_of_files([file for file in files if file is not None], version)
