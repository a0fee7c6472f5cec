"""Paths over several hosts: on which hosts client and server of a path are, and which paths cannot be apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Protocol

from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL
from rowpath.errors import UsageError
from rowpath.model.experiment import ClientGroupTable, Experiment
from rowpath.model.hosts import HERE, HostsFile, Role
from rowpath.model.path import AccessPath, Dropped
from rowpath.planning.estimate import RATE_SEARCH
from rowpath.runners.manifest import Adapter, is_external
from rowpath.toml_file import suggest

APART = "apart"  # the placement of a path whose client and server are on different hosts
KEYS: dict[str, Role] = {"client_host": "client", "server_host": "server"}
Wanted = Mapping[str, tuple[str, ...]]


class SeveralHosts(Protocol):
    """The hosts of a plan."""

    @property
    def file(self) -> HostsFile:
        """What they are."""

    def unavailable(self, path: AccessPath, loading: bool) -> tuple[str, str]:
        """Why a path cannot run on its hosts (`loading`: and on those in the role), and the remedy; else empty."""


def without(wanted: Wanted) -> dict[str, tuple[str, ...]]:
    """What is wanted of a path beside its hosts; UsageError never."""
    apart = ("placement", (APART,))
    return {key: values for key, values in wanted.items() if key not in KEYS and (key, values) != apart}


def refuse(wanted: Wanted) -> None:
    """UsageError when a host is named in a run that has none."""
    for key in KEYS:
        if any(value != HERE for value in wanted.get(key, ())):
            raise UsageError(f"{key} names a host, but no hosts are given", "rowpath run NAME --hosts hosts.toml")


def spreads(experiment: Experiment) -> bool:
    """Whether clients of a group are spread over hosts."""
    return any(group.over for group in experiment.client_groups)


def together(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """The client groups that are at work together: of each stage, and of the rate search."""
    search = experiment.rate_search
    of_search = {RATE_SEARCH: (search.client_group,)} if search is not None else {}
    return {stage.name: stage.client_groups for stage in experiment.stages} | of_search


def of_group(group: ClientGroupTable, path: AccessPath, hosts: HostsFile) -> tuple[str, ...]:
    """The hosts that have clients of that group of a path on hosts."""
    return hosts.loading if group.over else (path.client_host,)


def check(experiment: Experiment, hosts: HostsFile | None) -> None:
    """UsageError when an experiment needs what cannot be done on these hosts; None: there are none."""
    spread = next((group.name for group in experiment.client_groups if group.over), "")
    if spread and hosts is None:
        what = f"group '{spread}' is spread over hosts, but no hosts are given"
        raise UsageError(what, f"rowpath run {experiment.name} --hosts hosts.toml")
    if spread and hosts is not None and not hosts.loading:
        what = f"group '{spread}' is spread over hosts in the role 'load', and no host has it"
        raise UsageError(what, 'write roles = ["load"] for some hosts')


def cannot_load(experiment: Experiment, path: AccessPath, hosts: HostsFile) -> str:
    """Why clients of the path cannot be spread over the hosts as groups need; empty when they can."""
    if not spreads(experiment):
        return ""
    if path.client_host == "none":
        return "its clients would be spread over hosts, and it is on the controller's machine"
    if not path.served:
        return "clients of several hosts need a server"
    if not ENGINES[path.engine].listens:
        return f"the server of {path.engine} listens only on its own machine"
    if path.transport != "tcp":
        return f"transport {path.get('transport')} does not reach another host"
    if path.server_host in hosts.loading:
        return f"host {path.get('server_host')} has the server, so it cannot be in the role 'load' too"
    return ""


def placed(
    adapter: Adapter, path: AccessPath, selected: Wanted, filters: Wanted, hosts: HostsFile, dropped: list[Dropped]
) -> Iterator[AccessPath]:
    """The path on each of the hosts that are wanted; those that cannot be are dropped with their reasons."""
    wanted = {key: filters.get(key) or selected.get(key) or () for key in KEYS}
    clients = _names("client_host", wanted["client_host"], hosts)
    servers = _names("server_host", wanted["server_host"], hosts)
    if clients == (HERE,) and not wanted["server_host"]:
        servers = clients
    named_unix = "unix" in (*selected.get("transport", ()), *filters.get("transport", ()))
    for client in clients:
        for server in servers if path.served else (client,):
            if client == server == HERE:
                yield path
                continue
            coordinates = dict(path.coordinates) | {"client_host": client}
            coordinates |= {"server_host": server} if path.served else {}
            if client != server:
                coordinates["placement"] = APART
                if path.transport == "unix" and not named_unix:
                    coordinates["transport"] = "tcp"
            there = AccessPath.of(coordinates, path.label)
            if reason := _reason(adapter, there, apart=client != server):
                dropped.append(Dropped(path=there, reason=reason))
            else:
                yield there


def _reason(adapter: Adapter, path: AccessPath, *, apart: bool) -> str:
    """Why the path cannot be on these hosts; empty when it can."""
    engine = ENGINES[path.engine]
    if HERE in (path.client_host, path.server_host):
        return "the controller's machine is not one of the hosts: a path is either on hosts or on this machine"
    if path.link != "none":
        return "links are emulated only on the controller's machine; between hosts there is a real network"
    if path.pooler != "none":
        return "poolers are started only on the controller's machine, not between hosts"
    if path.engine_version == BY_URL:
        return "an external server is not on a host of the hosts file"
    if is_external(adapter) or "/" in path.version:
        return "an adapter or driver of your own is only on the controller's machine"
    if path.ranges != "none" and not path.served:
        return "a file is split into segments only on the controller's machine"
    if apart and path.transport != "tcp":
        return f"transport {path.get('transport')} does not reach another host"
    if apart and not engine.listens:
        return f"the server of {engine.name} listens only on its own machine"
    return ""


def _names(key: str, wanted: tuple[str, ...], hosts: HostsFile) -> tuple[str, ...]:
    """The hosts that these words mean, patterns included; without any the first in the role."""
    role = KEYS[key]
    if not wanted:
        return hosts.in_role(role)[:1]
    names: list[str] = []
    for word in wanted:
        if word == "*":
            names += [host.name for host in hosts.host if role in host.roles]
        elif word == HERE:
            names.append(HERE)
        elif matching := [host.name for host in hosts.host if fnmatchcase(host.name, word)]:
            names += matching
        else:
            raise UsageError(f"unknown host '{word}' in {key}", suggest(word, [host.name for host in hosts.host]))
    return tuple(dict.fromkeys(names))
