"""Experiments: TOML files → typed definitions; every mistake is named with its line and the nearest right key."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import msgspec

from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.model.claims import states
from rowpath.model.experiment import SCHEMA_VERSION, Experiment
from rowpath.planning.mixed_load import validate
from rowpath.toml_file import Location, decode_file, key_lines, line_of, nearest


def names() -> list[str]:
    """The experiments that come with Rowpath."""
    return sorted(file.stem for file in (data_dir() / "experiments").glob("*.toml"))


def load_experiment(name_or_file: str) -> Experiment:
    """An experiment by name, or from a file when the argument has a slash or ends in `.toml`; UsageError otherwise."""
    if "/" in name_or_file or name_or_file.endswith(".toml"):
        return read_experiment(Path(name_or_file))
    if name_or_file not in names():
        near = nearest(name_or_file, names())
        raise UsageError(
            f"there is no experiment '{name_or_file}'",
            f"did you mean '{near}'? rowpath run {near}" if near else "rowpath list experiments",
        )
    return read_experiment(data_dir() / "experiments" / f"{name_or_file}.toml")


def read_experiment(file: Path) -> Experiment:
    """Read one file; UsageError with file, line and the nearest right key for every mistake."""
    experiment: Experiment = decode_file(file, Experiment)
    if experiment.schema_version != SCHEMA_VERSION:
        raise UsageError(
            f"{file}: schema_version {experiment.schema_version} is not {SCHEMA_VERSION}, the one this Rowpath reads",
            "write schema_version = 1",
        )
    here = file.absolute().parent
    found = tuple(str(here / name) for name in experiment.workload_files)
    experiment = msgspec.structs.replace(experiment, workload_files=found)
    _check_names(file, experiment)
    return experiment


def _check_names(file: Path, experiment: Experiment) -> None:
    """Coordinates and phases that do not exist, each with its line."""
    from rowpath.planning.plan import workloads_of
    from rowpath.planning.selection import check_coordinates

    lines = key_lines(file.read_text(encoding="utf-8"))
    places: list[tuple[Location, Callable[[], object]]] = [(("phases",), lambda: workloads_of(experiment))]
    for position, selection in enumerate(experiment.paths):
        wanted = {key: (value,) if isinstance(value, str) else value for key, value in selection.select.items()}
        places.append((("paths", position, "select"), functools.partial(check_coordinates, wanted)))
    for location, check in places:
        try:
            check()
        except UsageError as error:
            raise _placed(file, lines, location, error) from error
    for position, relation in enumerate(experiment.consistency):
        try:
            states(experiment.published, relation)
        except ValueError as error:
            hint = "name a column and a row of [[published]]"
            raise _placed(file, lines, ("consistency", position), UsageError(str(error), hint)) from error
    for location, mistake in validate.mistakes(
        experiment, workloads_of(experiment) if experiment.client_groups else {}
    ):
        raise _placed(file, lines, location, mistake)


def _placed(file: Path, lines: dict[Location, int], location: Location, error: UsageError) -> UsageError:
    line = line_of(lines, location)
    return UsageError(f"{file}:{line}: {error.message}" if line else error.message, error.hint)
