"""The flame graphs of `rowpath explain`: taken after each path's figures, written into the run directory."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowpath import text as fmt
from rowpath.errors import RowpathError, UsageError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.explain import flames
from rowpath.journal.writer import RunDirectory
from rowpath.model.explanation import Explanation
from rowpath.model.path import AccessPath
from rowpath.model.stacks import Flame
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.report import flame_graph, speedscope
from rowpath.runners.process import RunnerFailure

if TYPE_CHECKING:
    from rich.console import Console

Filters = Mapping[str, tuple[str, ...]]
SPELLED = {"#": "-sharp", "+": "-plus", "*": "-star"}
NEVER_COMPARED = ("version", "engine_version", "label")  # they follow from what else differs


class Flames:
    """Takes the stacks of each path, and shows where its flame graph is; nothing here stops an explanation."""

    def __init__(self, directory: RunDirectory, note: Callable[[str], None], against: Filters) -> None:
        """`against`: the coordinates of the paths that others are compared with."""
        self._directory = directory
        self._note = note
        self._against = against
        self._found: list[Flame] = []
        self._lines: list[str] = []

    def take(self, worker: Worker, work: PreparedPhase, explanation: Explanation, way: Mapping[str, Any]) -> None:
        """Sample a path's stacks and write its files; what goes wrong is a line."""
        self._note(f"sampling stacks of {explanation.name}, {explanation.phase}")
        try:
            found = flames.flame(worker, work, explanation, way, self._directory.work)
            self._keep(found)
        except RunnerFailure as failure:
            self._lines.append(f"no flame graph: {fmt.clean(failure.text)}")
        except RowpathError as error:
            self._lines.append(f"no flame graph: {error.message} ({error.hint})")

    def _keep(self, found: Flame) -> None:
        self._found.append(found)
        if found.sides:
            page, scope = self._files(found.name, found.phase)
            flame_graph.write(found, page)
            speedscope.write(found, scope)
            self._lines.append(f"flame graph: {page}, and .speedscope.json")
        sampled = {side.side for side in found.sides}
        self._lines += [note for note in found.notes if not sampled or ": no stacks: " in note]

    def show(self, console: Console) -> None:
        """Print where the last path's graph is, or why there is none."""
        for line in self._lines:
            console.print(line, soft_wrap=True, highlight=False, markup=False)
        self._lines.clear()

    def show_differences(self, console: Console) -> None:
        """Compare each path with the one that is like it but for `against`; write the page, print what changed most."""
        for found in self._found if self._against else ():
            before = self._before(found)
            if before is None:
                continue
            console.print(flame_graph.sentence(found, before), soft_wrap=True, highlight=False, markup=False)
            if found.sides and before.sides:
                page, _scope = self._files(f"{found.name}-against-{before.name}", found.phase)
                flame_graph.write(found, page, before)
                console.print(f"difference: {page}", soft_wrap=True, highlight=False, markup=False)
            console.print()

    def _before(self, found: Flame) -> Flame | None:
        others = [each for each in self._found if each.phase == found.phase and each is not found]
        if _fits(found.path, self._against):
            return None
        fitting = [each for each in others if _fits(each.path, self._against)]
        return max(fitting, key=lambda each: likeness(each.path, found.path), default=None)

    def _files(self, name: str, phase: str) -> tuple[Path, Path]:
        stem = f"flame-{file_name(name)}-{file_name(phase)}"
        return self._directory.path / f"{stem}.html", self._directory.path / f"{stem}.speedscope.json"


def file_name(name: str) -> str:
    """A path's name as a part of a file's: `PostgreSQL-C-sharp-TCP`."""
    for sign, words in SPELLED.items():
        name = name.replace(sign, words)
    return re.sub(r"[^\w.-]+", "-", name).strip("-")


def likeness(one: Mapping[str, str], other: Mapping[str, str]) -> int:
    """How many coordinates two paths have in common."""
    return sum(one.get(key) == other.get(key) for key in {*one, *other} - {*NEVER_COMPARED})


def parse_against(words: list[str], experiment: str, *, flame: bool = True) -> dict[str, tuple[str, ...]]:
    """The coordinates of `--against`; `flame`: whether stacks are sampled. Errors: UsageError."""
    if words and not flame:
        raise UsageError("--against needs the flame graphs that --no-flame leaves out", f"rowpath explain {experiment}")
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        key, mark, value = word.partition("=")
        if not mark or not key or not value or "," in value:
            what = f"invalid --against '{word}': expected COORDINATE=VALUE"
            raise UsageError(what, f"rowpath explain {experiment} --against result=binary")
        found[key] = (value,)
    return found


def widened(filters: Filters, against: Filters) -> dict[str, tuple[str, ...]]:
    """Filters that keep what they kept and every path that one of these could be compared with."""
    wide = {key: (*values, *(against.get(key, ()))) for key, values in filters.items()}
    return {key: tuple(dict.fromkeys(values)) for key, values in wide.items()}


def with_counterparts(chosen: Plan, wide: Plan, against: Filters) -> Plan:
    """The chosen paths, and for each the one of the wide plan that differs from it only by `against`.

    Names are those of the wide plan, which tell all of them apart. Errors: UsageError where a path has none.
    """
    ids = {planned.path.id for planned in chosen.paths}
    kept = [planned for planned in wide.paths if planned.path.id in ids]
    fitting = [planned for planned in wide.paths if _fits(planned.path.as_dict(), against)]
    more: dict[str, PlannedPath] = {}
    for planned in kept:
        if _fits(planned.path.as_dict(), against):
            continue
        there = [one for one in fitting if set(one.phases) & set(planned.phases) & set(chosen.experiment.phases)]
        best = max(there, key=lambda one: likeness(one.path.as_dict(), planned.path.as_dict()), default=None)
        if best is None or not _differs_only(best.path, planned.path, against):
            words = " ".join(f"{key}={values[0]}" for key, values in against.items())
            what = f"no path of {chosen.experiment.name} differs from {planned.name} only in {words}"
            raise UsageError(what, f"rowpath run {chosen.experiment.name} --plan")
        more.setdefault(best.path.id, best)
    if not more:
        raise UsageError("--against selects the chosen paths themselves", "choose another value")
    paths = (*(one for one in more.values() if one.path.id not in ids), *kept)
    return replace(chosen, paths=paths)


def _fits(path: Mapping[str, str], against: Filters) -> bool:
    return all(path.get(key) in values for key, values in against.items())


def _differs_only(one: AccessPath, other: AccessPath, against: Filters) -> bool:
    """Whether nothing differs that does not follow from `against`: another driver may name other settings."""
    if against.keys() & {"driver", "language", "engine", "deployment"}:
        return True
    here, there = one.as_dict(), other.as_dict()
    return all(here.get(key) == there.get(key) for key in {*here, *there} - {*against, *NEVER_COMPARED})
