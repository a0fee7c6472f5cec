"""Java artefacts fetched through the machine's own Maven, each pinned by checksum in runners/java/checksums.toml."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rowpath.errors import EnvironmentMissing, TimedOut, UsageError
from rowpath.machine import jobs, processes
from rowpath.machine.directories import data_dir, downloads_dir
from rowpath.model.availability import Availability

PLUGIN_VERSION = "3.6.1"
TIMEOUT_S = 300
SHORT_LIVED = "-XX:TieredStopAtLevel=1"  # a JVM that ends after seconds takes less CPU so
INSTALL = "apt-get install maven"
_COORDINATES = re.compile(r"[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+){2,3}")


@functools.cache
def pinned() -> dict[str, str]:
    """SHA-256 by Maven coordinates (`group:artifact:version[:classifier]`)."""
    return tomllib.loads((data_dir() / "runners" / "java" / "checksums.toml").read_text())


def jar(coordinates: str) -> Path:
    """Where the artefact is kept once fetched."""
    _group, *rest = coordinates.split(":")
    return downloads_dir() / "java" / ("-".join(rest) + ".jar")


def missing(coordinates: Iterable[str]) -> list[str]:
    """The coordinates whose jars are not fetched yet."""
    return [artefact for artefact in dict.fromkeys(coordinates) if not jar(artefact).is_file()]


def problem(coordinates: Iterable[str]) -> tuple[str, str] | None:
    """Why these cannot be fetched where they are missing, and what helps; None when they are there or can be."""
    absent = missing(coordinates) if shutil.which("mvn") is None else []
    return (f"Maven is missing, {absent[0]} cannot be fetched", INSTALL) if absent else None


def fetch(coordinates: Iterable[str]) -> list[Path]:
    """The artefacts' files, fetched where needed and checked.

    A version that is not pinned is checked by Maven, and pinned beside the file when it first arrives.
    Errors: UsageError for coordinates that are none; EnvironmentMissing without Maven, when it fails, or when a
    file does not have its checksum.
    """
    wanted = list(dict.fromkeys(coordinates))
    if invalid := next((artefact for artefact in wanted if not _COORDINATES.fullmatch(artefact)), ""):
        raise UsageError(f"invalid Maven coordinates: {invalid!r}", "a version is letters, digits, dots and hyphens")
    if absent := missing(wanted):
        _download(absent)
    return [_checked(artefact, jar(artefact)) for artefact in wanted]


def unpack(coordinates: str, suffix: str, target: Path) -> None:
    """Fetch an artefact and unpack its member with this suffix, a tar archive, into a folder. Errors as `fetch`."""
    (jar_file,) = fetch([coordinates])
    with zipfile.ZipFile(jar_file) as outer:
        name = next(member for member in outer.namelist() if member.endswith(suffix))
        with outer.open(name) as packed, tarfile.open(fileobj=packed, mode="r:*") as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # not in the oldest Python 3.11
            archive.extractall(target)


@dataclass(frozen=True)
class Artefacts:
    """Maven artefacts that come only on request (`engines.base.Fetchable`)."""

    name: str  # as `rowpath engine fetch` takes it
    title: str
    licence: str
    size_text: str
    coordinates: tuple[str, ...]

    def fetched(self) -> bool:
        """Whether they are there."""
        return not missing(self.coordinates)

    def fetch(self) -> str:
        """Fetch them, pinned by checksum; what was fetched and where it is. Errors: EnvironmentMissing."""
        fetch(self.coordinates)
        return f"{self.title}, {self.licence}, in {downloads_dir() / 'java'}"

    def availability(self) -> Availability:
        """Whether they are there; fetches nothing."""
        problem = f"not fetched: {self.title}, {self.licence}, {self.size_text}", f"rowpath engine fetch {self.name}"
        if shutil.which("mvn") is None:
            problem = "Maven, which fetches it, is missing", INSTALL
        return Availability.of(self.title, None if self.fetched() else problem)


# Drivers on request only, by the name that `build.on_request` of an adapter has.
JCC = Artefacts(
    name="jcc",
    title="IBM Data Server Driver for JDBC and SQLJ (jcc) 12.1.2.0",
    licence="IBM's International Program License Agreement, which you accept by using it",
    size_text="7 MB",
    coordinates=("com.ibm.db2:jcc:12.1.2.0",),
)
ESPROC_VERSION = "20230228"
ESPROC = Artefacts(
    name="esproc",
    title=f"esProc SPL {ESPROC_VERSION}",
    licence="Apache-2.0",
    size_text="7 MB",
    coordinates=(f"com.scudata.esproc:esproc:{ESPROC_VERSION}", "net.jpountz.lz4:lz4:1.3.0"),
)
DRIVERS: Mapping[str, Artefacts] = {driver.name: driver for driver in (JCC, ESPROC)}


def _checked(coordinates: str, file: Path) -> Path:
    actual, note = hashlib.sha256(file.read_bytes()).hexdigest(), file.with_suffix(".sha256")
    if coordinates not in pinned() and not note.is_file():
        note.write_text(actual + "\n")
    expected = pinned().get(coordinates) or note.read_text().strip()
    if actual != expected:
        raise EnvironmentMissing(
            f"{file} does not match the pin of {coordinates}: SHA-256 {actual}, expected {expected}",
            f"rm {file} && rowpath doctor",
        )
    return file


def _download(coordinates: list[str]) -> None:
    Availability.of("Maven", problem(coordinates)).require()
    jobs.begins(f"fetching {len(coordinates)} Java artefact{'s' if len(coordinates) > 1 else ''}")
    folder = downloads_dir() / "java"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        project = Path(name)
        (project / "pom.xml").write_text(_project(coordinates))
        # Strict checksums: what Maven cannot check against the repository's own checksum is an error.
        command = ["mvn", "-q", "-B", "-C", "-f", str(project / "pom.xml"), "dependency:copy"]
        try:
            # The user's own settings for Java may hold what the way to the repository needs.
            environment = os.environ | {"MAVEN_OPTS": f"{SHORT_LIVED} {os.environ.get('MAVEN_OPTS', '')}"}
            done = processes.run(command, timeout_s=TIMEOUT_S, environment=environment)
        except TimedOut as error:
            raise _failed(coordinates, f"took more than {TIMEOUT_S} s") from error
        if done.returncode != 0:
            raise _failed(coordinates, f"ended with status {done.returncode}")
        for artefact in coordinates:
            fetched, kept = project / jar(artefact).name, jar(artefact)
            _checked(artefact, fetched)
            for file in (fetched, fetched.with_suffix(".sha256")):
                if file.is_file():
                    file.replace(kept.with_suffix(file.suffix))


def _failed(coordinates: list[str], how: str) -> EnvironmentMissing:
    # Maven's own words are left out: they may hold a private repository's address.
    return EnvironmentMissing(
        f"Maven {how} while fetching {', '.join(coordinates)}", f"mvn dependency:get -Dartifact={coordinates[0]}"
    )


def _project(coordinates: list[str]) -> str:
    tags = ("groupId", "artifactId", "version", "classifier")
    named = (zip(tags, artefact.split(":"), strict=False) for artefact in coordinates)
    fields = ("".join(f"<{tag}>{text}</{tag}>" for tag, text in parts) for parts in named)
    items = "".join(f"<artifactItem>{text}</artifactItem>" for text in fields)
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>rowpath</groupId><artifactId>fetch</artifactId><version>1</version><packaging>pom</packaging>"
        "<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId>"
        f"<artifactId>maven-dependency-plugin</artifactId><version>{PLUGIN_VERSION}</version>"
        "<configuration><outputDirectory>${project.basedir}</outputDirectory>"
        f"<artifactItems>{items}</artifactItems></configuration></plugin></plugins></build></project>"
    )
