"""What makes tests that do not measure cheap and indifferent to each other, so that they run side by side."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pluggy import HookimplMarker

from rowpath.execution import measured
from rowpath.machine import cpus, jvm

if TYPE_CHECKING:
    import pytest

CONFORMANCE = "tests/conformance/"  # in ids of tests
APART = "pytestmark = pytest.mark.apart\n"
TOUCHED_FIRST = "-XX:+AlwaysPreTouch"
QUICK_COMPILER = "-XX:TieredStopAtLevel=1"
hookimpl = HookimplMarker("pytest")  # pytest itself would be imported by every command of a test


@hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of one engine instance, or of one file, go to one worker; those of a file marked `apart` to any."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file, _, rest = nodeid.partition("::")
            if not file.startswith(CONFORMANCE):
                return nodeid if _apart(config.rootpath / file) else file
            name = rest.partition("[")[2]
            while name and name not in _instances():
                name = name.rpartition("-")[0]
            return _instances().get(name, file)

    return Scheduling(config, log)


@functools.cache
def _apart(file: Path) -> bool:
    """Whether the tests of a file share nothing; only workers know marks, so the line is read."""
    return APART in file.read_text(encoding="utf-8")


@functools.cache
def _instances() -> dict[str, str]:
    """The engine instance of each path of the conformance suite, by its name."""
    from rowpath.planning.plan import key_of
    from tests.conformance.selection import project_paths

    return {path.name: "_".join(key_of(path.path)) for path in project_paths()}


def take_cores_from(number: int) -> None:
    """Servers and runners are pinned to the last core: count the cores from another one for each number."""
    usable = cpus.usable()
    first = number % len(usable)
    rotated = usable[first:] + usable[:first]
    cpus.usable = lambda: rotated  # type: ignore[assignment]


def start_jvms_quickly() -> None:
    """Halve the CPU of short-lived JVMs: they touch no memory in advance and compile once."""
    kept = tuple(option for option in jvm.OPTIONS if option != TOUCHED_FIRST)
    jvm.OPTIONS = (*kept, QUICK_COMPILER)


def take_every_block_as_undisturbed() -> None:
    """The noise of other tests is not what is tested."""
    measured.ACCOUNTED_LEAST = -1.0
    measured.WAIT_MOST = measured.FOREIGN_MOST = math.inf
