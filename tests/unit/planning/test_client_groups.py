"""How many connections a server of ours must take at once, and how many clients one process of a path can have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from rowpath.engines.base import CONNECTIONS
from rowpath.machine.directories import data_dir
from rowpath.model.experiment import ClientGroupTable, Experiment, RateSearchTable, Selection, StageTable
from rowpath.model.hosts import Host, HostsFile
from rowpath.model.path import AccessPath
from rowpath.planning import client_groups
from rowpath.planning import make_plan as planning
from rowpath.planning.availability import unavailable
from rowpath.planning.experiment_file import load_workloads
from rowpath.planning.make_plan import make_plan
from rowpath.planning.overrides import changed_groups
from rowpath.planning.plan import Plan
from rowpath.runners.manifest import adapter_of, language


def _needed(groups: list[tuple[str, int]], stage_clients: dict[str, int], path_clients: int = 1) -> int:
    stage = StageTable("mixed", client_groups=tuple(name for name, _clients in groups), clients=stage_clients)
    made = tuple(ClientGroupTable(name, phase="library.read", clients=clients) for name, clients in groups)
    experiment = SimpleNamespace(client_groups=made, stages=(stage,))
    plan: Any = SimpleNamespace(
        experiment=experiment,
        paths=[SimpleNamespace(path=SimpleNamespace(clients=path_clients, connections=path_clients))],
    )
    return client_groups.needed(plan)


@pytest.mark.parametrize(
    ("groups", "stage_clients", "path_clients", "expected"),
    [
        ([("readers", 3)], {}, 1, CONNECTIONS),
        ([("readers", 1500), ("writers", 500)], {}, 1, 2000 + client_groups.SPARE),
        ([("readers", 10), ("writers", 500)], {"readers": 1500}, 1, 2000 + client_groups.SPARE),
        ([], {}, 600, 600 + client_groups.SPARE),
    ],
)
def test_the_largest_number_at_once_counts(
    groups: list[tuple[str, int]], stage_clients: dict[str, int], path_clients: int, expected: int
) -> None:
    assert _needed(groups, stage_clients, path_clients) == expected


@pytest.fixture(autouse=True)
def _everything_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "unavailable", lambda _adapter, _path: ("", ""))


MOST = language("c").most_clients
SERVED: dict[str, Any] = {"engine": "postgresql", "language": "c", "driver": "libpq", "statement": "prepared"}


class Loading:
    """A server's host and two load hosts, one of them the client's, on which everything is there."""

    file = HostsFile(
        1,
        (
            Host("db", "10.0.0.10", ("server",)),
            Host("app1", "10.0.0.21", ("client", "load")),
            Host("app2", "10.0.0.22", ("load",)),
        ),
    )

    def unavailable(self, _path: AccessPath, _loading: bool) -> tuple[str, str]:
        """It can run."""
        return "", ""


def _plan(
    readers: int,
    writers: int = 1,
    *,
    over: bool = False,
    extended: bool = False,
    select: Mapping[str, str] = MappingProxyType({}),
    **more: Any,
) -> Plan:
    """Of one path with readers and writers at work; readers spread over load hosts where `over`."""
    groups = (
        ClientGroupTable("readers", "keyed.read", clients=readers, over="load" if over else ""),
        ClientGroupTable("writers", "tab1.update", clients=writers),
    )
    more = {"stages": (StageTable("both", ("readers", "writers")),)} | more
    phases = ("keyed.read", "tab1.update")
    selections = (Selection(select=SERVED | dict(select)),)
    experiment = Experiment(1, "t", "t", phases, selections, client_groups=groups, **more)
    hosts = Loading() if over else None
    return make_plan(experiment, load_workloads(experiment), {}, seed=1, extended=extended, hosts=hosts)


def test_planning_and_the_runner_know_the_same_limit() -> None:
    source = (data_dir() / "runners" / "c" / "core" / "clients.c").read_text()
    found = re.search(r"#define RP_MOST_CLIENTS (\d+)", source)
    assert found is not None
    assert int(found[1]) == MOST


@pytest.mark.parametrize(
    ("how", "clients", "where", "remedy"),
    [
        ({"readers": MOST}, MOST + 1, "", 'processes = "own"'),
        ({"readers": 5 * MOST}, 5 * MOST + 1, "", "fewer clients, or over = 'load'"),
        ({"readers": MOST + 1, "select": {"processes": "own"}}, MOST + 1, "", "fewer clients, or over = 'load'"),
        ({"readers": 2 * MOST, "over": True}, MOST + 1, "on host app1: ", 'processes = "own"'),
        ({"readers": 2 * MOST + 2, "over": True}, MOST + 2, "on host app1: ", "or more hosts in the role 'load'"),
        (
            {"readers": 1, "stages": (StageTable("many", ("readers",), clients={"readers": MOST + 2}),)},
            MOST + 2,
            "",
            "fewer clients, or over = 'load'",
        ),
        (
            {"readers": MOST + 2, "stages": (), "rate_search": RateSearchTable("readers", 5.0)},
            MOST + 2,
            "",
            "fewer clients, or over = 'load'",
        ),
    ],
    ids=["together", "alone", "own", "spread with the others", "spread", "stage", "rate search"],
)
def test_a_path_with_more_clients_than_a_process_can_have_is_left_out(
    how: dict[str, Any], clients: int, where: str, remedy: str
) -> None:
    plan = _plan(**how)
    assert plan.paths == ()
    (dropped,) = plan.dropped
    said = f"{where}{clients:,} clients in one process: the runner of C has at most {MOST:,}"
    assert dropped.reason == said
    assert remedy in dropped.remedy
    assert plan.nothing_left is not None
    assert (plan.nothing_left.message, plan.nothing_left.hint) == (
        f"no path of 't' can run here: {said}",
        dropped.remedy,
    )


@pytest.mark.parametrize(
    "how",
    [
        {"readers": MOST - 1},
        {"readers": MOST, "writers": MOST, "select": {"processes": "own"}},
        {"readers": 2 * MOST - 2, "over": True},
        {"readers": 5 * MOST, "select": {"language": "go", "driver": "pgx"}},
        {"readers": MOST, "stages": (StageTable("one", ("readers",)), StageTable("two", ("writers",), extended=True))},
    ],
    ids=["together", "own", "spread", "no limit", "extended"],
)
def test_a_path_with_as_many_as_it_can_have_runs(how: dict[str, Any]) -> None:
    plan = _plan(**how)
    assert len(plan.paths) == 1, plan.dropped


def test_a_path_of_several_clients_is_left_out_too() -> None:
    path = AccessPath.of({"engine": "postgresql", "deployment": "server", "clients": str(MOST + 1)})
    reason, remedy = unavailable(adapter_of("c", "libpq"), path)
    assert (f"{MOST + 1:,} clients in one process" in reason, remedy) == (True, f"clients={MOST}")
    fits = AccessPath.of(path.as_dict() | {"clients": str(MOST)})
    assert "in one process" not in unavailable(adapter_of("c", "libpq"), fits)[0]


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ({}, ""),
        ({"language": "go", "driver": "pgx"}, "the runner of Go has no shared dispatch"),
        ({"client_host": "app1"}, "shared dispatch: clients on another host cannot share arrivals yet"),
    ],
)
def test_a_path_whose_clients_cannot_share_arrivals_is_left_out(select: dict[str, str], said: str) -> None:
    group = ClientGroupTable("readers", "keyed.read", clients=2, dispatch="shared", population=4)
    experiment: Any = SimpleNamespace(client_groups=(group,))
    coordinates = SERVED | {"deployment": "server", "client_host": "none"} | select
    adapter = adapter_of(coordinates["language"], coordinates["driver"])
    assert client_groups.only_alone(adapter, AccessPath.of(coordinates), experiment) == said


def test_a_rate_of_the_command_line_ends_the_queue_of_callers() -> None:
    group = ClientGroupTable("readers", "keyed.read", clients=2, dispatch="shared", population=4)
    experiment = Experiment(1, "t", "t", ("keyed.read",), (), client_groups=(group,))
    (changed,) = changed_groups(experiment, ["readers=50"], "", 0.0).client_groups
    assert (changed.pacing, changed.dispatch, changed.population) == ("poisson", "shared", 0)
