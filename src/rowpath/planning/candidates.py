"""The paths of an experiment's selections that exist, which phases each can run, and why none may be left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import structs

from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment, Selection
from rowpath.model.hosts import HostsFile
from rowpath.model.path import AccessPath, Dropped
from rowpath.model.workload import PhaseName, Workload, phase_of
from rowpath.planning import hosts as on_hosts
from rowpath.planning.availability import ineligible_reason, pruned, unnumbered_reason
from rowpath.planning.path_names import spelt
from rowpath.planning.selection import matches, select, unmatched
from rowpath.runners.manifest import Adapter


class Candidate(NamedTuple):
    """A path of a selection that exists; its name where the selection gives one, its phases where it restricts them."""

    path: AccessPath
    adapter: Adapter
    name: str
    phases: tuple[str, ...]


def candidates(
    selections: Iterable[Selection],
    filters: dict[str, tuple[str, ...]],
    dropped: list[Dropped],
    hosts: HostsFile | None = None,
) -> list[Candidate]:
    """Each path of the selections that exists and that the filters keep, once; with hosts on each that is wanted."""
    chosen: dict[str, Candidate] = {}
    kept = {key: values for key, values in filters.items() if key not in on_hosts.KEYS}
    for selection in selections:
        pairs = _selected(selection, filters, dropped, hosts)
        if not pairs and hosts is not None:
            continue  # each was dropped with its reason
        varying = [key for key, _ in pairs[0][1].coordinates if len({path.get(key) for _, path in pairs}) > 1]
        named = selection.name and (len(pairs) == 1 or varying)
        for adapter, path in pairs:
            if path.id in chosen or not matches(path, kept):
                continue
            if reason := pruned(adapter, path):
                dropped += [Dropped(path=path, reason=reason)] if len(pairs) == 1 else []
                continue
            name = " ".join([selection.name, *(spelt(key, path.get(key)) for key in varying)]) if named else ""
            chosen[path.id] = Candidate(path, adapter, name, selection.phases)
    return list(chosen.values())


def _selected(
    selection: Selection, filters: dict[str, tuple[str, ...]], dropped: list[Dropped], hosts: HostsFile | None
) -> list[tuple[Adapter, AccessPath]]:
    """The paths that a selection means; UsageError when there are none."""
    if hosts is None:
        on_hosts.refuse(selection.wanted)
        on_hosts.refuse(filters)
    wanted = on_hosts.without(selection.wanted)
    alike = selection if wanted == selection.wanted else structs.replace(selection, select=dict(wanted))
    rest = on_hosts.without(filters)
    pairs = select(alike, rest)
    if not pairs:
        raise unmatched(alike)
    if hosts is None:
        return pairs
    return [
        (adapter, there)
        for adapter, path in pairs
        for there in on_hosts.placed(adapter, path, selection.wanted, filters, hosts, dropped)
    ]


def eligible_phases(
    candidate: Candidate, experiment: Experiment, workloads: dict[str, Workload], ineligible: list[tuple[str, str, str]]
) -> tuple[str, ...]:
    """The experiment's phases that the path can run; the others with their reasons into `ineligible`."""
    path, adapter = candidate.path, candidate.adapter
    eligible = []
    for name in experiment.phases:
        if candidate.phases and name not in candidate.phases:
            continue
        phase = phase_of(workloads, name)
        why = ineligible_reason(adapter, path, name, phase)
        why = why or unnumbered_reason(path, workloads[PhaseName.of(name).workload], name, phase)
        if not why:
            eligible.append(name)
        elif why.strip():
            ineligible.append((path.id, name, why))
    return tuple(eligible)


def nothing_left(
    experiment: Experiment, filters: dict[str, tuple[str, ...]], dropped: list[Dropped], extended: bool
) -> UsageError:
    """Why no path of the experiment is left to run."""
    what = f"no path of '{experiment.name}'"
    if dropped:
        return UsageError(f"{what} can run here: {dropped[0].reason}", dropped[0].remedy or "rowpath doctor")
    shown = " ".join(f"{key}={','.join(values)}" for key, values in filters.items())
    if not extended and candidates([each for each in experiment.paths if each.extended], filters, []):
        return UsageError(f"{what} has {shown} without --all", f"rowpath run {experiment.name} --all {shown}")
    return UsageError(f"{what} has {shown}", f"rowpath run {experiment.name} --plan")
