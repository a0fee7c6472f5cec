"""`hosts.toml`: read and checked; every mistake is named with its line."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from pathlib import Path

from rowpath.errors import UsageError
from rowpath.model.hosts import HERE, SCHEMA_VERSION, Host, HostsFile, cpu_list
from rowpath.toml_file import Location, decode_with_text, line_of

NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
RESERVED = (HERE, "none", "controller")
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


def read(file: Path) -> HostsFile:
    """The hosts of a file; UsageError with file and line for every mistake."""
    try:
        decoded, text = decode_with_text(file, HostsFile)
    except UsageError as error:
        hint = HINT if not file.is_file() else error.hint
        raise UsageError(error.message, hint) from error
    hosts: HostsFile = decoded
    found: list[tuple[str, str]] = []
    for location, mistake, hint in _mistakes(hosts):
        line = line_of(text, location)
        found.append((f"{file}:{line}: {mistake}" if line else f"{file}: {mistake}", hint))
    if found:
        raise UsageError("\n       ".join(mistake for mistake, _hint in found), found[0][1])
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
    if not hosts.host:
        yield (), "there is no [[host]]", HINT
    names: set[str] = set()
    addresses: set[str] = {hosts.cluster.controller} - {""}
    for position, host in enumerate(hosts.host):
        for key, mistake, hint in _mistakes_of(host, names, addresses):
            yield ("host", position, *key), mistake, hint
        names.add(host.name)
        addresses.add(host.address)
    for role in ("client", "server"):
        if hosts.host and not any(role in host.roles for host in hosts.host):
            yield ("host", 0, "roles"), f"no host has the role '{role}'", 'roles = ["client", "server"]'


def _mistakes_of(host: Host, names: set[str], addresses: set[str]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    if not NAME.fullmatch(host.name) or host.name in RESERVED:
        what = f"invalid name '{host.name}': expected small letters, digits and '-', and not {', '.join(RESERVED)}"
        yield ("name",), what, 'name = "app1"'
    if host.name in names:
        yield ("name",), f"two hosts are called '{host.name}'", "give each its own name"
    if not is_address(host.address):
        yield ("address",), _no_address(host.address), 'address = "10.0.0.10"'
    if host.address in addresses:
        yield ("address",), f"the address {host.address} is used twice", "give each host an address of its own"
    if not host.roles:
        yield ("roles",), f"host '{host.name}' has no role", 'roles = ["client"]'
    if host.ssh and host.command:
        yield ("command",), f"host '{host.name}' has both ssh and command", "remove one of them"
    try:
        cpu_list(host.helpers)
    except ValueError:
        yield ("helpers",), f"invalid helpers '{host.helpers}': expected CPU numbers", 'helpers = "0" or "0-1"'


def is_address(text: str) -> bool:
    """Whether it is an IPv4 address in numbers."""
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _no_address(text: str) -> str:
    return f"invalid address '{text}': expected an IPv4 address in numbers"
