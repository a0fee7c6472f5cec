"""Ray, which joins hosts: fetched on request only, pinned by checksum, into a folder of the cache."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.machine import processes
from rowpath.machine.directories import cache_dir, locked

RAY = "2.60.0"
LOCK = Path(__file__).with_name("requirements.lock")
HINT = "rowpath hosts setup"
TIMEOUT_S = 900.0
COMPLETE = "complete"


def folder() -> Path:
    """Where it is, or would be: named by the lock and by this Python."""
    made_of = LOCK.read_bytes() + sys.version.encode()
    return cache_dir() / "hosts" / f"ray-{RAY}-{hashlib.sha256(made_of).hexdigest()[:12]}"


def is_here() -> bool:
    """Whether it has been fetched."""
    return (folder() / COMPLETE).is_file()


def require() -> Path:
    """Its folder. Errors: EnvironmentMissing when it has not been fetched."""
    if not is_here():
        raise EnvironmentMissing(f"Ray {RAY}, which joins the hosts, is not installed", HINT)
    return folder()


def fetch() -> Path:
    """Fetch it, whole or not at all; harmless when it is there. Errors: EnvironmentMissing."""
    home = folder()
    with locked(home):
        if is_here():
            return home
        made = home.with_name(f"{home.name}.partial")
        shutil.rmtree(made, ignore_errors=True)
        options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-compile", "--only-binary=:all:"]
        what = ["--require-hashes", "--no-deps", "--target", str(made), "--requirement", str(LOCK)]
        done = processes.run([sys.executable, "-m", "pip", "install", *options, *what], timeout_s=TIMEOUT_S)
        if done.returncode:
            last = " ".join(done.stderr.strip().splitlines()[-1:])
            raise EnvironmentMissing(f"pip could not fetch Ray {RAY}: {last}", f"check the network, then: {HINT}")
        (made / COMPLETE).touch()
        shutil.rmtree(home, ignore_errors=True)
        made.rename(home)
    return home
