"""Paths over several hosts: where they are, which cannot be apart, and that nothing changes without hosts."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from typing_extensions import override

from rowpath.cli.plan import plan_for, plan_within
from rowpath.errors import UsageError
from rowpath.model.experiment import CopyEnd, DirectoryCopyTable, Selection, StageTable
from rowpath.model.hosts import Host, HostsFile
from rowpath.model.path import AccessPath
from rowpath.planning.client_groups import stages_left_out
from rowpath.planning.estimate import _ways_s
from rowpath.planning.experiment_file import load_experiment
from rowpath.planning.hosts import of_group
from rowpath.planning.make_plan import make_plan
from rowpath.planning.overrides import NOT_OVERRIDDEN
from rowpath.planning.plan import Plan, key_of
from rowpath.runners.process import RunnerFailure

HOSTS = HostsFile(
    1,
    (
        Host("db", "10.0.0.10", ("server",)),
        Host("app1", "10.0.0.21", ("client",)),
        Host("app2", "10.0.0.22", ("client",)),
    ),
)


@dataclass
class Known:
    """Hosts on which everything is there."""

    file: HostsFile = HOSTS

    def unavailable(self, path: AccessPath, loading: bool) -> tuple[str, str]:
        """It can run."""
        return "", ""


def _plan(hosts: Known | None, **filters: str) -> Plan:
    experiment, workloads = load_experiment("tour")
    named = {key: tuple(value.split(",")) for key, value in filters.items()}
    return make_plan(experiment, workloads, named, seed=1, hosts=hosts)


def test_without_hosts_no_path_knows_of_them() -> None:
    plan = _plan(None)
    assert plan.paths
    assert not any("host" in planned.path.id for planned in plan.paths)
    assert all(key_of(planned.path)[-1] == "none" for planned in plan.paths)


def test_a_host_without_hosts_is_refused() -> None:
    with pytest.raises(UsageError, match="client_host names a host"):
        _plan(None, client_host="app1")


def test_client_and_server_are_on_hosts_in_their_roles() -> None:
    plan = _plan(Known(), engine="postgresql,sqlite", language="c")
    apart = [p.path for p in plan.paths if p.path.engine == "postgresql"]
    assert apart
    for path in apart:
        assert (path.get("client_host"), path.get("server_host")) == ("app1", "db")
        assert (path.placement, path.get("transport")) == ("apart", "tcp")
        assert key_of(path)[-1] == "db"
    embedded = [p.path for p in plan.paths if p.path.embedded]
    assert embedded
    assert {(path.get("client_host"), path.get("server_host"), key_of(path)[-1]) for path in embedded} == {
        ("app1", "none", "app1")
    }


def test_each_host_that_is_named_has_its_paths_and_its_ranking() -> None:
    plan = _plan(Known(), engine="postgresql", language="c", statement="text", client_host="app*,db")
    found = {(p.path.get("client_host"), p.path.placement, p.comparison) for p in plan.paths}
    assert {(client, placement) for client, placement, _ in found} == {
        ("app1", "apart"), ("app2", "apart"), ("db", "same")
    }  # fmt: skip
    assert len({comparison for _, _, comparison in found}) == 3


def test_what_cannot_be_apart_is_dropped_with_its_reason() -> None:
    reasons = {dropped.path.engine: dropped.reason for dropped in _plan(Known()).dropped}
    assert reasons["derby"] == "the server of derby listens only on its own machine"
    assert reasons["postgresql"] == "transport unix does not reach another host"


def test_an_unknown_host_is_named() -> None:
    with pytest.raises(UsageError, match="unknown host 'app9'"):
        _plan(Known(), engine="postgresql", client_host="app9")


def test_here_is_this_machine() -> None:
    plan = _plan(Known(), engine="postgresql", language="c", client_host="here")
    assert plan.paths
    assert not any("host" in planned.path.id for planned in plan.paths)


LOADING = HostsFile(
    1,
    (
        Host("db", "10.0.0.10", ("server",)),
        Host("app1", "10.0.0.21", ("client", "load")),
        Host("app2", "10.0.0.22", ("load",)),
    ),
)


@dataclass
class Asked(Known):
    """Hosts that note of whom they were asked."""

    file: HostsFile = LOADING
    loading: set[bool] = field(default_factory=set)

    @override
    def unavailable(self, path: AccessPath, loading: bool) -> tuple[str, str]:
        self.loading.add(loading)
        return "", ""


def _groups(hosts: Known | None, *, extended: bool = False, **changed: Any) -> Plan:
    """The plan of an experiment with groups, without its copied databases and its backup, unless they are named."""
    experiment, workloads = load_experiment("reads-writes-backup")
    stages = tuple(each for each in experiment.stages if "backup" not in each.client_groups)
    selection = Selection(select={"engine": "postgresql", "language": "c", "driver": "libpq", "statement": "prepared"})
    usual = {"directory_copies": (), "stages": stages, "paths": (selection,)}
    changed_experiment = msgspec.structs.replace(experiment, **(usual | changed))
    return make_plan(changed_experiment, workloads, {}, seed=1, extended=extended, hosts=hosts)


def _over(over: str = "load", **more: Any) -> dict[str, Any]:
    experiment, _workloads = load_experiment("reads-writes-backup")
    groups = [
        msgspec.structs.replace(each, **({"over": over} if each.name == "readers" else {}))
        for each in experiment.client_groups
    ]
    return {"client_groups": tuple(groups), **more}


def test_client_groups_run_on_hosts() -> None:
    hosts = Asked()
    (planned,) = _groups(hosts).paths
    assert (planned.path.get("client_host"), planned.path.placement) == ("app1", "apart")
    assert hosts.loading == {False}


def test_hosts_in_the_role_load_are_asked_when_a_group_is_spread_over_them() -> None:
    hosts = Asked()
    (planned,) = _groups(hosts, **_over()).paths
    assert hosts.loading == {True}
    readers, writers = _over()["client_groups"][:2]
    assert of_group(readers, planned.path, LOADING) == ("app1", "app2")
    assert of_group(writers, planned.path, LOADING) == ("app1",)


@pytest.mark.parametrize(
    ("hosts", "changed", "what"),
    [
        (None, _over(), "group 'readers' is spread over hosts, but no hosts are given"),
        (Known(), _over(), "group 'readers' is spread over hosts in the role 'load', and no host has it"),
    ],
    ids=["no hosts", "no such role"],
)
def test_what_hosts_cannot_do_is_refused_with_a_hint(hosts: Known | None, changed: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what) as refused:
        _groups(hosts, **changed)
    assert refused.value.hint


def test_backups_kills_and_moves_are_done_on_hosts() -> None:
    stages = (StageTable("saved", ("readers", "backup")), StageTable("killed", ("readers",), kill_s=1.0))
    moves = (DirectoryCopyTable(CopyEnd(), CopyEnd()),)
    select = {"engine": "postgresql", "language": "c", "driver": "libpq", "statement": "prepared", "backup": "*"}
    plan = _groups(Asked(), stages=stages, directory_copies=moves, paths=(Selection(select=select),))
    assert {planned.path.get("backup") for planned in plan.paths} == {"basebackup", "dump"}
    assert {key_of(planned.path)[-1] for planned in plan.paths} == {"db"}
    assert list(stages_left_out(plan)) == []


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        ({"engine": "sqlite", "language": "c", "driver": "sqlite"}, "clients of several hosts need a server"),
        ({"server_host": "app2"}, "host app2 has the server, so it cannot be in the role 'load' too"),
        ({"client_host": "here"}, "its clients would be spread over hosts, and it is on the controller's machine"),
    ],
    ids=["embedded", "server loads", "here"],
)
def test_a_path_whose_clients_cannot_be_spread_is_dropped(select: dict[str, str], reason: str) -> None:
    usual = {"engine": "postgresql", "language": "c", "driver": "libpq", "statement": "prepared"}
    plan = _groups(Asked(), **_over(paths=(Selection(select=usual | select),)))
    assert plan.paths == ()
    assert reason in {dropped.reason for dropped in plan.dropped}


def test_a_failure_survives_its_way() -> None:
    found = pickle.loads(pickle.dumps(RunnerFailure("crashed", "the runner ended", "08006")))
    assert (found.kind, found.text, found.code) == ("crashed", "the runner ended", "08006")


def test_a_limit_of_time_holds_what_joining_and_measuring_the_hosts_take() -> None:
    words, filters = NOT_OVERRIDDEN, {"engine": ("postgresql",)}
    plan, _cost = plan_within("tour", filters, words, 600.0, seed=1, hosts=Known())
    assert {planned.path.get("client_host") for planned in plan.paths} == {"app1"}
    here = plan_for("tour", filters, words, seed=1)
    assert _ways_s(here) == 0 < _ways_s(plan)
    with pytest.raises(UsageError, match="too short"):
        plan_within("tour", filters, words, 600.0, seed=1, hosts=Known(), spent_s=599.0)
