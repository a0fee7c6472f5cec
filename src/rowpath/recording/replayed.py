"""A run from a tape: its experiment, its paths, and whether its rows are still those of this Rowpath."""

from __future__ import annotations

from pathlib import Path

import msgspec

from rowpath.engines import ENGINES, taped
from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment, Selection
from rowpath.model.workload import PhaseName, phase_of
from rowpath.planning.experiment_file import ExperimentFile, load_experiment
from rowpath.runners.protocol import VERIFIED_ROWS
from rowpath.tape.format import Header, Tape, read
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import all_at_scale

Filters = dict[str, tuple[str, ...]]


def replayed(file: Path, name: str | None, filters: Filters) -> tuple[ExperimentFile, Filters]:
    """The experiment of a run from that tape, which stands in for its engine from now on, and the filters to use.

    `name`: an experiment whose paths are replayed instead of the recorded ones. Errors: UsageError.
    """
    tape = read(file)
    experiment = tape.header.experiment
    if experiment is None:
        raise UsageError(f"the tape {file} holds no experiment", f"rowpath replay {file} -- COMMAND")
    _check_rows(tape)
    given = dict(filters)
    engine = given.pop("engine", (tape.header.engine,))
    if not set(engine) <= {"tape", tape.header.engine}:
        raise UsageError(f"the tape {file} is of {tape.header.engine}, not of {', '.join(engine)}", "engine=tape")
    given["engine"] = (tape.header.engine,)
    given.setdefault("engine_version", (taped.VERSION,))
    paths = _named(tape.header, name, experiment) if name else experiment.paths
    taped.put_in(tape)
    # A path for each requested driver, recorded or not: the tape says what it lacks.
    known = {driver for selection in paths for driver in selection.wanted.get("driver", ())}
    select: dict[str, str | tuple[str, ...]] = {"engine": tape.header.engine, "language": given.get("language", ("*",))}
    paths += tuple(
        Selection(select=select | {"driver": driver, "deployment": "server"})
        for driver in given.get("driver", ())
        if driver not in known
    )
    experiment = msgspec.structs.replace(experiment, paths=paths)
    return ExperimentFile(experiment, dict(tape.header.workloads)), given


def _named(header: Header, name: str, recorded: Experiment) -> tuple[Selection, ...]:
    """The paths of another experiment of the same phases. Errors: UsageError."""
    file = load_experiment(name)
    workloads = all_at_scale(file.workloads, file.experiment.scale)
    for phase in recorded.phases:
        workload = PhaseName.of(phase).workload
        if phase not in file.experiment.phases or workloads[workload] != header.workloads[workload]:
            raise UsageError(f"the tape holds {phase}, which is not in {name} as it was recorded", "leave out NAME")
    selections = []
    for selection in file.experiment.paths:
        engine = selection.wanted.get("engine", ("*",))
        kept = tuple(phase for phase in selection.phases if phase in recorded.phases)
        if (header.engine in engine or engine == ("*",)) and (kept or not selection.phases):
            select = {key: value for key, value in selection.select.items() if key != "engine_version"}
            select |= {"engine": header.engine}
            selections.append(msgspec.structs.replace(selection, select=select, phases=kept, name=""))
    if not selections:
        raise UsageError(f"{name} has no path of {header.engine}", "leave out NAME")
    return tuple(selections)


def _check_rows(tape: Tape) -> None:
    """UsageError where the rows that this Rowpath expects are not those on the tape."""
    header = tape.header
    supports = ENGINES[header.engine].supports
    recorded = {name: digest for path in header.paths for name, digest in path.digests.items() if digest}
    for name, digest in recorded.items():
        workload = header.workloads.get(PhaseName.of(name).workload)
        if workload is None:
            raise UsageError(f"the tape {tape.file} lacks the workload of {name}", "record it again")
        phase = phase_of(dict(header.workloads), name)
        count = phase.parameters.count if phase.parameters else 1
        if Expected(workload, supports).verify_digest(phase, 0, count, VERIFIED_ROWS) != digest:
            what = f"the rows of {name} on {tape.file} differ from those that this Rowpath generates"
            raise UsageError(what, "record it again")
