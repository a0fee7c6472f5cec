"""`hosts.toml`: read and checked; every mistake is named with its line."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast, get_args

from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.model.hosts import HERE, SCHEMA_VERSION, ClusterTable, Host, HostsFile, Role, cpu_list
from rowpath.toml_file import Location, decode_with_text, line_of

NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
RESERVED = (HERE, "none", "controller")
ROLES: tuple[Role, ...] = get_args(Role)
PREFIX = "rowpath-"  # of a node's labels; values are letters, digits, '-', '_' and '.'
LABEL = f"{PREFIX}host"
LABELS_HINT = 'ray start … --labels "rowpath-host=db,rowpath-roles=client.load"'
Source = Path | str  # a file of hosts, or `ADDRESS:PORT` of a cluster that others brought up
HINT = "rowpath hosts example > hosts.toml, then write your own hosts into it"
EXAMPLE = """\
schema_version = 1

[[host]]
name = "db"
address = "10.0.0.10"           # in the network to be measured
ssh = "me@db.example"
rowpath = "/home/me/rowpath/rowpath"
roles = ["server"]
helpers = "0"                   # CPUs of what joins the hosts; measured work gets the others

[[host]]
name = "app1"
address = "10.0.0.21"
ssh = "me@app1.example"
rowpath = "/home/me/rowpath/rowpath"
roles = ["client"]
helpers = "0"
"""


def of(source: Source) -> HostsFile:
    """The hosts of a file, or of the cluster with that address. Errors: UsageError."""
    if isinstance(source, Path):
        return read(source)
    hosts = HostsFile(SCHEMA_VERSION, cluster=ClusterTable(address=source))
    for _location, mistake, _hint in _mistakes_of_joining(hosts):
        raise UsageError(f"--cluster: {mistake}", "--cluster 10.0.0.5:6379")
    return hosts


def of_labels(cluster: ClusterTable, nodes: Iterable[tuple[str, Mapping[str, str]]]) -> HostsFile:
    """The hosts that labels of nodes name; each node's own address beside its labels. Errors: EnvironmentMissing."""
    named: list[Host] = []
    for address, labels in nodes:
        if name := labels.get(LABEL):
            roles = tuple(filter(None, labels.get(f"{PREFIX}roles", "").split(".")))
            if wrong := [role for role in roles if role not in ROLES]:
                what = f"unknown role '{wrong[0]}' of host '{name}': expected {', '.join(ROLES)}"
                raise EnvironmentMissing(what, LABELS_HINT)
            helpers = labels.get(f"{PREFIX}helpers", "").replace(".", ",")
            own = labels.get(f"{PREFIX}address", address)
            named.append(Host(name, own, cast(tuple[Role, ...], roles), helpers=helpers))
    if not named:
        raise EnvironmentMissing(f"no node of the cluster {cluster.address} has a label {LABEL}", LABELS_HINT)
    hosts = HostsFile(SCHEMA_VERSION, tuple(sorted(named, key=lambda host: host.name)), cluster)
    for location, mistake, _hint in _mistakes_of_hosts(hosts):
        node = f"host '{hosts.host[location[1]].name}': " if len(location) > 1 and isinstance(location[1], int) else ""
        raise EnvironmentMissing(f"the cluster's labels: {node}{mistake}", LABELS_HINT)
    return hosts


def read(file: Path) -> HostsFile:
    """The hosts of a file; UsageError with file and line for every mistake."""
    try:
        decoded, text = decode_with_text(file, HostsFile)
    except UsageError as error:
        hint = HINT if not file.is_file() else error.hint
        raise UsageError(error.message, hint) from error
    hosts: HostsFile = decoded
    mistakes: list[tuple[str, str]] = []
    for location, mistake, hint in _mistakes(hosts):
        line = line_of(text, location)
        mistakes.append((f"{file}:{line}: {mistake}" if line else f"{file}: {mistake}", hint))
    if mistakes:
        raise UsageError("\n       ".join(mistake for mistake, _hint in mistakes), mistakes[0][1])
    return hosts


def _mistakes(hosts: HostsFile) -> Iterator[tuple[Location, str, str]]:
    """Where, what is wrong, and what to write instead."""
    if hosts.schema_version != SCHEMA_VERSION:
        mistake = f"unknown schema_version {hosts.schema_version}: expected {SCHEMA_VERSION}"
        yield ("schema_version",), mistake, f"write schema_version = {SCHEMA_VERSION}"
    if hosts.cluster.controller and not is_address(hosts.cluster.controller):
        yield ("cluster", "controller"), _no_address(hosts.cluster.controller), 'controller = "10.0.0.1"'
    if not 0 < hosts.cluster.port < 65536:
        yield ("cluster", "port"), f"invalid port {hosts.cluster.port}", "port = 6379"
    if not 0 <= hosts.cluster.wait_s < float("inf"):
        yield ("cluster", "wait_s"), f"invalid wait_s {hosts.cluster.wait_s:g}: expected seconds", "wait_s = 60"
    yield from _mistakes_of_joining(hosts)
    yield from _mistakes_of_hosts(hosts)


def _mistakes_of_hosts(hosts: HostsFile) -> Iterator[tuple[Location, str, str]]:
    names: set[str] = set()
    addresses: set[str] = {hosts.cluster.controller} - {""}
    for position, host in enumerate(hosts.host):
        at: Location = ("host", position)
        if not NAME.fullmatch(host.name) or host.name in RESERVED:
            what = f"invalid name '{host.name}': expected small letters, digits and '-', and not {', '.join(RESERVED)}"
            yield (*at, "name"), what, 'name = "app1"'
        if host.name in names:
            yield (*at, "name"), f"two hosts are called '{host.name}'", "give each its own name"
        if not is_address(host.address):
            yield (*at, "address"), _no_address(host.address), 'address = "10.0.0.10"'
        if host.address in addresses:
            yield (*at, "address"), f"the address {host.address} is used twice", "give each host an address of its own"
        if not host.roles:
            yield (*at, "roles"), f"host '{host.name}' has no role", 'roles = ["client"]'
        if host.ssh and host.command:
            yield (*at, "command"), f"host '{host.name}' has both ssh and command", "remove one of them"
        if host.cache and not host.cache.startswith(("/", "~/")):
            what = f"invalid cache '{host.cache}': expected an absolute path there, or ~/…"
            yield (*at, "cache"), what, 'cache = "/var/cache/rowpath"'
        try:
            cpu_list(host.helpers)
        except ValueError:
            what = f"invalid helpers '{host.helpers}': expected CPU numbers"
            yield (*at, "helpers"), what, 'helpers = "0" or "0-1"'
        names.add(host.name)
        addresses.add(host.address)
    for role in ("client", "server"):
        if hosts.host and not any(role in host.roles for host in hosts.host):
            yield ("host", 0, "roles"), f"no host has the role '{role}'", 'roles = ["client", "server"]'


def _mistakes_of_joining(hosts: HostsFile) -> Iterator[tuple[Location, str, str]]:
    """The mistakes of a file that joins a cluster of others."""
    table = hosts.cluster
    if not table.address:
        if not hosts.host:
            yield (), "no [[host]] is given", HINT
        for key in ("token", "authority", "certificate", "key", "allow_open"):
            if getattr(table, key):
                what = f"{key} is only for an existing cluster, which needs an address"
                yield ("cluster", key), what, 'address = "10.0.0.5:6379"'
        return
    address, _, port = table.address.rpartition(":")
    if not is_address(address) or not port.isdigit() or not 0 < int(port) < 65536:
        what = f"invalid address '{table.address}': expected an IPv4 address and a port"
        yield ("cluster", "address"), what, 'address = "10.0.0.5:6379"'
    if hosts.host:
        yield ("host", 0), "labels of the cluster's nodes name its hosts", "remove [[host]], or address under [cluster]"


def is_address(text: str) -> bool:
    """Whether it is an IPv4 address in numbers."""
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _no_address(text: str) -> str:
    return f"invalid address '{text}': expected an IPv4 address in numbers"
