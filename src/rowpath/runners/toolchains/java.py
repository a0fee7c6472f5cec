"""Java: drivers fetched through Maven, runner and adapters compiled with javac, one JVM with fixed options per path."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.machine import jobs, maven, maven_artefacts, processes
from rowpath.machine.directories import build_dir
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners.driver_package import DriverFacts
from rowpath.runners.manifest import Adapter, Command, language, source_file
from rowpath.runners.toolchains import compiling, driver_versions, jvm, maven_facts

NAME = "java"  # the language of what runs in a JVM that no runner is in
OLDEST = 17
LEFTOVER_AGE_S = 24 * 3600
INSTALL = "apt-get install openjdk-17-jdk-headless maven"
TOOLS = (
    "org.ow2.asm:asm:9.11.1",
    "com.fasterxml.jackson.core:jackson-core:2.18.2",
    "com.fasterxml.jackson.jr:jackson-jr-objects:2.18.2",
)
COMPILER_OPTIONS = ("--release", str(OLDEST), "-g", "-nowarn", "-proc:none", "-encoding", "UTF-8")
# A compiler that ends after a second takes half the CPU so; what it writes is the same.
SHORT_LIVED = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
JVM_OPTIONS = (
    "-XX:+UseSerialGC",
    "-Xms256m",
    "-Xmx256m",
    "-XX:+AlwaysPreTouch",
    f"-XX:ActiveProcessorCount={jvm.PROCESSORS}",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    "-Duser.timezone=UTC",
    "-Duser.language=en",
    "-Duser.country=US",
    "-Dfile.encoding=UTF-8",
)
_sources = functools.partial(compiling.sources_of, NAME)
# What is compiled together: name, sources, class path.
_Unit = tuple[str, list[Path], list[Path]]
# Java cannot move its stdout aside itself: replies go to descriptor 3, whatever else writes to 1 lands on stderr.
# Options from the user's environment would be measured without being recorded.
SHELL = 'unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS; exec 3>&1 1>&2; exec "$@"'

fetch = maven.fetch


def helper_threads() -> tuple[str, ...]:
    """How names of a JVM's own threads begin that work beside the program."""
    return language(NAME).helper_threads


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether this adapter, on this path, can be built and run here; quick, builds nothing."""
    what = f"{adapter.driver} {version} on Java {_java_version() or '?'}"
    problem = tools_problem()
    if problem:
        return Availability(False, what, problem, INSTALL)
    if "/" in version or not _has_jars(adapter):
        refused = driver_versions.refused(adapter, version, "jar_by_path", *(("jars",) if _has_jars(adapter) else ()))
        if refused:
            return Availability(False, what, *refused)
    if adapter.build.get("jar_by_path") and "/" not in version:
        return Availability(False, what, "no driver jar given", "rowpath probe jdbc:… --jar DRIVER.jar")
    here = _on_request(adapter, version)
    if not here.ok:
        return Availability(False, what, here.reason, here.remedy)
    absent = maven.missing([*TOOLS, *_coordinates(adapter, version)])
    if absent and shutil.which("mvn") is None:
        return Availability(False, what, f"Maven is missing, {absent[0]} cannot be fetched", maven.INSTALL)
    if path is not None and jvm.needs_virtual(path):
        return jvm.availability(major())
    return Availability(True, what)


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Fetch and compile what these adapters and paths need and what is not up to date.

    Errors: EnvironmentMissing without a JDK, Maven or what comes only on request, InternalError when a source does
    not compile.
    """
    problem = tools_problem()
    if problem:
        raise EnvironmentMissing(problem, INSTALL)
    for adapter, version in adapters:
        here = _on_request(adapter, version)
        if not here.ok:
            raise EnvironmentMissing(here.reason, here.remedy)
    build_dir("java").mkdir(parents=True, exist_ok=True)
    _make_scratch()
    needed = [one for adapter, version in adapters for one in _coordinates(adapter, version)]
    first: list[Callable[[], object]] = [functools.partial(fetch, [*TOOLS, *needed])]
    first.append(functools.partial(_compile, "core", _sources("core"), []))
    if any(map(jvm.needs_virtual, paths)):
        first.append(functools.partial(jvm.install, major(), java_command()))
    processes.side_by_side(first)
    chains = [_units(adapter, version)[1:] for adapter, version in adapters]
    chains.append([("tools", _sources("tools"), fetch(TOOLS))])
    # Step by step, because an adapter is compiled against the families before it; what several need only once.
    for step in range(max(map(len, chains))):
        units = {_output(*chain[step]): chain[step] for chain in chains if step < len(chain)}
        processes.side_by_side((functools.partial(_compile, *unit) for unit in units.values()), compiling.AT_ONCE)


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner for this path, once it is built."""
    tools = _output("tools", _sources("tools"), fetch(TOOLS))
    classes = [_output(*unit) for unit in _units(adapter, version)]
    needed = (path.deployment, path.transport)
    drivers = _driver_jars(adapter, version, needed)
    options = [*JVM_OPTIONS, f"-Djava.io.tmpdir={_scratch()}", f"-Drowpath.tools={_joined([tools, *fetch(TOOLS)])}"]
    if path.embedded:
        options += adapter.build.get("embedded_options", {}).get(path.durability, ())
    java = java_command()
    if jvm.needs_virtual(path):
        java = jvm.install(major(), java)
        options += jvm.OPTIONS
    arguments = [java, *options, "-cp", _joined([*classes, *drivers]), "rowpath.Main"]
    arguments += ["--adapter", adapter.driver, "--class", adapter.build["class_name"]]
    # A locale of UTF-8 decides how Java spells file names; -Dfile.encoding does not.
    return Command(("/bin/sh", "-c", SHELL, "sh", *arguments), {"LC_ALL": "C.UTF-8"})


def java_command() -> str:
    """The full path of the java that runs everything; EnvironmentMissing when there is none."""
    home = _home()
    if home is None:
        raise EnvironmentMissing("no Java was found", INSTALL)
    return str(home / "bin" / "java")


def class_path(names: Iterable[str]) -> str:
    """The class path of pinned artefacts by name (`derbynet`, or `derbynet:10.8.2.2`), fetched where needed."""
    coordinates = []
    for name in names:
        wanted = name.split(":")
        found = [one for one in maven.pinned() if one.split(":")[1 : 1 + len(wanted)] == wanted]
        if not found:
            raise UsageError(f"no artefact {name!r} is pinned", "see runners/java/checksums.toml")
        coordinates.append(found[0])
    return _joined(fetch(coordinates))


@functools.cache
def _home() -> Path | None:
    named = os.environ.get("JAVA_HOME")
    if named and (Path(named) / "bin" / "java").is_file():
        return Path(named)
    program = shutil.which("javac") or shutil.which("java")
    return Path(program).resolve().parents[1] if program else None


@functools.cache
def _java_version() -> str:
    home = _home()
    release = home / "release" if home else None
    if release is None or not release.is_file():
        return ""
    found = re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text(), re.MULTILINE)
    return found.group(1) if found else ""


def tools_problem() -> str:
    """Why nothing can be built here; empty when it can."""
    home = _home()
    if home is None or not (home / "bin" / "javac").is_file():
        return "no JDK was found (neither JAVA_HOME nor javac on the PATH)"
    if 0 < major() < OLDEST:
        return f"Java {_java_version()} in {home} is older than {OLDEST}"
    return ""


def _on_request(adapter: Adapter, version: str) -> Availability:
    """Whether a driver that comes on request only (`build.on_request`) is here; any other is."""
    name = str(adapter.build.get("on_request", ""))
    if not name or not maven.missing(_coordinates(adapter, version)):
        return Availability(True, adapter.driver)
    found = maven_artefacts.DRIVERS[name]
    reason = f"not fetched: {adapter.driver} {version}, {found.licence}, {found.size_text}"
    return Availability(False, adapter.driver, reason, f"rowpath engine fetch {name}")


def major() -> int:
    """The machine's own Java: 17; 0 when it does not tell."""
    first = _java_version().removeprefix("1.").split(".")[0]
    return int(first) if first.isdigit() else 0


def _has_jars(adapter: Adapter) -> bool:
    return bool(adapter.build.get("jars"))


def _coordinates(adapter: Adapter, version: str, needed: Iterable[str] | None = None) -> list[str]:
    """The driver's Maven coordinates: all, or those that the coordinate values `needed` ask for."""
    jars: dict[str, list[str]] = adapter.build.get("jars", {})
    own = jars.get(version, [])
    by_use = {key: group for key, group in jars.items() if not key[0].isdigit()}
    templates = [one for key, group in by_use.items() if needed is None or key in needed for one in group]
    if own or "/" in version:
        templates = [*own, *(one for one in templates if "{version}" not in one)]
    return list(dict.fromkeys(one.replace("{version}", version) for one in templates))


def artefacts(adapter: Adapter, version: str) -> list[str]:
    """The driver's Maven coordinates, the driver itself first; without what only a transport needs."""
    return _coordinates(adapter, version, adapter.deployments)


def _driver_jars(adapter: Adapter, version: str, needed: Iterable[str] | None = None) -> list[Path]:
    own = [Path(version)] if "/" in version else []
    return own + fetch(_coordinates(adapter, version, needed))


def _units(adapter: Adapter, version: str) -> list[_Unit]:
    """What is compiled for an adapter, in order: the core, its families, its own sources.

    A family sees the core and the families before it; only the adapter itself sees the driver.
    """
    units: list[_Unit] = [("core", _sources("core"), [])]
    classes = [_output(*units[0])]
    for name in adapter.build.get("families", ()):
        units.append((f"family-{name}", _sources(f"families/{name}"), [*classes]))
        classes.append(_output(*units[-1]))
    own = [source_file(adapter, one) for one in ("", *adapter.build.get("more_sources", ()))]
    units.append((f"adapter-{adapter.driver}", own, [*classes, *_driver_jars(adapter, version)]))
    return units


def _output(name: str, sources: list[Path], libraries: list[Path]) -> Path:
    """Where these sources' classes are, named by a hash over everything that they depend on."""
    words = [_java_version(), *COMPILER_OPTIONS, *map(str, libraries)]
    return build_dir("java") / f"{name}-{compiling.key(sources, words)}"


def _compile(name: str, sources: list[Path], libraries: list[Path]) -> Path:
    output = _output(name, sources, libraries)
    if output.is_dir():
        return output
    jobs.begins()
    javac = Path(java_command()).parent / "javac"
    with tempfile.TemporaryDirectory(dir=build_dir("java")) as scratch:
        classes = Path(scratch) / "classes"
        arguments = [str(javac), *SHORT_LIVED, *COMPILER_OPTIONS, "-cp", _joined(libraries), "-d", str(classes)]
        compiling.run([*arguments, *map(str, sources)], f"{name} does not compile", INSTALL, {"LC_ALL": "C.UTF-8"})
        try:
            classes.rename(output)
        except OSError:
            if not output.is_dir():  # else another process was faster
                raise
    return output


def _scratch() -> Path:
    """Where drivers unpack their native libraries: a JVM that is killed leaves them behind."""
    return build_dir("java") / "tmp"


def _make_scratch() -> None:
    _scratch().mkdir(parents=True, exist_ok=True)
    for file in _scratch().iterdir():
        with contextlib.suppress(OSError):  # another process tidies up too
            if time.time() - file.stat().st_mtime > LEFTOVER_AGE_S:
                file.unlink()


def _joined(files: Iterable[Path]) -> str:
    return os.pathsep.join(map(str, files))


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """What the driver's POM and archive say."""
    return maven_facts.facts_of(artefacts(adapter, version))
