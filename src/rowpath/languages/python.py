"""Python: the drivers' own virtual environment, apart from the controller's, and how to start the runner in it."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.util
import logging
import platform
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path as FilePath

from rowpath import launch
from rowpath.engines.base import Availability
from rowpath.errors import EnvironmentMissing, TimedOut, UsageError
from rowpath.languages import Adapter, Command, is_external, source_file
from rowpath.model import Path
from rowpath.places import build_dir, data_dir

PIP_TIMEOUT_S = 300
REMEDY = "apt-get install python3-venv python3-pip"
COMPLETE = "complete"  # written last: an environment without it was interrupted and is made anew

log = logging.getLogger("rowpath")


def _source() -> FilePath:
    return data_dir() / "runners" / "python"


def _lock() -> FilePath:
    return _source() / "requirements.lock"


@functools.cache
def _locked() -> dict[str, str]:
    """Each locked package's requirement with its checksums, by name."""
    text = re.sub(r"^#.*\n", "", _lock().read_text(), flags=re.MULTILINE)
    entries = re.split(r"\n(?=\S)", text.strip())
    return {entry.partition("==")[0]: entry for entry in entries}


def _locked_version(requirement: str) -> str:
    name = requirement.partition("[")[0]
    entry = _locked().get(name, "")
    found = re.match(r"[^=]+==([^\s;]+)", entry)
    return found.group(1) if found else ""


def _own(adapter: Adapter, version: str) -> str:
    """The requirement of an environment of its own: a version other than the locked one; empty for the shared one."""
    requirement = str(adapter.build.get("requirement", ""))
    if not requirement:
        if version not in adapter.versions:
            raise UsageError(
                f"{adapter.driver} has no version {version!r}: it comes with Python",
                f"version={adapter.versions[0]}",
            )
        return ""
    return "" if version == _locked_version(requirement) else f"{requirement}=={version}"


def _environment(adapter: Adapter, version: str) -> FilePath:
    """Where the environment is: named by everything that makes it what it is."""
    made_of = [_lock().read_bytes(), sys.version.encode(), sys.base_prefix.encode(), _own(adapter, version).encode()]
    name = hashlib.sha256(b"\0".join(made_of)).hexdigest()[:16]
    return build_dir("python") / f"environment-{name}"


def _program(environment: FilePath) -> FilePath:
    return environment / "bin" / "python"


def interpreter(adapter: Adapter, version: str) -> FilePath | None:
    """The Python that has the driver; None until its environment is made."""
    environment = _environment(adapter, version)
    return _program(environment) if (environment / COMPLETE).is_file() else None


def availability(adapter: Adapter, version: str, path: Path | None = None) -> Availability:
    """Whether the driver's environment is there or can be made; makes nothing."""
    what = f"{adapter.driver} {version} (Python {platform.python_version()})"
    if (_environment(adapter, version) / COMPLETE).is_file():
        return Availability(True, what)
    if _has("venv") and (_has("pip") or _has("ensurepip")):
        return Availability(True, what)
    return Availability(False, what, "this Python has no venv or no pip to make the drivers' environment with", REMEDY)


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[Path] = ()) -> None:
    """Make the environments that these adapters need; silent when they are there. EnvironmentMissing when pip fails."""
    for adapter, version in adapters:
        environment = _environment(adapter, version)
        if (environment / COMPLETE).is_file():
            continue
        build_dir("python").mkdir(parents=True, exist_ok=True)
        with (build_dir("python") / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (environment / COMPLETE).is_file():
                _make(environment, _own(adapter, version))


def _make(environment: FilePath, own: str) -> None:
    import venv  # here, for it is needed once and slow to load

    log.info("making the Python drivers' environment (%s)", own or "the locked drivers")
    shutil.rmtree(environment, ignore_errors=True)
    shared_pip = _has("pip")
    if not shared_pip and not _has("ensurepip"):
        raise EnvironmentMissing("this Python has no pip to fetch the drivers with", REMEDY)
    venv.EnvBuilder(symlinks=True, with_pip=not shared_pip).create(environment)
    pip = [sys.executable, "-m", "pip", "--python", str(_program(environment))]
    if not shared_pip:
        pip = [str(_program(environment)), "-m", "pip"]
    checked = ["--require-hashes", "--no-deps", "-r"]
    if own:
        core = environment / "core.lock"
        core.write_text(_locked()["xxhash"] + "\n")
        _install(pip, [*checked, str(core)])
        _install(pip, [own])
    else:
        _install(pip, [*checked, str(_lock())])
    (environment / COMPLETE).touch()


def _install(pip: list[str], what: list[str]) -> None:
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"]
    try:
        done = launch.run([*pip, "install", *options, *what], timeout_s=PIP_TIMEOUT_S)
    except TimedOut as error:
        raise EnvironmentMissing(
            f"pip did not fetch {what[-1]} within {PIP_TIMEOUT_S} s", "check the network, then run it again"
        ) from error
    if done.returncode:
        last = " ".join(done.stderr.strip().splitlines()[-2:])
        hint = "check that this version exists, and the network" if "==" in what[-1] else "check the network"
        raise EnvironmentMissing(f"pip could not install {what[-1]}: {last}", f"{hint}, then run it again")


def command(adapter: Adapter, version: str, path: Path) -> Command:
    """How to start the runner: this path's interpreter, our source, and nothing of the user's own Python settings."""
    source = ("--source", str(source_file(adapter))) if is_external(adapter) else ()
    program = str(_program(_environment(adapter, version)))
    return Command(
        arguments=(program, "-m", "rowpath_runner", *source, "--adapter", adapter.driver),
        environment={
            "PYTHONPATH": str(_source()),
            "PYTHONSAFEPATH": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTHONUTF8": "1",
            "PYTHONPYCACHEPREFIX": str(build_dir("python") / "pycache"),
        },
    )
