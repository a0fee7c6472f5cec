"""What a Java artefact's POM and archive say of it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rowpath.machine import maven
from rowpath.runners.driver_package import NOT_FETCHED, DriverFacts

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

OLDEST_DATE = 1995  # reproducible archives are dated 1980
_POM = "{*}"  # some POMs name the namespace, some do not


def facts_of(artefacts: list[str]) -> DriverFacts:
    """What is known of a driver by its Maven coordinates, the driver itself first."""
    if maven.missing(artefacts):
        return DriverFacts(reason=NOT_FETCHED)
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
    return DriverFacts(
        version=artefacts[0].split(":")[2],
        licence=" or ".join(licences) or (said.group(1) if said else ""),
        released="{:04}-{:02}-{:02}".format(*dated) if dated[0] >= OLDEST_DATE else "",
        size_bytes=jar.stat().st_size,
        dependencies=tuple(dependencies) if chain else None,
    )


def _poms(coordinates: str) -> Iterator[Element]:
    """The artefact's POM and its parents', from the machine's own Maven repository, else from the archive."""
    group, artifact, version = coordinates.split(":")[:3]
    while group:
        folder = Path.home() / ".m2" / "repository" / group.replace(".", "/") / artifact / version
        file = folder / f"{artifact}-{version}.pom"
        if file.is_file():
            pom = _parsed(file.read_bytes())
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


def _pom_inside(coordinates: str) -> Element | None:
    group, artifact = coordinates.split(":")[:2]
    with zipfile.ZipFile(maven.jar(coordinates)) as archive:
        name = f"META-INF/maven/{group}/{artifact}/pom.xml"
        return _parsed(archive.read(name)) if name in archive.namelist() else None


def _parsed(document: bytes) -> Element:
    from xml.etree import ElementTree  # every command loads this module, few read a POM

    return ElementTree.fromstring(document)


def _all(pom: Element, group: str) -> list[Element]:
    found = pom.find(f"{_POM}{group}")
    return [] if found is None else list(found)


def _text(element: Element, name: str) -> str:
    return " ".join((element.findtext(f"{_POM}{name}") or "").split())
