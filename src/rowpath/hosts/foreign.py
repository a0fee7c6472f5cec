"""A Ray cluster that others brought up: what joining it needs, and whether its head lives. It is never ended."""

from __future__ import annotations

import hashlib
import itertools
import os
import socket
from pathlib import Path

from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts import cluster, hosts_file
from rowpath.hosts.hosts_file import Source
from rowpath.model.hosts import ClusterTable

HEAD_TIMEOUT_S = 3.0
SECRETS = "docs/hosts.md, section 'An existing cluster'"


def state(source: Source) -> cluster.ClusterState:
    """What is known of the cluster before it is joined: no hosts yet. Errors: EnvironmentMissing, UsageError."""
    hosts = hosts_file.of(source)
    address, _, port = hosts.cluster.address.rpartition(":")
    controller = hosts.cluster.controller or cluster.address_towards(address)
    name = f"foreign-{hashlib.sha256(hosts.cluster.address.encode()).hexdigest()[:12]}"
    return cluster.ClusterState(name, str(source), controller, int(port), [], hosts, head=address)


def environment(table: ClusterTable) -> dict[str, str]:
    """What Ray needs to join: what the file names, else what the environment has. Errors: EnvironmentMissing."""
    added = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_gcs_rpc_server_reconnect_timeout_s": "60"}
    if table.token:
        added |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": _file(table.token)}
    if table.authority:
        added |= {"RAY_USE_TLS": "1", "RAY_TLS_CA_CERT": _file(table.authority)}
        added |= {"RAY_TLS_SERVER_CERT": _file(table.certificate), "RAY_TLS_SERVER_KEY": _file(table.key)}
    known = os.environ | added
    lacks = [] if known.get("RAY_AUTH_MODE") == "token" else ["a token (RAY_AUTH_MODE=token)"]
    lacks += [] if known.get("RAY_USE_TLS") == "1" else ["TLS (RAY_USE_TLS=1)"]
    if lacks and not table.allow_open:
        what = f"the cluster {table.address} would be joined without {' and without '.join(lacks)}"
        hint = f"{SECRETS}; or write allow_open = true under [cluster] of a hosts file"
        raise EnvironmentMissing(f"{what}: anyone who reaches its ports could run programs as you", hint)
    return added


def _file(name: str) -> str:
    file = Path(name).expanduser().resolve()
    if not file.is_file():
        raise EnvironmentMissing(f"no file {name or '(none)'} to join the cluster with", SECRETS)
    return str(file)


def head_lives(state: cluster.ClusterState) -> bool:
    """Whether something answers where the head is."""
    try:
        socket.create_connection((state.head, state.port), HEAD_TIMEOUT_S).close()
    except OSError:
        return False
    return True


def start_command(state: cluster.ClusterState, name: str) -> str:
    """What has the node of a host join again; its owner runs it, there."""
    host = state.hosts.named(name)
    labels = {"host": name, "roles": ".".join(host.roles), "address": host.address}
    labels |= {"helpers": host.helpers.replace(",", ".")} if host.helpers else {}
    shown = ",".join(f"{hosts_file.PREFIX}{key}={value}" for key, value in labels.items())
    return f'ray start --address={state.head}:{state.port} --labels "{shown}"'


def cannot_join(state: cluster.ClusterState, said: str) -> RowpathError:
    """What Ray's words mean when it cannot join."""
    where = f"{state.head}:{state.port}"
    words = " ".join(said.split())
    if "ersion mismatch" in words:
        cluster_has, _, ours = words.partition("This process")
        what = f"the cluster {where} has a different Ray or Python:{_versions(cluster_has)}; here:{_versions(ours)}"
        return EnvironmentMissing(what, "start the cluster with this machine's Ray and Python: rowpath hosts setup")
    if "Failed to connect" in words:
        words = f"this machine, {state.controller}, is not one of its nodes, or the token or certificates are wrong"
    hint = f"ray start --address={where} --node-ip-address={state.controller}; {SECRETS}"
    return EnvironmentMissing(f"cannot join the cluster {where}: {words[:300]}", hint)


def no_agent(lost: HostLost) -> EnvironmentMissing:
    """Why a host that was just found has no agent."""
    hint = "Ray's Python there must find Rowpath and its dependencies: PYTHONPATH=/path/rowpath/src ray start …"
    return EnvironmentMissing(f"the agent of host '{lost.host}' did not start: {lost.text}", hint)


def _versions(words: str) -> str:
    pairs = (pair for pair in itertools.pairwise(words.split()) if pair[0] in ("Ray:", "Python:"))
    return ",".join(f" {name.rstrip(':')} {value}" for name, value in pairs)
