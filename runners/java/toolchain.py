"""Java: drivers fetched through Maven, runner and adapters compiled with javac, one JVM with fixed options per path."""

from __future__ import annotations

import contextlib
import functools
import re
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rowpath.errors import EnvironmentMissing
from rowpath.machine import compiling, jobs, jvm, maven, processes
from rowpath.machine.directories import build_dir
from rowpath.machine.jvm import joined
from rowpath.machine.maven import fetch
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners import building
from rowpath.runners.driver_facts import NOT_FETCHED
from rowpath.runners.manifest import Adapter, Command, DriverFacts, Layer, Pool, source_file

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LEFTOVER_AGE_S = 24 * 3600
OLDEST_DATE = 1995  # reproducible archives are dated 1980
_POM = "{*}"  # some POMs name the namespace, some do not
TOOLS = (
    "org.ow2.asm:asm:9.11.1",
    "com.fasterxml.jackson.core:jackson-core:2.18.2",
    "com.fasterxml.jackson.jr:jackson-jr-objects:2.18.2",
)
COMPILER_OPTIONS = ("--release", str(jvm.OLDEST), "-g", "-nowarn", "-proc:none", "-encoding", "UTF-8")
# A compiler that ends after a second takes half the CPU so; what it writes is the same.
SHORT_LIVED = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
_sources = functools.partial(building.sources_of, "java")
# What is compiled together: name, sources, class path.
_Unit = tuple[str, list[Path], list[Path]]
_Above = Sequence[tuple[Layer | Pool, str]]  # with the source of each
# Java cannot move its stdout aside itself: replies go to descriptor 3, whatever else writes to 1 lands on stderr.
# Options from the user's environment would be measured without being recorded.
SHELL = 'unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS; exec 3>&1 1>&2; exec "$@"'


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether this adapter, on this path, can be built and run here; quick, builds nothing."""
    problem = _problem(adapter, version, _above(adapter, path))
    if problem is None and path is not None and jvm.needs_virtual(path):
        return jvm.virtual_availability()
    return Availability.of(f"{adapter.driver} {version} on Java {jvm.version() or '?'}", problem)


def _problem(adapter: Adapter, version: str, above: _Above) -> tuple[str, str] | None:
    if problem := jvm.compiler_problem():
        return problem, jvm.INSTALL
    takers = ("jar_by_path", *(("jars",) if adapter.build.get("jars") else ()))
    if ("/" in version or len(takers) == 1) and (refused := building.refused(adapter, version, *takers)):
        return refused
    if adapter.build.get("jar_by_path") and "/" not in version:
        return "no driver jar given", "rowpath probe jdbc:… --jar DRIVER.jar"
    needed = [*TOOLS, *_coordinates(adapter, version), *_packages(above)]
    return _on_request(adapter, version) or maven.problem(needed)


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Fetch and compile what these adapters and paths need and what is not up to date.

    Errors: EnvironmentMissing without a JDK, Maven or what comes only on request, InternalError when a source does
    not compile.
    """
    if problem := jvm.compiler_problem():
        raise EnvironmentMissing(problem, jvm.INSTALL)
    for adapter, version in adapters:
        Availability.of(adapter.driver, _on_request(adapter, version)).require()
    _scratch().mkdir(parents=True, exist_ok=True)
    for file in _scratch().iterdir():
        with contextlib.suppress(OSError):  # another process tidies up too
            if time.time() - file.stat().st_mtime > LEFTOVER_AGE_S:
                file.unlink()
    every_path = list(paths)
    needed = [artefact for adapter, version in adapters for artefact in _coordinates(adapter, version)]
    for adapter, _version in adapters:
        needed += [artefact for path in every_path for artefact in _packages(_above(adapter, path))]
    core = functools.partial(_compile, "core", _sources("core"), [])
    virtual = [jvm.virtual_command] if any(map(jvm.needs_virtual, every_path)) else []
    processes.side_by_side([functools.partial(fetch, [*TOOLS, *needed]), core, *virtual])
    chains = [_units(adapter, version)[1:] for adapter, version in adapters]
    for adapter, version in adapters:
        sources = {source: each for path in every_path for each, source in _above(adapter, path)}
        chains += [_units(adapter, version, [(each, source)])[1:] for source, each in sources.items()]
    chains.append([("tools", _sources("tools"), fetch(TOOLS))])
    # Step by step, because an adapter is compiled against the families before it; what several need only once.
    for step in range(max(map(len, chains))):
        units = {_output(*chain[step]): chain[step] for chain in chains if step < len(chain)}
        processes.side_by_side((functools.partial(_compile, *unit) for unit in units.values()), compiling.AT_ONCE)


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner for this path, once it is built."""
    tools = _output("tools", _sources("tools"), fetch(TOOLS))
    above = _above(adapter, path)
    classes = [_output(*unit) for unit in _units(adapter, version, above)]
    drivers = _driver_jars(adapter, version, (path.deployment, path.transport))
    drivers += fetch(_packages(above))
    options = [*jvm.OPTIONS, f"-Djava.io.tmpdir={_scratch()}", f"-Drowpath.tools={joined([tools, *fetch(TOOLS)])}"]
    options += adapter.build.get("options", ())
    if path.embedded:
        options += adapter.build.get("embedded_options", {}).get(path.durability, ())
    virtual = jvm.needs_virtual(path)
    options += jvm.VIRTUAL_OPTIONS if virtual else ()
    java = jvm.virtual_command() if virtual else jvm.java_command()
    arguments = [java, *options, "-cp", joined([*classes, *drivers]), "rowpath.Main"]
    arguments += ["--adapter", adapter.driver, "--class", adapter.build["class_name"]]
    for each, source in above:
        kind = _kind(each)
        arguments += [f"--{kind}", f"rowpath.{kind}s.{Path(source).stem}"]
    # A locale of UTF-8 decides how Java spells file names; -Dfile.encoding does not.
    return Command(("/bin/sh", "-c", SHELL, "sh", *arguments), {"LC_ALL": "C.UTF-8"})


def _above(adapter: Adapter, path: AccessPath | None) -> _Above:
    """What stands above the adapter, where the path is its: a layer, a pool; with its source."""
    if path is None or path.driver != adapter.driver:
        return []
    layer, pool = adapter.layer_of(path), adapter.pool_of(path)
    found: list[tuple[Layer | Pool, str]] = [(layer, layer.source_of(path))] if layer else []
    return [*found, *([(pool, pool.source)] if pool else [])]


def _packages(above: _Above) -> list[str]:
    return [artefact for each, _source in above for artefact in each.packages]


def _kind(above: Layer | Pool) -> str:
    return "layer" if isinstance(above, Layer) else "pool"


def _on_request(adapter: Adapter, version: str) -> tuple[str, str] | None:
    """Why a driver that comes on request only (`build.on_request`) is not here, and what fetches it."""
    name = str(adapter.build.get("on_request", ""))
    if not name or not maven.missing(_coordinates(adapter, version)):
        return None
    artefacts = maven.DRIVERS[name]
    reason = f"not fetched: {adapter.driver} {version}, {artefacts.licence}, {artefacts.size_text}"
    return reason, f"rowpath engine fetch {name}"


def _coordinates(adapter: Adapter, version: str, needed: Iterable[str] | None = None) -> list[str]:
    """The driver's Maven coordinates: all, or those that the coordinate values `needed` ask for."""
    jars: dict[str, list[str]] = adapter.build.get("jars", {})
    own = jars.get(version, [])
    by_use = {key: group for key, group in jars.items() if not key[0].isdigit()}
    templates = [text for key, group in by_use.items() if needed is None or key in needed for text in group]
    if own or "/" in version:
        templates = [*own, *(text for text in templates if "{version}" not in text)]
    return list(dict.fromkeys(text.replace("{version}", version) for text in templates))


def artefacts(adapter: Adapter, version: str) -> list[str]:
    """The driver's Maven coordinates, the driver itself first; without what only a transport needs."""
    return _coordinates(adapter, version, adapter.deployments)


def _driver_jars(adapter: Adapter, version: str, needed: Iterable[str] | None = None) -> list[Path]:
    return [*([Path(version)] if "/" in version else []), *fetch(_coordinates(adapter, version, needed))]


def _units(adapter: Adapter, version: str, above: _Above = ()) -> list[_Unit]:
    """What is compiled for an adapter, in order: the core, its families, its own sources, a source of what is above.

    A family sees the core and the families before it; only the adapter sees the driver, only a layer or pool its own
    library.
    """
    units: list[_Unit] = [("core", _sources("core"), [])]
    classes = [_output(*units[0])]
    for name in adapter.build.get("families", ()):
        units.append((f"family-{name}", _sources(f"families/{name}"), [*classes]))
        classes.append(_output(*units[-1]))
    own = [source_file(adapter, name) for name in ("", *adapter.build.get("more_sources", ()))]
    units.append((f"adapter-{adapter.driver}", own, [*classes, *_driver_jars(adapter, version)]))
    for each, source in above:
        if isinstance(each, Layer):
            units.append(("family-films", _sources("families/films"), [classes[0]]))
            classes.append(_output(*units[-1]))
        file = source_file(adapter, source)
        beside = sorted(file.parent.glob(f"{file.stem}*.java"))
        units.append((f"{_kind(each)}-{each.name}", beside, [*classes, *fetch(each.packages)]))
    return units


def _output(name: str, sources: list[Path], libraries: list[Path]) -> Path:
    """Where these sources' classes are, named by a hash over everything that they depend on."""
    words = [jvm.version(), *COMPILER_OPTIONS, *map(str, libraries)]
    return build_dir("java") / f"{name}-{compiling.key(sources, words)}"


def _compile(name: str, sources: list[Path], libraries: list[Path]) -> Path:
    output = _output(name, sources, libraries)
    if output.is_dir():
        return output
    jobs.begins()
    javac = Path(jvm.java_command()).parent / "javac"
    with tempfile.TemporaryDirectory(dir=build_dir("java")) as scratch:
        classes = Path(scratch) / "classes"
        arguments = [str(javac), *SHORT_LIVED, *COMPILER_OPTIONS, "-cp", joined(libraries), "-d", str(classes)]
        compiling.run([*arguments, *map(str, sources)], f"{name} does not compile", jvm.INSTALL, {"LC_ALL": "C.UTF-8"})
        try:
            classes.rename(output)
        except OSError:
            if not output.is_dir():  # else another process was faster
                raise
    return output


def _scratch() -> Path:
    """Where drivers unpack their native libraries: a JVM that is killed leaves them behind."""
    return build_dir("java") / "tmp"


def driver_facts(adapter: Adapter, version: str) -> DriverFacts:
    """What the driver's POM and archive say."""
    coordinates = artefacts(adapter, version)
    if maven.missing(coordinates):
        return DriverFacts(reason=NOT_FETCHED)
    jar, (group, _artifact, own_version) = maven.jar(coordinates[0]), coordinates[0].split(":")[:3]
    chain = list(_poms(coordinates[0]))
    dependencies = [
        f"{_text(element, 'groupId')}:{_text(element, 'artifactId')}".replace("${project.groupId}", group)
        for pom in chain[:1]
        for element in pom.iterfind(f"{_POM}dependencies/*")
        if _text(element, "scope") in ("", "compile", "runtime") and _text(element, "optional") != "true"
    ]
    with zipfile.ZipFile(jar) as archive:
        dated = archive.getinfo("META-INF/MANIFEST.MF").date_time
    return DriverFacts(
        version=own_version,
        licence=licence(coordinates[0]),
        released="{:04}-{:02}-{:02}".format(*dated) if dated[0] >= OLDEST_DATE else "",
        size_bytes=jar.stat().st_size,
        dependencies=tuple(dependencies) if chain else None,
    )


def licence(coordinates: str) -> str:
    """What the POM of a fetched artefact says, else the nearest parent's, else the archive; else empty."""
    named = ([_text(element, "name") for element in pom.iterfind(f"{_POM}licenses/*")] for pom in _poms(coordinates))
    if names := next(filter(None, named), []):
        return " or ".join(names)
    with zipfile.ZipFile(maven.jar(coordinates)) as archive:
        manifest = archive.read("META-INF/MANIFEST.MF").decode(errors="replace").replace("\r\n ", "")
    said = re.search(r"^Bundle-License: ([^;\r\n]+)", manifest, re.MULTILINE)
    return said.group(1) if said else ""


def _poms(coordinates: str) -> Iterator[Element]:
    """The artefact's POM and its parents', from the machine's own Maven repository, else from the archive."""
    from xml.etree import ElementTree  # every command loads this module, few read a POM

    group, artifact, version = coordinates.split(":")[:3]
    while group:
        folder = Path.home() / ".m2" / "repository" / group.replace(".", "/") / artifact / version
        file = folder / f"{artifact}-{version}.pom"
        if file.is_file():
            document = file.read_bytes()
        elif coordinates.startswith(f"{group}:{artifact}:"):
            inside = f"META-INF/maven/{group}/{artifact}/pom.xml"
            with zipfile.ZipFile(maven.jar(coordinates)) as archive:
                if inside not in archive.namelist():
                    return
                document = archive.read(inside)
        else:
            return
        yield (pom := ElementTree.fromstring(document))
        parent = pom.find(f"{_POM}parent")
        if parent is None:
            return
        group, artifact, version = (_text(parent, name) for name in ("groupId", "artifactId", "version"))


def _text(element: Element, name: str) -> str:
    return " ".join((element.findtext(f"{_POM}{name}") or "").split())
