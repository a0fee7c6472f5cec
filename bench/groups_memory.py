"""What readers and writers at work for ten minutes make the runners and the controller hold in memory.

Every kind of resident memory, second by second from the run's own journal. HotSpot keeps the most monitors that it ever
had, and Derby makes it allocate one for every operation (docs/limitations.md): so its path is measured as it ships,
without a bar, and once more with a JVM that gives monitors back early, which tells what of the growth is theirs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from bench.figure import Figure
from rowpath.analysis.client_groups import StageRun, stage_runs
from rowpath.analysis.rankings import paths_to_repeat
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.plan import plan_for
from rowpath.errors import RowpathError, UsageError
from rowpath.execution.run import run_plan
from rowpath.execution.run_options import RunOptions
from rowpath.journal import reader
from rowpath.journal.mixed_load_records import ProcessSecond
from rowpath.machine import jvm
from rowpath.model.progress import Silent
from rowpath.planning.overrides import Overrides

EXPERIMENT = str(Path(__file__).with_suffix(".toml"))
SECONDS = 600.0
SHORTER = "ROWPATH_BENCH_SECONDS"  # the length of the stage instead
MINUTES = (1, 3, 5, 10)
MIB = 1 << 20
BAR_MIB, BAR_SHARE = 1.0, 0.01  # of growth in the second half: the larger of the two
KINDS = ("anonymous", "of files", "shared")
MONITORS = "Derby embedded, Java"
GIVEN_BACK = ("-XX:+UnlockDiagnosticVMOptions", "-XX:MonitorUsedDeflationThreshold=10")
TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Held:
    """What a process had resident in a stage."""

    at_s: NDArray[np.float64]  # since the stage began
    bytes_: NDArray[np.float64]  # (seconds, KINDS)

    def at_minute(self, minute: float) -> float:
        """Bytes at the last look until then."""
        return float(self.bytes_[max(0, int(np.searchsorted(self.at_s, minute * 60 + 0.5)) - 1)].sum())

    def growth(self) -> NDArray[np.float64]:
        """Bytes of each kind a second: straight lines through the second half (least squares)."""
        late = self.at_s >= self.at_s[-1] / 2
        return np.asarray(np.polyfit(self.at_s[late], self.bytes_[late], 1)[0])


def measure(bench: Bench) -> Iterator[Figure]:
    """A figure for each process of each path, then for Derby's client with monitors given back."""
    seconds = stage_s()
    yield from figures(run(bench.directory / "as-it-ships", seconds, {}), "")
    with mock.patch.object(jvm, "OPTIONS", (*jvm.OPTIONS, *GIVEN_BACK)):
        directory = run(bench.directory / "given-back", seconds, {"engine": ("derby",)})
    yield from figures(directory, ", monitors given back")


def stage_s() -> float:
    """How long the groups are at work. UsageError when the environment says nonsense."""
    text = os.environ.get(SHORTER, "") or str(SECONDS)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 10 <= seconds <= SECONDS:
        raise UsageError(f"{SHORTER}={text} is no number from 10 to {SECONDS:g}", f"unset {SHORTER}")
    return seconds


def run(directory: Path, seconds: float, filters: dict[str, tuple[str, ...]], experiment: str = EXPERIMENT) -> Path:
    """The experiment, every stage so long; where its journal is."""
    plan = plan_for(experiment, filters, Overrides(seconds=seconds))
    run_plan(
        plan, RunOptions(timeout_s=TIMEOUT_S), directory=directory, progress=Silent(), paths_to_repeat=paths_to_repeat
    )
    return directory


def figures(directory: Path, how: str) -> Iterator[Figure]:
    """Those of a run directory. RowpathError where a path was not measured to its end."""
    journal = reader.read(directory)
    runs = {one.record.path_id: one for one in stage_runs(journal)}
    for path_id, path in journal.paths.items():
        if path_id not in runs or len(runs[path_id].seconds) < runs[path_id].record.seconds / 2:
            raise RowpathError(f"{path.name} was not at work for its time: {directory}")
        for process, held in held_by(runs[path_id]).items():
            barred = process != "client" or path.name != MONITORS or bool(how)
            yield figure(f"{path.name}{how}: {process}", held, runs[path_id], barred)


def held_by(run: StageRun) -> dict[str, Held]:
    """What each process had resident, by its name; seconds in which it was not there are left out."""
    by_process: dict[str, list[tuple[float, ProcessSecond]]] = {}
    for second in run.seconds:
        for name, process in second.processes.items():
            by_process.setdefault(name, []).append(((second.at_ns - run.record.at_ns) / 1e9, process))
    return {
        name: Held(
            np.array([at_s for at_s, _process in seconds]),
            np.array([[one.memory_bytes or 0, one.file_bytes or 0, one.shared_bytes or 0] for _at_s, one in seconds]),
        )
        for name, seconds in by_process.items()
    }


def figure(name: str, held: Held, run: StageRun, barred: bool) -> Figure:
    """Met when the process no longer grows; not asked of a stage that was shorter than the bar's."""
    minutes = [float(minute) for minute in MINUTES if minute * 60 <= run.record.seconds] or [run.record.seconds / 60]
    last, growth = held.bytes_[-1], held.growth()
    grown_mib = float(growth.sum()) * run.record.seconds / 2 / MIB
    bar_mib = max(BAR_MIB, BAR_SHARE * float(last.sum()) / MIB)
    value = (
        f"{', '.join(f'{held.at_minute(minute) / MIB:.1f}' for minute in minutes)} MiB after"
        f" {', '.join(f'{minute:g}' for minute in minutes)} min, in the end {of_kinds(last / MIB, '.1f')};"
        f" second half {growth.sum() * 60 / MIB:+.3f} MiB/min ({of_kinds(growth * 60 / MIB, '+.3f')});"
        f" {run.operations / held.at_s[-1]:,.0f} operations/s"
    )
    if not barred:
        return Figure(f"memory, {name}", value, "none: HotSpot's monitors", None)
    bar = f"grows by at most {bar_mib:.1f} MiB in the second half of {SECONDS / 60:g} min"
    return Figure(f"memory, {name}", value, bar, grown_mib <= bar_mib if run.record.seconds >= SECONDS else None)


def of_kinds(values: NDArray[np.float64], form: str) -> str:
    """Each with its kind."""
    rounded = (float(value) + 0.0 for value in values.round(3))  # no negative zero
    return ", ".join(f"{value:{form}} {kind}" for value, kind in zip(rounded, KINDS, strict=True))
