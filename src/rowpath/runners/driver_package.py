"""What is known of a driver without a run, and what its files and their Debian package show."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path

NOT_FETCHED = "not fetched yet: rowpath setup"


@dataclass(frozen=True)
class DriverFacts:
    """What is known of one version of a driver. `size_bytes`: installed, without its dependencies."""

    version: str = ""
    licence: str = ""
    released: str = ""  # ISO date
    size_bytes: int | None = None
    dependencies: tuple[str, ...] | None = None
    reason: str = ""  # why nothing is known


def facts_of_files(files: list[Path], version: str) -> DriverFacts:
    """What the Debian package of the first file has, else what the files themselves show."""
    if not files:
        return DriverFacts(reason=NOT_FETCHED)
    package = _output("dpkg-query", "-S", str(files[0])).partition(":")[0]
    if not package:
        return DriverFacts(
            version, size_bytes=sum(file.stat().st_size for file in files), dependencies=_needed(files[0])
        )
    show = "${Version}\n${Installed-Size}\n${Depends}"
    packaged, size_kib, depends = _output("dpkg-query", "-W", f"-f={show}", package).split("\n")
    return DriverFacts(
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
    file = Path("/usr/share/doc") / package / "changelog.Debian.gz"
    found = re.search(r"^ -- .*>  (.+)$", _output("zcat", str(file)), re.MULTILINE) if file.is_file() else None
    return parsedate_to_datetime(found.group(1)).date().isoformat() if found else ""


def _needed(file: Path) -> tuple[str, ...] | None:
    """The shared libraries that a library names as needed."""
    found = _output("objdump", "-p", str(file))
    return tuple(re.findall(r"^\s+NEEDED\s+(\S+)$", found, re.MULTILINE)) if found else None


def _output(*command: str) -> str:
    """What a program prints; empty when it is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
