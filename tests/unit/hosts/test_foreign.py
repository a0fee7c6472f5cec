"""A cluster that others brought up: what its labels say, what joining it needs, and what Ray's words mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts import cluster, foreign, hosts_file
from rowpath.model.hosts import ClusterTable, HostsFile

ADDRESS = "10.0.0.5:6379"
SETTINGS = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH", "RAY_USE_TLS")
DB = {"rowpath-host": "db", "rowpath-roles": "server"}
APP1 = {"rowpath-host": "app1", "rowpath-roles": "client.load", "rowpath-helpers": "0.2-3"}
MISMATCH = """Version mismatch: The cluster was started with:
    Ray: 2.49.0
    Python: 3.12.1
This process on Ray Client was started with:
    Ray: 2.60.0
    Python: 3.11.7
"""


def _of(*nodes: tuple[str, dict[str, str]]) -> HostsFile:
    return hosts_file.of_labels(ClusterTable(address=ADDRESS), nodes)


def test_labels_name_hosts_roles_interface_and_helpers() -> None:
    hosts = _of(("10.0.0.10", DB), ("10.0.0.5", {}), ("10.0.0.21", APP1 | {"rowpath-address": "10.1.0.21"}))
    assert [(each.name, each.address, each.roles, each.helpers) for each in hosts.host] == [
        ("app1", "10.1.0.21", ("client", "load"), "0,2-3"),
        ("db", "10.0.0.10", ("server",), ""),
    ]


def test_a_node_is_started_again_with_the_labels_that_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "address_towards", lambda _address: "10.0.0.5")
    state = foreign.state(ADDRESS)
    state.hosts = _of(("10.0.0.10", DB), ("10.0.0.21", APP1))
    start, labels = foreign.start_command(state, "app1").split(" --labels ")
    assert start == f"ray start --address={ADDRESS}"
    again = dict(each.split("=") for each in labels.strip('"').split(","))
    assert _of(("10.0.0.10", DB), ("10.0.0.99", again)) == state.hosts


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({}, f"no node of the cluster {ADDRESS} has a label rowpath-host"),
        (DB, "no host has the role 'client'"),
        (DB | {"rowpath-roles": "server.clent"}, "unknown role 'clent' of host 'db'"),
        (DB | {"rowpath-address": "eth0"}, "host 'db': invalid address 'eth0'"),
        (DB | {"rowpath-roles": ""}, "host 'db' has no role"),
    ],
)
def test_labels_that_are_wrong_are_a_sentence(labels: dict[str, str], said: str) -> None:
    with pytest.raises(EnvironmentMissing, match=said):
        _of(("10.0.0.10", labels))


def test_two_nodes_of_one_name_are_a_sentence() -> None:
    with pytest.raises(EnvironmentMissing, match="two hosts are called 'db'"):
        _of(("10.0.0.10", DB), ("10.0.0.11", DB), ("10.0.0.21", APP1))


def test_secrets_come_from_the_file_or_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EnvironmentMissing, match=r"without a token .* and without TLS"):
        foreign.environment(ClusterTable(address=ADDRESS))
    assert "RAY_AUTH_MODE" not in foreign.environment(ClusterTable(address=ADDRESS, allow_open=True))
    files = {name: tmp_path / name for name in ("token", "authority", "certificate", "key")}
    for file in files.values():
        file.write_text("secret")
    table = ClusterTable(address=ADDRESS, **{name: str(file) for name, file in files.items()})
    found = foreign.environment(table)
    assert found["RAY_AUTH_TOKEN_PATH"] == str(files["token"])
    assert found["RAY_TLS_SERVER_KEY"] == str(files["key"])
    files["key"].unlink()
    with pytest.raises(EnvironmentMissing, match=f"no file {files['key']}"):
        foreign.environment(table)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    with pytest.raises(EnvironmentMissing, match=r"without TLS \(RAY_USE_TLS=1\): "):
        foreign.environment(ClusterTable(address=ADDRESS))
    monkeypatch.setenv("RAY_USE_TLS", "1")
    assert "RAY_USE_TLS" not in foreign.environment(ClusterTable(address=ADDRESS))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (MISMATCH, "a different Ray or Python: Ray 2.49.0, Python 3.12.1; here: Ray 2.60.0, Python 3.11.7"),
        (f"Failed to connect to Ray cluster at {ADDRESS}", "this machine, 10.0.0.1, is not one of its nodes"),
        ("something else", "cannot join the cluster 10.0.0.5:6379: something else"),
    ],
)
def test_what_ray_says_is_a_sentence(words: str, said: str) -> None:
    hosts = HostsFile(1, cluster=ClusterTable(address=ADDRESS))
    state = cluster.ClusterState("foreign", ADDRESS, "10.0.0.1", 6379, [], hosts, head="10.0.0.5")
    assert said in foreign.cannot_join(state, words).message


def test_a_host_without_rowpath_is_a_sentence() -> None:
    error = foreign.no_agent(HostLost("db", "No module named 'rowpath' there"))
    assert error.message == "the agent of host 'db' did not start: No module named 'rowpath' there"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[cluster]\naddress = "10.0.0.5"', "invalid address '10.0.0.5'"),
        (f'[cluster]\naddress = "{ADDRESS}"\n[[host]]\nname = "db"\naddress = "10.0.0.1"\nroles = []', "labels of the"),
        (
            '[cluster]\ntoken = "x"\n[[host]]\nname = "db"\naddress = "10.0.0.1"\nroles = ["server"]',
            "token is only for an existing",
        ),
    ],
)
def test_a_mistake_in_a_file_has_its_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text(f"schema_version = 1\n{text}\n")
    with pytest.raises(UsageError, match=said) as error:
        hosts_file.read(file)
    assert "hosts.toml:" in error.value.message


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="--cluster: invalid address 'here'"):
        hosts_file.of("here")
