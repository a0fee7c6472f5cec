"""Experiments: TOML files → typed definitions; every mistake is named with its line and the nearest right key."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any, Literal

import msgspec

from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.model.claims import Claim, PublishedColumn
from rowpath.model.consistency import Consistency, states
from rowpath.model.mixed_load import GroupTable, MoveTable, RateSweepTable, StretchTable
from rowpath.model.workload import Frozen, Regime
from rowpath.planning.mixed_load import validate
from rowpath.toml_file import Location, key_lines, line_of, nearest

SCHEMA_VERSION = 1


class Measure(Frozen, frozen=True):
    """How to measure: sets, rounds, block lengths, regimes, and how long warming up may take."""

    sets: int = 6
    max_sets: int = 14  # above `sets`: go on with paths whose interval is wider than `target_half_width`
    target_half_width: float = 0.02
    rounds: int = 15
    block_ms: float = 10.0
    lead_in_ms: float = 1.0
    regimes: tuple[Regime, ...] = ("cold", "steady")
    warm_cap_s: float = 4.0
    settle_pause_ms: float = 20.0
    write_regimes: tuple[Regime, ...] = ("cold", "steady")  # those of `regimes` in which write phases are run


class Selection(Frozen, frozen=True):
    """Some paths: coordinates with a value, a list of values, or "*" for every value the adapter has.

    A coordinate left out takes the adapter's first value (profile `tuned`) or the driver's default (`shipped`).
    """

    select: dict[str, str | tuple[str, ...]]
    name: str = ""
    phases: tuple[str, ...] = ()  # only these of the experiment's phases; empty: all it can serve
    extended: bool = False  # runs with --all only


class CostModelTable(Frozen, frozen=True):
    """A cost model to fit over the phases of one workload: per operation, row, value and byte."""

    workload: str
    held_out: tuple[str, ...] = ()  # phases that are predicted instead of fitted


class SweepTable(Frozen, frozen=True):
    """Sizes of a result to draw a line through: the phases of one workload, by their `rows_per_operation`."""

    workload: str


class Experiment(Frozen, frozen=True):
    """Workloads × a selection of paths × how to measure, the published figures and the claims to check."""

    schema_version: int
    name: str
    title: str
    phases: tuple[str, ...]
    paths: tuple[Selection, ...]
    question: str = ""
    source: str = ""
    workload_files: tuple[str, ...] = ()
    measure: Measure = Measure()
    scale: float = 0.0  # of workloads that have one; 0: their own default
    per_operations: int = 0  # also a table of what so many operations take; 0: none
    published: tuple[PublishedColumn, ...] = ()
    claims: tuple[Claim, ...] = ()
    consistency: tuple[Consistency, ...] = ()
    notes: tuple[str, ...] = ()
    model: CostModelTable | None = None
    sweep: SweepTable | None = None
    groups: tuple[GroupTable, ...] = ()  # several at work at once: then `stretches` instead of blocks
    stretches: tuple[StretchTable, ...] = ()
    moves: tuple[MoveTable, ...] = ()  # of database directories, before the first set
    rate_sweep: RateSweepTable | None = None
    together: tuple[
        Literal["fetch", "threads", "tls", "link", "clients", "placement"], ...
    ] = ()  # rank in one list all the same


def names() -> list[str]:
    """The experiments that come with Rowpath."""
    return sorted(file.stem for file in (data_dir() / "experiments").glob("*.toml"))


def load_experiment(name_or_file: str) -> Experiment:
    """An experiment by name, or from a file when the argument has a slash or ends in `.toml`; UsageError otherwise."""
    if "/" in name_or_file or name_or_file.endswith(".toml"):
        return read_experiment(FilePath(name_or_file))
    if name_or_file not in names():
        near = nearest(name_or_file, names())
        raise UsageError(
            f"there is no experiment '{name_or_file}'",
            f"did you mean '{near}'? rowpath run {near}" if near else "rowpath list experiments",
        )
    return read_experiment(data_dir() / "experiments" / f"{name_or_file}.toml")


def read_experiment(file: FilePath) -> Experiment:
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


def _check_names(file: FilePath, experiment: Experiment) -> None:
    """Coordinates and phases that do not exist, each with its line."""
    from rowpath.planning.lattice import check_coordinates
    from rowpath.planning.plan import workloads_of

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
    for location, mistake in validate.mistakes(experiment, workloads_of(experiment) if experiment.groups else {}):
        raise _placed(file, lines, location, mistake)


def _placed(file: FilePath, lines: dict[Location, int], location: Location, error: UsageError) -> UsageError:
    line = line_of(lines, location)
    return UsageError(f"{file}:{line}: {error.message}" if line else error.message, error.hint)


def decode_file(file: FilePath, into: type[Any]) -> Any:
    """Decode a TOML file into a type of the model; UsageError naming every mistake's line."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {file}", "rowpath list experiments") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {error}", "give a UTF-8 TOML file") from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: {error}", "mend the TOML at that line") from error
    lines = key_lines(text)
    mistakes = unknown_keys(document, into, ())
    if mistakes:
        raise UsageError(
            "\n       ".join(_describe(file, lines, mistake) for mistake in mistakes), _first_hint(mistakes)
        )
    try:
        return msgspec.convert(document, into)
    except msgspec.ValidationError as error:
        location = _location(str(error))
        line = line_of(lines, location)
        where = f"{file}:{line}" if line else str(file)
        raise UsageError(f"{where}: {_plain(str(error))}", "see docs/experiments.md for what each key takes") from error


Mistake = tuple[Location, str, tuple[str, ...]]


def unknown_keys(value: Any, into: Any, location: Location) -> list[Mistake]:
    """Every key of the document that its type does not have: (location, key, the right keys)."""
    info = msgspec.inspect.type_info(into) if not isinstance(into, msgspec.inspect.Type) else into
    mistakes: list[Mistake] = []
    if isinstance(info, msgspec.inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in info.fields}
        for key, inner in value.items():
            if key in fields:
                mistakes += unknown_keys(inner, fields[key], (*location, key))
            else:
                mistakes.append(((*location, key), key, tuple(fields)))
    elif isinstance(info, msgspec.inspect.VarTupleType | msgspec.inspect.ListType) and isinstance(value, list):
        for position, inner in enumerate(value):
            mistakes += unknown_keys(inner, info.item_type, (*location, position))
    elif isinstance(info, msgspec.inspect.DictType) and isinstance(value, dict):
        for key, inner in value.items():
            mistakes += unknown_keys(inner, info.value_type, (*location, key))
    elif isinstance(info, msgspec.inspect.UnionType):
        for choice in info.types:
            if isinstance(choice, msgspec.inspect.StructType) and isinstance(value, dict):
                mistakes += unknown_keys(value, choice, location)
    return mistakes


def _describe(file: FilePath, lines: dict[Location, int], mistake: Mistake) -> str:
    location, key, right = mistake
    line = line_of(lines, location)
    near = nearest(key, right)
    where = f"{file}:{line}" if line else str(file)
    return f"{where}: unknown key '{key}'" + (f"; the nearest right one is '{near}'" if near else "")


def _first_hint(mistakes: list[Mistake]) -> str:
    _, key, right = mistakes[0]
    near = nearest(key, right)
    return f"write '{near}' instead of '{key}'" if near else f"the keys here are: {', '.join(sorted(right))}"


def _location(message: str) -> Location:
    """The location in msgspec's words: `… - at `$.measure.sets``."""
    found = re.search(r"at `\$(.*?)`$", message)
    if not found:
        return ()
    parts: list[str | int] = []
    for name, index in re.findall(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]", found.group(1)):
        if name:
            parts.append(name)
        elif index != "...":
            parts.append(int(index))
    return tuple(parts)


def _plain(message: str) -> str:
    text = re.sub(r" - at `\$\.?(.*?)`$", r" (key \1)", message)
    return text.replace("Expected", "expected").replace("Object missing required field", "missing key")
