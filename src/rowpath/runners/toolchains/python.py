"""Python: the drivers' own virtual environment, apart from the controller's, and how to start the runner in it."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.util
import json
import logging
import platform
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rowpath.errors import EnvironmentMissing, TimedOut, UsageError
from rowpath.machine import processes
from rowpath.machine.directories import build_dir, data_dir
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.runners.driver_package import NOT_FETCHED, Facts
from rowpath.runners.manifest import Adapter, Command, is_external, source_file
from rowpath.runners.toolchains import python_compiled

PIP_TIMEOUT_S = 300
REMEDY = "apt-get install python3-venv python3-pip"
COMPLETE = "complete"  # written last: an environment without it was interrupted and is made again
FAILED = "failed"  # instead of it: why a driver could not be compiled

log = logging.getLogger("rowpath")
METADATA_SCRIPT = Path(__file__).parents[1] / "driver_metadata_script.py"


def _source() -> Path:
    return data_dir() / "runners" / "python"


def _lock(adapter: Adapter | None = None) -> Path:
    return _source() / (
        python_compiled.LOCK if adapter and python_compiled.is_compiled(adapter) else "requirements.lock"
    )


@functools.cache
def _locked(lock: Path) -> dict[str, str]:
    """Each locked package's requirement with its checksums, by name."""
    text = re.sub(r"^#.*\n", "", lock.read_text(), flags=re.MULTILINE)
    entries = re.split(r"\n(?=\S)", text.strip())
    return {entry.partition("==")[0]: entry for entry in entries}


def _locked_version(adapter: Adapter, requirement: str) -> str:
    entry = _locked(_lock(adapter)).get(requirement.partition("[")[0], "")
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
    return "" if version == _locked_version(adapter, requirement) else f"{requirement}=={version}"


def _environment(adapter: Adapter, version: str) -> Path:
    """Where the environment is: named by everything that makes it what it is."""
    own = adapter.driver if python_compiled.is_compiled(adapter) else ""
    own += _own(adapter, version)
    made_of = [_lock(adapter).read_bytes(), sys.version.encode(), sys.base_prefix.encode(), own.encode()]
    name = hashlib.sha256(b"\0".join(made_of)).hexdigest()[:16]
    return build_dir("python") / f"environment-{name}"


def _program(environment: Path) -> Path:
    return environment / "bin" / "python"


def interpreter(adapter: Adapter, version: str) -> Path | None:
    """The Python that has the driver; None until its environment is made."""
    environment = _environment(adapter, version)
    return _program(environment) if (environment / COMPLETE).is_file() else None


def availability(adapter: Adapter, version: str, path: AccessPath | None = None) -> Availability:
    """Whether the driver's environment is there or can be made; makes nothing."""
    what = f"{adapter.driver} {version} (Python {platform.python_version()})"
    if (_environment(adapter, version) / COMPLETE).is_file():
        return Availability(True, what)
    if python_compiled.is_compiled(adapter):
        if (failed := _environment(adapter, version) / FAILED).is_file():
            return Availability(False, what, failed.read_text(), f"fix it, then rm -r {failed.parent}")
        if lacking := python_compiled.missing(adapter):
            return Availability(False, what, lacking, python_compiled.REMEDY)
    if _has("venv") and (_has("pip") or _has("ensurepip")):
        return Availability(True, what)
    return Availability(False, what, "this Python has no venv or no pip for the drivers' environment", REMEDY)


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def build(adapters: list[tuple[Adapter, str]], paths: Iterable[AccessPath] = ()) -> None:
    """Make the environments that these adapters need; silent when they are there. EnvironmentMissing when pip fails.

    A driver that cannot be compiled stops no other: a warning names it, and `command` refuses it.
    """
    for adapter, version in adapters:
        environment = _environment(adapter, version)
        if (environment / COMPLETE).is_file():
            continue
        build_dir("python").mkdir(parents=True, exist_ok=True)
        with (build_dir("python") / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (environment / COMPLETE).is_file():
                _make(environment, adapter, version)


def _make(environment: Path, adapter: Adapter, version: str) -> None:
    import venv  # here, for it is needed once and slow to load

    own, compiled = _own(adapter, version), python_compiled.is_compiled(adapter)
    what = own or (f"{adapter.driver}, compiled here" if compiled else "the locked drivers")
    log.info("making the Python drivers' environment (%s)", what)
    shutil.rmtree(environment, ignore_errors=True)
    shared_pip = _has("pip")
    if not shared_pip and not _has("ensurepip"):
        raise EnvironmentMissing("this Python has no pip to fetch the drivers", REMEDY)
    venv.EnvBuilder(symlinks=True, with_pip=not shared_pip).create(environment)
    pip = [sys.executable, "-m", "pip", "--python", str(_program(environment))]
    if not shared_pip:
        pip = [str(_program(environment)), "-m", "pip"]
    checked = ["--require-hashes", "--no-deps", "-r"]
    if own or compiled:
        tools = [_locked(_lock(adapter))[name] for name in adapter.build.get("tools", ())]
        _install(pip, [*checked, _written(environment / "core.lock", [_locked(_lock())["xxhash"], *tools])])
    if compiled:
        pinned = _locked(_lock(adapter))[str(adapter.build["requirement"])]
        driver = [own] if own else [*checked, _written(environment / "driver.lock", [pinned])]
        try:
            # pip keeps what it compiled only by the source: another library's build would be taken for this one's.
            _install(pip, ["--no-build-isolation", "--no-cache-dir", *driver], ":none:", python_compiled.flags(adapter))
        except EnvironmentMissing as error:
            log.warning("skipped %s: %s", adapter.driver, error.message)
            (environment / FAILED).write_text(error.message)
            return
    else:
        _install(pip, [own] if own else [*checked, str(_lock())])
    (environment / COMPLETE).touch()


def _written(file: Path, entries: list[str]) -> str:
    file.write_text("\n".join(entries) + "\n")
    return str(file)


def _install(
    pip: list[str], what: list[str], wheels: str = ":all:", environment: Mapping[str, str] | None = None
) -> None:
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", wheels]
    try:
        done = processes.run([*pip, "install", *options, *what], timeout_s=PIP_TIMEOUT_S, environment=environment or {})
    except TimedOut as error:
        raise EnvironmentMissing(
            f"pip did not fetch {what[-1]} within {PIP_TIMEOUT_S} s", "check the network, then run it again"
        ) from error
    if done.returncode:
        last = " ".join(done.stderr.strip().splitlines()[-2:])
        hint = "check that this version exists, and the network" if "==" in what[-1] else "check the network"
        raise EnvironmentMissing(f"pip could not install {what[-1]}: {last}", f"{hint}, then run it again")


def command(adapter: Adapter, version: str, path: AccessPath) -> Command:
    """How to start the runner: this path's interpreter, our source, and nothing of the user's own Python settings.

    EnvironmentMissing for a driver that could not be compiled.
    """
    if (failed := _environment(adapter, version) / FAILED).is_file():
        raise EnvironmentMissing(failed.read_text(), f"fix it, then rm -r {failed.parent}")
    source = ("--source", str(source_file(adapter))) if is_external(adapter) else ()
    program = str(_program(_environment(adapter, version)))
    return Command(
        arguments=(program, "-m", "core", *source, "--adapter", adapter.driver),
        environment={
            "PYTHONPATH": str(_source()),
            "PYTHONSAFEPATH": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTHONUTF8": "1",
            "PYTHONPYCACHEPREFIX": str(build_dir("python") / "pycache"),
        },
    )


def driver_facts(adapter: Adapter, version: str) -> Facts:
    """What the distribution's metadata has."""
    program = interpreter(adapter, version)
    if program is None:
        return Facts(reason=NOT_FETCHED)
    wanted = str(adapter.build.get("requirement", "")) or Path(adapter.source).stem
    done = processes.run([program, "-I", METADATA_SCRIPT, wanted], timeout_s=60)
    if done.returncode:
        return Facts(reason=f"cannot read its metadata: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return Facts(**(found | {"dependencies": tuple(found["dependencies"])}))
