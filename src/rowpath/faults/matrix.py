"""A matrix of faults: which cells there are, measured beside each other, each written down when it ends."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.faults.bench import FILE as WORKLOAD_FILE
from rowpath.faults.bench import WORKLOAD, Bench
from rowpath.faults.cells import measured
from rowpath.faults.kinds import FAULTS
from rowpath.machine import jobs, processes
from rowpath.model.fault import Cell, Fault, Work
from rowpath.model.path import AccessPath
from rowpath.planning.availability import ineligible_reason, pruned, unavailable
from rowpath.planning.plan import PlannedPath
from rowpath.planning.selection import lattice
from rowpath.runners.manifest import Adapter, every_adapter
from rowpath.toml_file import suggest
from rowpath.workloads.workload_file import load_workload

FILE = "faults.jsonl"
AT_ONCE = 64  # cells; most of them wait
TLS_FAULT = "12"
DEFAULT_ENGINE = "postgresql"

Filters = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Task:
    """A cell to measure."""

    planned: PlannedPath
    fault: Fault
    work: Work
    settings: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """As `Cell.key`."""
        return self.planned.path.id, self.fault.number, self.work, self.settings


@dataclass(frozen=True)
class Matrix:
    """The cells to measure, and the drivers that cannot be measured here, each with the reason."""

    tasks: tuple[Task, ...]
    left_out: tuple[str, ...]


def make_matrix(words: Sequence[str], filters: Filters, *, every: bool, faults: Sequence[str]) -> Matrix:
    """The cells of what the words name (engines, drivers, languages), as far as the filters fit; of a usual driver per
    language where both are empty.

    Errors: UsageError for a word, filters or a fault that name none.
    """
    _check(words)
    kinds = _kinds(faults)
    tasks, left_out = [], []
    for adapter in every_adapter():
        for engine in adapter.engines:
            if not _is_wanted(adapter, engine, words, filters, every):
                continue
            plain, reason = planned_path(adapter, engine)
            if plain is None:
                left_out += [reason] if reason else []
                continue
            encrypted, _reason = planned_path(adapter, engine, tls="on")
            for fault in kinds:
                path = encrypted if fault.number == TLS_FAULT and encrypted else plain
                fitting = [cure for cure in adapter.cures if engine in (cure.engines or adapter.engines)]
                cures = ["\n".join(cure.settings) for cure in fitting if fault.number in cure.faults]
                tasks += [Task(path, fault, work, settings) for settings in ("", *cures) for work in fault.works]
    if not tasks and not left_out:
        given = " ".join([*words, *(f"{key}={','.join(values)}" for key, values in filters.items())])
        raise UsageError(f"no driver of a server is {given}", "rowpath list drivers")
    return Matrix(tuple(tasks), tuple(left_out))


def _check(words: Sequence[str]) -> None:
    known = {name for adapter in every_adapter() for name in (adapter.driver, adapter.language, *adapter.engines)}
    if unknown := [word for word in words if word not in known]:
        raise UsageError(f"unknown driver '{unknown[0]}'", suggest(unknown[0], tuple(sorted(known))))


def _kinds(names: Sequence[str]) -> list[Fault]:
    kinds = [
        fault for fault in FAULTS if not names or {fault.number, fault.number.rstrip("abc"), fault.name} & {*names}
    ]
    known = {word for fault in kinds for word in (fault.number, fault.number.rstrip("abc"), fault.name)}
    if unknown := [name for name in names if name not in known]:
        numbers = ", ".join(f"{fault.number} {fault.name}" for fault in FAULTS)
        raise UsageError(f"unknown fault '{unknown[0]}'", f"one of {numbers}")
    return kinds


def _is_wanted(adapter: Adapter, engine: str, words: Sequence[str], filters: Filters, every: bool) -> bool:
    if "server" not in adapter.deployments or adapter.floor or engine not in ENGINES or engine == "null":
        return False
    if "server" not in ENGINES[engine].deployments:
        return False
    own = {"engine": engine, "driver": adapter.driver, "language": adapter.language}
    if words or filters:
        fits = all(own.get(key, "") in values for key, values in filters.items())
        return fits and (not words or not set(own.values()).isdisjoint(words))
    return every or (engine == DEFAULT_ENGINE and engine in adapter.usual)


def planned_path(adapter: Adapter, engine: str, tls: str = "off") -> tuple[PlannedPath | None, str]:
    """The adapter's path as shipped over TCP, with the phases it can run; else why there is none."""
    name = f"{adapter.language} {adapter.driver}" + (f" {engine}" if len(adapter.engines) > 1 else "")
    wanted: dict[str, tuple[str, ...]] = {
        "engine": (engine,),
        "deployment": ("server",),
        "transport": ("tcp",),
        "profile": ("shipped",),
    }
    if tls != "off":  # not every version of a driver was built with it
        wanted |= {"tls": (tls,), "version": ("*",)}
    paths = [path for path in lattice(adapter, wanted) if not pruned(adapter, path)]
    if not paths:
        return None, ""
    path: AccessPath = paths[0]
    if (why := unavailable(adapter, path))[0]:
        return None, f"{name}: {why[0]}; {why[1]}"
    workload = load_workload(WORKLOAD_FILE)
    named = {f"{WORKLOAD}.{phase.name}": phase for phase in workload.phases}
    phases = tuple(one for one, phase in named.items() if not ineligible_reason(adapter, path, one, phase))
    return PlannedPath(path, adapter, phases, name), ""


class Journal:
    """The cells of a directory, one JSON line each, written as they end."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / FILE
        self._lock = threading.Lock()

    def cells(self) -> list[Cell]:
        """Those that are there; a line that was cut is none, and the last one of a cell counts."""
        cells: dict[tuple[str, ...], Cell] = {}
        for line in self._file.read_bytes().splitlines() if self._file.is_file() else ():
            try:
                cell = msgspec.json.decode(line, type=Cell)
            except msgspec.MsgspecError:
                continue
            cells[cell.key] = cell
        return list(cells.values())

    def write(self, cell: Cell) -> None:
        """Append one."""
        line = msgspec.json.encode(cell) + b"\n"
        with self._lock, self._file.open("ab") as stream:
            stream.write(line)


def measure(matrix: Matrix, directory: Path, work: Path, done: Callable[[Cell], None]) -> list[Cell]:
    """Measure every cell that the directory does not have yet; all of them, in the order of the matrix.

    `work`: an existing directory that a server's user can enter. Errors: RowpathError.
    """
    journal = Journal(directory)
    known = {cell.key for cell in journal.cells()}
    bench = Bench(work)

    def job(task: Task) -> Callable[[], None]:
        def carry_out() -> None:
            cell = measured(bench, task.planned, task.fault, task.work, task.settings)
            jobs.check()  # what an interruption has broken is no cell
            journal.write(cell)
            done(cell)

        return carry_out

    left = [task for task in matrix.tasks if task.key not in known]
    # What waits longest begins first; the rest in one order for everybody, mixed so that waiting cells overlap.
    left.sort(key=lambda task: (-task.fault.watch_s, random.Random(str(task.key)).random()))
    try:
        processes.side_by_side([job(task) for task in left], AT_ONCE)
    finally:
        bench.stop()
    return in_order(matrix.tasks, journal.cells())


def in_order(tasks: Iterable[Task], cells: Iterable[Cell]) -> list[Cell]:
    """The cells in the order of the tasks."""
    by_key = {cell.key: cell for cell in cells}
    return [by_key[task.key] for task in tasks if task.key in by_key]
