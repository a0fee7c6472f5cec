"""What will run, in which sets and in which order, and what will not."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from rowpath.engines import ENGINES
from rowpath.engines.base import versions
from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment
from rowpath.model.path import AccessPath, Dropped
from rowpath.model.workload import Phase, PhaseName, Workload, phase_of
from rowpath.runners.manifest import Adapter

# engine, deployment, durability, version (`none` where the engine has but one), how tables are kept (`none` likewise),
# `free` for a server that may use every core (else `none`), host (`none`: this machine)
Key = tuple[str, str, str, str, str, str, str]


@dataclass(frozen=True)
class PlannedPath:
    """A path that will run: its adapter, the phases it can run, its short name and the comparison it belongs to."""

    path: AccessPath
    adapter: Adapter
    phases: tuple[str, ...]
    name: str
    comparison: str = ""

    @property
    def workloads(self) -> tuple[str, ...]:
        """The names of the workloads of its phases."""
        return tuple(dict.fromkeys(PhaseName.of(name).workload for name in self.phases))


@dataclass(frozen=True)
class Plan:
    """What will run, in which sets, and what will not, with the reasons."""

    experiment: Experiment
    workloads: dict[str, Workload]
    paths: tuple[PlannedPath, ...]
    dropped: tuple[Dropped, ...]
    batches: tuple[tuple[PlannedPath, ...], ...]  # each fits in one set; several share anchors
    anchors: tuple[str, ...]
    seed: int
    filters: dict[str, tuple[str, ...]]
    extended: bool
    ineligible: tuple[tuple[str, str, str], ...] = field(default=())  # (path id, phase, reason)
    nothing_left: UsageError | None = None  # why there are no paths
    slowness: float = 1.0  # of this machine against that of the estimates' constants

    def path(self, path_id: str) -> PlannedPath:
        """The path of that id."""
        return next(planned for planned in self.paths if planned.path.id == path_id)

    def phase(self, name: str) -> Phase:
        """The phase called `workload.phase`."""
        return phase_of(self.workloads, name)


def block_order(seed: int, where: str, count: int) -> list[int]:
    """A random order, the same for the same seed and place (set, batch, phase, round)."""
    order = list(range(count))
    random.Random(f"{seed}/{where}").shuffle(order)
    return order


def key_of(path: AccessPath) -> Key:
    """What a path's engine instance is shared by."""
    offered = versions(ENGINES[path.engine])
    version = path.engine_version if path.engine_version in offered else offered[0]
    shown = version if len(offered) > 1 else "none"
    free = "free" if path.served and path.placement == "free" else "none"
    host = path.get("server_host" if path.served else "client_host")
    return path.engine, path.deployment, path.durability, shown, path.kept_as, free, host
