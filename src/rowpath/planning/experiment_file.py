"""Experiments: TOML files → typed definitions; every mistake is named with its line and the nearest right key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.model.claims import states
from rowpath.model.experiment import SCHEMA_VERSION, Experiment
from rowpath.model.workload import PhaseName, Workload
from rowpath.planning.mixed_load import validate
from rowpath.planning.selection import check_coordinates
from rowpath.toml_file import Location, decode_with_text, line_of, nearest, suggest
from rowpath.workloads.workload_file import all_at_scale, load_workload


class ExperimentFile(NamedTuple):
    """An experiment and the workloads that its phases name, by name, at the scale of their files."""

    experiment: Experiment
    workloads: dict[str, Workload]


def names() -> list[str]:
    """The experiments that come with Rowpath."""
    return sorted(file.stem for file in (data_dir() / "experiments").glob("*.toml"))


def load_experiment(name_or_file: str) -> ExperimentFile:
    """An experiment by name, or from a file when the argument has a slash or ends in `.toml`; UsageError otherwise."""
    if "/" in name_or_file or name_or_file.endswith(".toml"):
        return read_experiment(Path(name_or_file))
    if name_or_file not in names():
        near = nearest(name_or_file, names())
        raise UsageError(
            f"unknown experiment '{name_or_file}'",
            f"did you mean '{near}'? rowpath run {near}" if near else "rowpath list experiments",
        )
    return read_experiment(data_dir() / "experiments" / f"{name_or_file}.toml")


def read_experiment(file: Path) -> ExperimentFile:
    """Read one file; UsageError with file, line and the nearest right key for every mistake."""
    experiment, text = decode_with_text(file, Experiment)
    if experiment.schema_version != SCHEMA_VERSION:
        raise UsageError(
            f"{file}: unknown schema_version {experiment.schema_version}: expected {SCHEMA_VERSION}",
            "write schema_version = 1",
        )
    here = file.absolute().parent
    found = tuple(str(here / name) for name in experiment.workload_files)
    experiment = msgspec.structs.replace(experiment, workload_files=found)
    return ExperimentFile(experiment, _checked(file, text, experiment))


def load_workloads(experiment: Experiment) -> dict[str, Workload]:
    """The workloads that the experiment's phases name; UsageError for a phase that does not exist."""
    loaded = {workload.name: workload for workload in map(load_workload, experiment.workload_files)}
    for name in experiment.phases:
        workload, phase = PhaseName.of(name)
        if "." not in name:
            raise UsageError(f"'{name}' is not WORKLOAD.PHASE", "for example: scan.read (rowpath list workloads)")
        if workload not in loaded:
            loaded[workload] = load_workload(workload)
        if all(known.name != phase for known in loaded[workload].phases):
            right = tuple(f"{workload}.{known.name}" for known in loaded[workload].phases)
            raise UsageError(f"workload '{workload}' has no phase '{phase}'", suggest(name, right))
    return loaded


def _checked(file: Path, text: str, experiment: Experiment) -> dict[str, Workload]:
    """The workloads; UsageError for phases, coordinates, claims and client groups that cannot be, with its line."""

    @contextmanager
    def located(*location: str | int) -> Iterator[None]:
        try:
            yield
        except UsageError as error:
            raise _placed(file, text, location, error) from error

    with located("phases"):
        workloads = load_workloads(experiment)
    with located("scale"):
        all_at_scale(workloads, experiment.scale)
    for position, selection in enumerate(experiment.paths):
        with located("paths", position, "select"):
            check_coordinates(selection.wanted)
    for position, relation in enumerate(experiment.consistency):
        with located("consistency", position):
            try:
                states(experiment.published, relation)
            except ValueError as error:
                raise UsageError(str(error), "name a column and a row of [[published]]") from error
    for location, mistake in validate.mistakes(experiment, workloads):
        raise _placed(file, text, location, mistake)
    return workloads


def _placed(file: Path, text: str, location: Location, error: UsageError) -> UsageError:
    line = line_of(text, location)
    return UsageError(f"{file}:{line}: {error.message}" if line else error.message, error.hint)
