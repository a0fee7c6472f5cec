"""How many connections at once a plan needs: of our own server, and of one client process of a path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from rowpath.engines.base import CONNECTIONS
from rowpath.model.experiment import Experiment, StageTable
from rowpath.model.hosts import HostsFile
from rowpath.model.path import AccessPath
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.manifest import Adapter, language, most_clients, too_many

SPARE = 50  # ours: loading, counters, checks of written rows, backups
Name = TypeVar("Name")


def needed(plan: Plan) -> int:
    """The connections that the stage and the path with most clients need; never less than the usual number."""
    most = {group.name: group.clients for group in plan.experiment.client_groups}
    for stage in plan.experiment.stages:
        for name, clients in stage.clients.items():
            most[name] = max(most.get(name, 0), clients)
    paths = [planned.path for planned in plan.paths]
    clients = max([sum(most.values()), *(max(path.clients, path.connections) for path in paths)])
    return max(CONNECTIONS, clients + SPARE)


def crowded(experiment: Experiment, planned: PlannedPath, hosts: HostsFile | None, extended: bool) -> tuple[str, str]:
    """Why a client process of the path's groups would have too many clients, and the remedy; empty when none has."""
    if not (at_most := most_clients(planned.adapter)):
        return "", ""
    groups = {group.name: group for group in experiment.client_groups}
    # Of all its stages, and of the rate search.
    usual = {name: group.clients for name, group in groups.items() if group.phase}
    of_stages: dict[str, int] = {}
    for stage in stages_of(experiment, planned, extended):
        for name in usual.keys() & set(stage.client_groups):
            of_stages[name] = max(of_stages.get(name, 0), stage.clients.get(name, usual[name]))
    search = experiment.rate_search
    of_search = {search.client_group: usual[search.client_group]} if search and search.client_group in usual else {}
    for connections in (of_stages, of_search):
        by_host: dict[str, dict[str, int]] = {}
        for name, clients in connections.items():
            over = hosts.loading if hosts and groups[name].over else (planned.path.client_host,)
            for host, share in shares(clients, 0.0, 0, over).items():
                by_host.setdefault(host, {})[name] = share.clients
        for host, counts in by_host.items():
            largest = max(counts.values())
            clients = largest if planned.path.processes == "own" else sum(counts.values())
            if clients > at_most:
                where = "" if host == "none" else f"on host {host}: "
                is_spread = any(groups[name].over for name in counts)
                return f"{where}{too_many(planned.adapter, clients)}", _remedy(planned, is_spread, largest <= at_most)
    return "", ""


def _remedy(planned: PlannedPath, is_spread: bool, each_fits: bool) -> str:
    if planned.path.served and each_fits:
        return 'processes = "own" in its selection: a process for each group'
    if is_spread:
        return "fewer clients, or more hosts in the role 'load'"
    return "fewer clients" + (", or over = 'load' and several hosts: docs/hosts.md" if planned.path.served else "")


def only_alone(adapter: Adapter, path: AccessPath, experiment: Experiment) -> str:
    """Why a path has no place in an experiment of groups at all; empty when it has one, or there are no groups."""
    if not experiment.client_groups:
        return ""
    if not language(adapter.language).client_groups:
        return f"the runner of {language(adapter.language).title} does not support client groups"
    if path.pipelined:
        return "the clients of a group send no pipelines: each operation has a begin and an end of its own"
    if adapter.phases != ("null",) and len(adapter.coordinates.get("clients", ())) <= 1:
        return f"{adapter.driver} has only one connection, and each client of a group needs its own"
    shared = any(group.dispatch == "shared" for group in experiment.client_groups)
    return not_shared(adapter, path) if shared else ""


def not_shared(adapter: Adapter, path: AccessPath) -> str:
    """Why clients of the path's groups cannot take arrivals from one queue; empty when they can."""
    if not language(adapter.language).shared_dispatch:
        return f"the runner of {language(adapter.language).title} has no shared dispatch"
    if path.get("concurrency") == "processes":
        return "shared dispatch: clients that are processes cannot share arrivals"
    if path.client_host != "none":
        return "shared dispatch: clients on another host cannot share arrivals yet"
    return ""


def stages_left_out(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """(paths' names, the stages that they cannot run, why), as far as it is known before anything is started."""
    left_out: dict[tuple[str, str], list[str]] = {}
    for planned in plan.paths:
        reasons: dict[str, list[str]] = {}
        for stage in plan.experiment.stages:
            if (plan.extended or not stage.extended) and (why := why_left_out(plan.experiment, stage, planned)):
                reasons.setdefault(why, []).append(f"'{stage.name}'")
        for why, left in reasons.items():
            left_out.setdefault((", ".join(left), why), []).append(planned.name)
    for (stages, why), names in left_out.items():
        yield "every path" if len(names) == len(plan.paths) > 1 else ", ".join(names), stages, why


def stages_of(experiment: Experiment, planned: PlannedPath, extended: bool) -> list[StageTable]:
    """The stages that the path would run, as far as is known before it is proven."""
    stages = [stage for stage in experiment.stages if extended or not stage.extended]
    return [stage for stage in stages if not why_left_out(experiment, stage, planned)]


def why_left_out(experiment: Experiment, stage: StageTable, planned: PlannedPath) -> str:
    """Why the path cannot run that stage; empty when it can."""
    for group in (group for group in experiment.client_groups if group.name in stage.client_groups):
        if group.action and planned.path.backup == "none":
            has_choice = "backup" in planned.path.as_dict()
            without = "its selection names no backup method (backup = '*')"
            return "no backup method is available" if has_choice else without
        if group.phase and group.phase not in planned.phases:
            return f"{group.phase} is not served"
    return ""


@dataclass(frozen=True)
class GroupShare:
    """What one host has of a group; its clients begin at the group's client `first`."""

    clients: int
    first: int
    rate_per_s: float
    seed: int


def shares(clients: int, rate_per_s: float, seed: int, hosts: Iterable[Name]) -> dict[Name, GroupShare]:
    """As even as possible, the first hosts one more; hosts without a client are left out.

    Together they have the schedule of one host: `poisson` seeds each client by its number in the group.
    """
    names = list(hosts)
    by_host, first = {}, 0
    for number, name in enumerate(names[:clients]):
        count = clients // len(names) + (number < clients % len(names))
        rate = rate_per_s if count == clients else rate_per_s * count / clients
        by_host[name] = GroupShare(count, first, rate, seed + first)
        first += count
    return by_host


def later_ns(pacing: str, rate_per_s: float, number: int) -> int:
    """How much later the host of that number begins, so that a group's `fixed` arrivals do not coincide."""
    return round(number * 1e9 / rate_per_s) if pacing == "fixed" else 0
