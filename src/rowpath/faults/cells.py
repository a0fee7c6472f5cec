"""Which trial measures a cell of a fault."""

from __future__ import annotations

from rowpath.faults.bench import Bench
from rowpath.faults.broken import Broken, HalfOpen, IdleDropped, Restarted
from rowpath.faults.openings import BrokenHandshake, DeadAddress, DeadHost, Full
from rowpath.faults.results import Memory, ServerError
from rowpath.faults.stopped import Stopped
from rowpath.faults.trial import Trial
from rowpath.model.fault import Cell, Fault, Work
from rowpath.planning.plan import PlannedPath

TRIALS: dict[str, type[Trial]] = {
    "1": Restarted,
    "2": Restarted,
    "5": HalfOpen,
    "8": ServerError,
    "9a": Stopped,
    "9b": Stopped,
    "10": Full,
    "11a": DeadAddress,
    "11b": DeadHost,
    "12": BrokenHandshake,
    "13": IdleDropped,
    "14": Memory,
}


def measured(bench: Bench, planned: PlannedPath, fault: Fault, work: Work, settings: str = "") -> Cell:
    """The cell. `settings`: the driver's own, as in `Cell`."""
    trial = TRIALS.get(fault.number, Broken)(bench, planned, fault, work, settings)
    with bench.turn(trial.role, planned):
        return trial.measured()
