"""Facts about drivers, known without a run: licence, version, release date, size, dependencies.

Each comes from what the driver's own package says once it is fetched: a Python distribution's metadata, a Java
artefact's POM and archive, a Debian package's files. What a package does not say stays empty.
"""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rowpath.machine import maven, processes
from rowpath.machine.directories import data_dir
from rowpath.model.base import Frozen
from rowpath.runners.manifest import Adapter, every_adapter
from rowpath.runners.toolchains import c, csharp, java, python
from rowpath.toml_file import decode_file

NOT_FETCHED = "not fetched yet: rowpath setup"
OLDEST_DATE = 1995  # reproducible archives are dated 1980
_POM = "{*}"  # some POMs name the namespace, some do not


@dataclass(frozen=True)
class Facts:
    """What is known of one version of a driver. `size_bytes`: installed, without its dependencies."""

    version: str = ""
    licence: str = ""
    released: str = ""  # ISO date
    size_bytes: int | None = None
    dependencies: tuple[str, ...] | None = None
    reason: str = ""  # why nothing is known


def drivers() -> Iterator[tuple[Adapter, str]]:
    """Every adapter that has a driver, with each version of it: what only reads files or does nothing has none."""
    for adapter in every_adapter():
        own = {"requirement", "jars", "libraries", "libpq"} & set(adapter.build)
        if "command" in adapter.build or (adapter.language == "java" and not adapter.build.get("jars")):
            continue
        if own or set(adapter.engines).isdisjoint(("null", "file")):
            for version in adapter.versions:
                yield adapter, version


class Absent(Frozen, frozen=True):
    """A driver that cannot be here, why, and what stands for it."""

    language: str
    driver: str
    reason: str
    instead: str


class _AbsentManifest(Frozen, frozen=True):
    schema_version: int
    absent: tuple[Absent, ...]


def absent() -> tuple[Absent, ...]:
    """The drivers of runners/absent.toml."""
    manifest: _AbsentManifest = decode_file(data_dir() / "runners" / "absent.toml", _AbsentManifest)
    return manifest.absent


def facts_of(adapter: Adapter, version: str) -> Facts:
    """What is known; `reason` is set when the driver is not here yet. Fetches and builds nothing."""
    readers = {"python": _python, "java": _java, "c": _c, "csharp": _csharp}
    return readers[adapter.language](adapter, version)


PYTHON_SCRIPT = Path(__file__).with_name("driver_metadata_script.py")


def _python(adapter: Adapter, version: str) -> Facts:
    program = python.interpreter(adapter, version)
    if program is None:
        return Facts(reason=NOT_FETCHED)
    wanted = str(adapter.build.get("requirement", "")) or Path(adapter.source).stem
    done = processes.run([program, "-I", PYTHON_SCRIPT, wanted], timeout_s=60)
    if done.returncode:
        return Facts(reason=f"its metadata cannot be read: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return Facts(**(found | {"dependencies": tuple(found["dependencies"])}))


def _java(adapter: Adapter, version: str) -> Facts:
    artefacts = java.artefacts(adapter, version)
    if maven.missing(artefacts):
        return Facts(reason=NOT_FETCHED)
    jar = maven.jar(artefacts[0])
    chain = list(_poms(artefacts[0]))
    licences = next((found for pom in chain if (found := [_text(each, "name") for each in _all(pom, "licenses")])), [])
    dependencies = [
        f"{_text(each, 'groupId')}:{_text(each, 'artifactId')}".replace(
            "${project.groupId}", artefacts[0].split(":")[0]
        )
        for pom in chain[:1]
        for each in _all(pom, "dependencies")
        if _text(each, "scope") in ("", "compile", "runtime") and _text(each, "optional") != "true"
    ]
    with zipfile.ZipFile(jar) as archive:
        dated = archive.getinfo("META-INF/MANIFEST.MF").date_time
        manifest = archive.read("META-INF/MANIFEST.MF").decode(errors="replace").replace("\r\n ", "")
    said = re.search(r"^Bundle-License: ([^;\r\n]+)", manifest, re.MULTILINE)
    return Facts(
        version=artefacts[0].split(":")[2],
        licence=" or ".join(licences) or (said.group(1) if said else ""),
        released="{:04}-{:02}-{:02}".format(*dated) if dated[0] >= OLDEST_DATE else "",
        size_bytes=jar.stat().st_size,
        dependencies=tuple(dependencies) if chain else None,
    )


def _poms(coordinates: str) -> Iterator[ElementTree.Element]:
    """The artefact's POM and its parents', from the machine's own Maven repository, else from the archive."""
    group, artifact, version = coordinates.split(":")[:3]
    while group:
        folder = Path.home() / ".m2" / "repository" / group.replace(".", "/") / artifact / version
        file = folder / f"{artifact}-{version}.pom"
        if file.is_file():
            pom = ElementTree.fromstring(file.read_bytes())
        else:
            inside = _pom_inside(coordinates) if coordinates.startswith(f"{group}:{artifact}:") else None
            if inside is None:
                return
            pom = inside
        yield pom
        parent = pom.find(f"{_POM}parent")
        group, artifact, version = (
            [_text(parent, name) for name in ("groupId", "artifactId", "version")]
            if parent is not None
            else ("", "", "")
        )


def _pom_inside(coordinates: str) -> ElementTree.Element | None:
    group, artifact = coordinates.split(":")[:2]
    with zipfile.ZipFile(maven.jar(coordinates)) as archive:
        name = f"META-INF/maven/{group}/{artifact}/pom.xml"
        return ElementTree.fromstring(archive.read(name)) if name in archive.namelist() else None


def _all(pom: ElementTree.Element, group: str) -> list[ElementTree.Element]:
    found = pom.find(f"{_POM}{group}")
    return [] if found is None else list(found)


def _text(element: ElementTree.Element, name: str) -> str:
    return " ".join((element.findtext(f"{_POM}{name}") or "").split())


def _c(adapter: Adapter, version: str) -> Facts:
    return _of_files(c.driver_libraries(adapter, version), version)


def _csharp(adapter: Adapter, version: str) -> Facts:
    return _of_files(csharp.driver_files(adapter, version), version)


def _of_files(files: list[Path], version: str) -> Facts:
    """What the Debian package of the first file says, else what the files themselves tell."""
    if not files:
        return Facts(reason=NOT_FETCHED)
    package = _said("dpkg-query", "-S", str(files[0])).partition(":")[0]
    if not package:
        return Facts(version, size_bytes=sum(file.stat().st_size for file in files), dependencies=_needed(files[0]))
    show = "${Version}\n${Installed-Size}\n${Depends}"
    packaged, size_kib, depends = _said("dpkg-query", "-W", f"-f={show}", package).split("\n")
    return Facts(
        version=packaged,
        licence=_debian_licence(package),
        released=_debian_date(package),
        size_bytes=int(size_kib) * 1024,
        dependencies=tuple(re.split(r"[ (|:]", one)[0] for one in depends.split(", ") if one),
    )


def _debian_licence(package: str) -> str:
    file = Path("/usr/share/doc") / package / "copyright"
    text = file.read_text(errors="replace") if file.is_file() else ""
    found = re.search(r"^Files: \*\n(?:.+\n)*?License: (.+)$", text, re.MULTILINE)
    return found.group(1) if found else ""


def _debian_date(package: str) -> str:
    from email.utils import parsedate_to_datetime

    file = Path("/usr/share/doc") / package / "changelog.Debian.gz"
    found = re.search(r"^ -- .*>  (.+)$", _said("zcat", str(file)), re.MULTILINE) if file.is_file() else None
    return parsedate_to_datetime(found.group(1)).date().isoformat() if found else ""


def _needed(file: Path) -> tuple[str, ...] | None:
    """The shared libraries that a library needs, as it says itself."""
    found = _said("objdump", "-p", str(file))
    return tuple(re.findall(r"^\s+NEEDED\s+(\S+)$", found, re.MULTILINE)) if found else None


def _said(*command: str) -> str:
    """What a program prints; empty when it is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
