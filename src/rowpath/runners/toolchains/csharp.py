"""C#: runner and adapters compiled with Mono's mcs, one program per adapter, which Mono's JIT runs."""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from rowpath.errors import EnvironmentMissing, InternalError, UsageError
from rowpath.machine import processes
from rowpath.machine.directories import build_dir, data_dir, made_whole
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners.driver_package import Facts, facts_of_files
from rowpath.runners.manifest import Adapter, Command, source_file

COMPILER, RUNTIME = "mcs", "mono"
PACKAGES = {COMPILER: "mono-mcs", RUNTIME: "mono-runtime"}
# Of the class library, what the core is compiled with, and the package that has each.
ASSEMBLIES = {"System.Core": "libmono-system-core4.0-cil", "System.Data": "libmono-system-data4.0-cil"}
FLAGS = ("-optimize+", "-warn:4")
COMPILE_TIMEOUT_S = 300
LIBRARY_FOLDERS = (f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}", "/usr/local/lib", "/usr/lib64", "/usr/lib")
# Without the setting Mono leaves a file in /dev/shm behind when it is killed.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "MONO_DISABLE_SHARED_AREA": "1"}


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether this adapter can be built and run here; quick, builds nothing."""
    what = f"C# adapter {adapter.driver} on Mono {mono_version() or '?'}"
    problem = _tools_problem()
    if problem is not None:
        return Availability(False, what, *problem)
    for assembly, package in (ASSEMBLIES | adapter.build.get("assemblies", {})).items():
        if assembly_file(assembly) is None:
            return Availability(False, what, f"the assembly {assembly} is missing", f"apt-get install {package}")
    for library, package in adapter.build.get("libraries", {}).items():
        if library_file(library) is None:
            return Availability(False, what, f"the library {library} is missing", f"apt-get install {package}")
    if "odbc" in adapter.build and _odbc_driver(adapter, version) is None:
        named = version if version.startswith("/") else adapter.build["odbc"]["file"]
        remedy = f"apt-get install {adapter.build['odbc']['package']}"
        return Availability(False, what, f"the ODBC driver {named} is missing", remedy)
    return Availability(True, what)


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Compile the runners of these adapters that are not up to date.

    Errors: EnvironmentMissing without Mono, InternalError when a source does not compile.
    """
    for adapter, _version in adapters:
        program(adapter)


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner for this path."""
    environment = dict(ENVIRONMENT)
    if "odbc" in adapter.build:
        environment["ROWPATH_ODBC_DRIVER"] = str(_odbc_driver(adapter, version))
    arguments = (RUNTIME, str(program(adapter)), "--adapter", adapter.driver, "--class", adapter.build["class_name"])
    return Command(arguments, environment)


def program(adapter: Adapter) -> Path:
    """The adapter's runner, compiled when it is not there yet."""
    families = [file for name in adapter.build.get("families", ()) for file in sources_of(f"families/{name}")]
    own = [source_file(adapter, one) for one in ("", *adapter.build.get("more_sources", ()))]
    return compiled(adapter.driver, [*sources_of("core"), *families, *own], adapter.build.get("assemblies", ()))


def sources_of(folder: str) -> list[Path]:
    """The sources of a folder of the runner; UsageError for a folder without any."""
    found = sorted((data_dir() / "runners" / "csharp" / folder).glob("*.cs"))
    if not found:
        raise UsageError(f"no sources in runners/csharp/{folder}", "correct `families` in adapters.toml")
    return found


def compiled(name: str, sources: list[Path], assemblies: Iterable[str] = (), main: str = "Rowpath.Program") -> Path:
    """A program of these sources, in the cache under a hash over everything that it depends on."""
    arguments = [*FLAGS, f"-main:{main}", f"-r:{','.join([*ASSEMBLIES, *assemblies])}"]
    content = hashlib.sha256(" ".join([mono_version(), *arguments]).encode())
    for source in sources:
        content.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    target = build_dir("csharp") / f"{name}-{content.hexdigest()[:16]}.exe"
    if target.is_file():
        return target
    problem = _tools_problem()
    if problem is not None:
        raise EnvironmentMissing(*problem)
    with made_whole(target) as made:
        done = processes.run(
            [COMPILER, *arguments, f"-out:{made}", *sources], timeout_s=COMPILE_TIMEOUT_S, environment=ENVIRONMENT
        )
        if done.returncode != 0:
            said = "\n".join((done.stdout + done.stderr).strip().splitlines()[:20])
            raise InternalError(f"{name} does not compile:\n{said}", "sh runners/csharp/check.sh")
    return target


def driver_files(adapter: Adapter, version: str) -> list[Path]:
    """The files that are the driver, those that are there; fetches nothing."""
    found = [_odbc_driver(adapter, version) if "odbc" in adapter.build else None]
    found += [assembly_file(name) for name in adapter.build.get("assemblies", {})]
    return [file for file in found if file is not None]


def assembly_file(name: str) -> Path | None:
    """An assembly of Mono's class library, where its link leads; None when it is not there."""
    program_file = shutil.which(RUNTIME)
    folder = Path(program_file).resolve().parents[1] / "lib" / "mono" / "4.5" if program_file else None
    file = folder / f"{name}.dll" if folder else None
    return file.resolve() if file is not None and file.is_file() else None


def library_file(name: str) -> Path | None:
    """A shared library by its file name; None when it is in no folder of the system's."""
    files = (Path(folder) / name for folder in LIBRARY_FOLDERS)
    return next((file for file in files if file.is_file()), None)


@functools.cache
def mono_version() -> str:
    """Mono's version as it prints it: 6.8.0.105; empty without Mono."""
    if shutil.which(RUNTIME) is None:
        return ""
    found = re.search(r"version (\S+)", processes.run([RUNTIME, "--version"], timeout_s=30).stdout)
    return found.group(1) if found else ""


def _odbc_driver(adapter: Adapter, version: str) -> Path | None:
    """The ODBC driver: the file that the version names, else the one of `build.odbc`; None when it is not there."""
    if version.startswith("/"):
        return Path(version) if Path(version).is_file() else None
    return library_file(adapter.build["odbc"]["file"])


def _tools_problem() -> tuple[str, str] | None:
    missing = [tool for tool in (RUNTIME, COMPILER) if shutil.which(tool) is None]
    if not missing:
        return None
    packages = " ".join(PACKAGES[tool] for tool in missing)
    return f"Mono is missing ({' and '.join(missing)} not found)", f"apt-get install {packages}"


def driver_facts(adapter: Adapter, version: str) -> Facts:
    """What the Debian package of the driver's assembly or library says, else the file itself."""
    return facts_of_files(driver_files(adapter, version), version)
