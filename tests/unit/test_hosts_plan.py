"""Paths over several hosts: where they are, which cannot be apart, and that nothing changes without hosts."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import pytest

from rowpath.errors import UsageError
from rowpath.model.hosts import Host, HostsFile
from rowpath.model.path import AccessPath
from rowpath.planning.experiment_file import load_experiment
from rowpath.planning.instance_key import key_of
from rowpath.planning.plan import Plan, make_plan
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


def test_client_groups_are_refused() -> None:
    experiment, workloads = load_experiment("reads-writes-backup")
    with pytest.raises(UsageError, match="client groups"):
        make_plan(experiment, workloads, {}, seed=1, hosts=Known())


def test_a_failure_survives_its_way() -> None:
    found = pickle.loads(pickle.dumps(RunnerFailure("crashed", "the runner ended", "08006")))
    assert (found.kind, found.text, found.code) == ("crashed", "the runner ended", "08006")
