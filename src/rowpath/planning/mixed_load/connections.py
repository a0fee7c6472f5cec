"""How many connections at once a plan needs: of our own server, and of one client process of a path."""

from __future__ import annotations

from rowpath.engines.base import CONNECTIONS
from rowpath.model.experiment import Experiment
from rowpath.model.hosts import HostsFile
from rowpath.planning.mixed_load import spread
from rowpath.planning.mixed_load.eligibility import why_left_out
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.manifest import most_clients, too_many

SPARE = 50  # ours: loading, counters, checks of written rows, backups


def needed(plan: Plan) -> int:
    """The connections that the stage and the path with most clients need; never less than the usual number."""
    experiment = plan.experiment
    groups = {group.name: group.clients for group in experiment.client_groups}
    most = dict(groups)
    for stage in experiment.stages:
        for name, clients in stage.clients.items():
            most[name] = max(most.get(name, 0), clients)
    clients = max([sum(most.values()), *(planned.path.clients for planned in plan.paths)])
    return max(CONNECTIONS, clients + SPARE)


def crowded(experiment: Experiment, planned: PlannedPath, hosts: HostsFile | None, extended: bool) -> tuple[str, str]:
    """Why a client process of the path's groups would have too many clients, and the remedy; empty when none has."""
    if not (at_most := most_clients(planned.adapter)):
        return "", ""
    groups = {group.name: group for group in experiment.client_groups}
    for connections in _opened_at_once(experiment, planned, extended):
        by_host: dict[str, dict[str, int]] = {}
        for name, clients in connections.items():
            over = hosts.loading if hosts and groups[name].over else (planned.path.client_host,)
            for host, share in spread.shares(clients, 0.0, 0, over).items():
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


def _opened_at_once(experiment: Experiment, planned: PlannedPath, extended: bool) -> list[dict[str, int]]:
    """The clients of each group that a path connects at once: of all its stages, and of the rate search."""
    usual = {group.name: group.clients for group in experiment.client_groups if group.phase}
    of_stages: dict[str, int] = {}
    for stage in experiment.stages:
        if (extended or not stage.extended) and not why_left_out(experiment, stage, planned):
            for name in usual.keys() & set(stage.client_groups):
                of_stages[name] = max(of_stages.get(name, 0), stage.clients.get(name, usual[name]))
    search = experiment.rate_search
    of_search = {search.client_group: usual[search.client_group]} if search and search.client_group in usual else {}
    return [each for each in (of_stages, of_search) if each]
