"""The host that is measured, where a URL leaves a choice: several hosts, or a name with several addresses."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Callable
from dataclasses import replace

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import LOCAL
from rowpath.errors import EnvironmentMissing
from rowpath.own_database.target import Target

CONNECT_S = 10.0  # for each address
PREFER = "prefer-"
Fits = Callable[[Target, str], bool]  # whether a query has a row at that target. Errors: RowpathError


def chosen(target: Target, fits: Fits) -> tuple[Target, tuple[str, ...]]:
    """The target at one host, the first that answers and has the attribute, as libpq does; notes that say which.

    Errors: EnvironmentMissing where none does, RowpathError where one answers and refuses the login.
    """
    if not target.hosts and not target.attribute:
        here, note, _why = _answering(target, must=False)
        return here, note
    wanted, query = target.attribute, ENGINES[target.engine].probe.options.attributes.get(target.attribute, "")
    hosts = target.hosts or ((target.host or target.socket, target.port),)
    passed: list[str] = []
    others: list[tuple[int, Target]] = []
    for number, (host, port) in enumerate(hosts, 1):
        here, _note, why = _answering(target.at(host, port), must=True)
        if not why and query and not fits(here, query):
            why = f"is not {wanted.removeprefix(PREFER)}"
            others.append((number, here))
        if not why:
            return here, _said(number, len(hosts), here, passed)
        passed.append(f"{_place(host, port)} {why}")
    if wanted.startswith(PREFER) and others:
        number, here = others[0]
        return here, _said(number, len(hosts), here, passed)
    raise EnvironmentMissing(
        f"no host of {target.shown} {'fits' if query else 'answers'}: {'; '.join(passed)}",
        "start one of the hosts, or name another" if not others else "target_session_attrs=any takes the first",
    )


def _said(number: int, count: int, here: Target, passed: list[str]) -> tuple[str, ...]:
    if count == 1:
        return ()
    why = f": {'; '.join(passed)}" if passed else ""
    return (f"host {number} of {count}, {_place(here.host or here.socket, here.port)}, is measured{why}",)


def _place(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _answering(target: Target, *, must: bool) -> tuple[Target, tuple[str, ...], str]:
    """The target, a note, and why it does not answer.

    Drivers disagree about `localhost`: some try only its first address, some a socket of their own. Where it matters
    all get the address that answers. `must`: a host that does not answer is not left to the drivers.
    """
    local = target.host in LOCAL and target.host != ""
    if not target.host or not (local or must):
        return target, (), _socket_refusal(target) if must else ""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except OSError as error:
        return target, (), f"is unknown: {error.strerror}"
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    refused: list[str] = []
    for address in addresses:
        if why := refusal(address, target.port):
            refused.append(f"{address} {why}")
            continue
        if not local or (len(addresses) == 1 and not ENGINES[target.engine].probe.local_name_is_socket):
            return target, (), ""
        if target.tls == "verify-full":
            return target, (), ""  # the name is what the certificate is compared with
        note = (f"localhost is {address}: {'; '.join(refused)}",) if refused else ()
        return replace(target, host=address), note, ""
    if must:
        return target, (), "; ".join(one.partition(" ")[2] for one in refused[:1])
    what = f"cannot connect to {target.shown}: {'; '.join(refused)}"
    raise EnvironmentMissing(what, "check that the server runs, host and port")


def refusal(address: str, port: int) -> str:
    """Why nothing answers at that address; empty where something does."""
    try:
        socket.create_connection((address, port), CONNECT_S).close()
    except TimeoutError:
        return f"did not answer in {CONNECT_S:.0f} s"
    except OSError as error:
        return "refused the connection" if error.errno == errno.ECONNREFUSED else f"failed: {error.strerror}"
    return ""


def _socket_refusal(target: Target) -> str:
    wire = ENGINES[target.engine].wire
    if wire is None or not target.socket:
        return ""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(CONNECT_S)
            client.connect(str(wire.named_socket(target.socket, target.port)))
    except OSError as error:
        return f"refused the connection: {error.strerror}"
    return ""


def where_resolved(name: str, from_host: str) -> tuple[str, ...]:
    """A note on which machine the URL's host is on the host that asks: the same name may be another machine there.

    None where the name is an address, or this machine asks.
    """
    if not name or not from_host:
        return ()
    try:
        addresses = list(dict.fromkeys(str(info[4][0]) for info in socket.getaddrinfo(name, 0)))
        loopback = all(ipaddress.ip_address(address).is_loopback for address in addresses)
    except (OSError, ValueError):  # connecting will fail, and say why
        return ()
    if loopback:
        return (f"{name} of the URL is host {from_host} itself",)
    return () if addresses == [name] else (f"host {from_host} resolved {name} to {', '.join(addresses)}",)
