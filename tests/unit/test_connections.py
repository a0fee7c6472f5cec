"""How many connections a server of ours must take: as many as a plan's groups or paths have at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rowpath.engines.base import CONNECTIONS
from rowpath.model.mixed_load import ClientGroupTable, StageTable
from rowpath.planning.mixed_load import connections


def _needed(groups: list[tuple[str, int]], stage_clients: dict[str, int], path_clients: int = 1) -> int:
    stage = StageTable("mixed", client_groups=tuple(name for name, _clients in groups), clients=stage_clients)
    made = tuple(ClientGroupTable(name, phase="library.read", clients=clients) for name, clients in groups)
    experiment = SimpleNamespace(client_groups=made, stages=(stage,))
    plan: Any = SimpleNamespace(
        experiment=experiment, paths=[SimpleNamespace(path=SimpleNamespace(clients=path_clients))]
    )
    return connections.needed(plan)


@pytest.mark.parametrize(
    ("groups", "stage_clients", "path_clients", "expected"),
    [
        ([("readers", 3)], {}, 1, CONNECTIONS),
        ([("readers", 1500), ("writers", 500)], {}, 1, 2000 + connections.SPARE),
        ([("readers", 10), ("writers", 500)], {"readers": 1500}, 1, 2000 + connections.SPARE),
        ([], {}, 600, 600 + connections.SPARE),
    ],
)
def test_the_largest_number_at_once_counts(
    groups: list[tuple[str, int]], stage_clients: dict[str, int], path_clients: int, expected: int
) -> None:
    assert _needed(groups, stage_clients, path_clients) == expected
