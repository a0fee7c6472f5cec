"""How many connections at once a server of ours must take for a plan."""

from __future__ import annotations

from rowpath.engines.base import CONNECTIONS
from rowpath.planning.plan import Plan

SPARE = 50  # ours: loading, counters, checks of written rows, backups


def needed(plan: Plan) -> int:
    """For the stage with most clients and the path with most; no less than ever."""
    experiment = plan.experiment
    groups = {group.name: group.clients for group in experiment.client_groups}
    most = dict(groups)
    for stage in experiment.stages:
        for name, clients in stage.clients.items():
            most[name] = max(most.get(name, 0), clients)
    clients = max([sum(most.values()), *(planned.path.clients for planned in plan.paths)])
    return max(CONNECTIONS, clients + SPARE)
