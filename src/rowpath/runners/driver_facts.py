"""Facts about drivers, known without a run: licence, version, release date, size, dependencies.

Each comes from the driver's own package once it is fetched: a Python distribution's metadata, a Java
artefact's POM and archive, a Debian package's files. What a package does not name stays empty.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path

from rowpath.machine import processes
from rowpath.machine.directories import data_dir
from rowpath.model.base import Frozen
from rowpath.runners.manifest import Adapter, DriverFacts, every_adapter, toolchain
from rowpath.toml_file import decode_file

NOT_FETCHED = "not fetched yet: rowpath setup"


def drivers() -> Iterator[tuple[Adapter, str]]:
    """Every adapter that has a driver, with each version of it."""
    for adapter in every_adapter():
        if not adapter.no_driver and "command" not in adapter.build:
            for version in adapter.versions:
                yield adapter, version


class Absent(Frozen, frozen=True):
    """A driver that cannot be here, why, and what stands for it."""

    language: str
    driver: str
    reason: str
    instead: str


def absent() -> tuple[Absent, ...]:
    """The drivers of runners/absent.toml."""
    file = data_dir() / "runners" / "absent.toml"
    tables: dict[str, tuple[Absent, ...]] = decode_file(file, dict[str, tuple[Absent, ...]])
    return tables["absent"]


def facts_of(adapter: Adapter, version: str) -> DriverFacts:
    """What is known; `reason` is set when the driver is not here yet. Fetches and builds nothing."""
    return toolchain(adapter.language).driver_facts(adapter, version)


def facts_of_files(files: list[Path], version: str) -> DriverFacts:
    """What the Debian package of the first file has, else what the files themselves show."""
    if not files:
        return DriverFacts(reason=NOT_FETCHED)
    package = _output("dpkg-query", "-S", str(files[0])).partition(":")[0]
    if not package:
        size = sum(file.stat().st_size for file in files)
        return DriverFacts(version, size_bytes=size, dependencies=_needed(files[0]))
    show = "${Version}\n${Installed-Size}\n${Depends}"
    packaged, size_kib, depends = _output("dpkg-query", "-W", f"-f={show}", package).split("\n")
    return DriverFacts(
        version=packaged,
        licence=_debian_licence(package),
        released=_debian_date(package),
        size_bytes=int(size_kib) * 1024,
        dependencies=tuple(re.split(r"[ (|:]", text)[0] for text in depends.split(", ") if text),
    )


def _debian_licence(package: str) -> str:
    file = Path("/usr/share/doc") / package / "copyright"
    text = file.read_text(errors="replace") if file.is_file() else ""
    paragraph = re.search(r"^Files: \*\n(?:.+\n)*?License: (.+)$", text, re.MULTILINE)
    return paragraph.group(1) if paragraph else ""


def _debian_date(package: str) -> str:
    file = Path("/usr/share/doc") / package / "changelog.Debian.gz"
    signed = re.search(r"^ -- .*>  (.+)$", _output("zcat", str(file)), re.MULTILINE) if file.is_file() else None
    return parsedate_to_datetime(signed.group(1)).date().isoformat() if signed else ""


def _needed(file: Path) -> tuple[str, ...] | None:
    """The shared libraries that a library names as needed."""
    headers = _output("objdump", "-p", str(file))
    return tuple(re.findall(r"^\s+NEEDED\s+(\S+)$", headers, re.MULTILINE)) if headers else None


def _output(*command: str) -> str:
    """What a program prints; empty when it is missing or fails."""
    try:
        return processes.asked(command, 30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
