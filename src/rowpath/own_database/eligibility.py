"""Whether a driver can serve a target: its encryption, its certificates, its transport, its hosts."""

from __future__ import annotations

from collections.abc import Collection

from rowpath.model.path import CHECKED
from rowpath.own_database.tls import SYSTEM
from rowpath.runners.manifest import Adapter

# What a driver can check → why it does not serve who wants another check.
UNCHECKED = {
    (): "does not check the server's certificate here",
    ("verify-ca",): "does not check the host's name here",
    ("verify-full",): "checks a certificate only together with the host's name here",
}


def ineligibility(
    adapter: Adapter, tls: str, must_read_only: bool, transport: str = "none", demands: Collection[str] = ()
) -> tuple[str, str]:
    """Why the adapter cannot serve such a target, and what would help; empty when it can.

    `demands`: what else the target's encryption demands (`Tls.demands`).
    """
    if must_read_only and not adapter.opens_read_only and not adapter.floor:
        return f"{adapter.driver} cannot open a file read-only", "remove --in-place"
    if tls == "on" and "on" not in adapter.coordinates.get("tls", ()):
        why = f"the URL requires TLS, which {adapter.driver} does not support here"
        return why, "sslmode=disable, if that is acceptable"
    if "authorities" in demands and SYSTEM in adapter.certificates:
        why = f"{adapter.driver} trusts this machine's authorities too, whichever the URL names"
        return why, "name this machine's authorities, where one of them signed the server's certificate"
    if tls in CHECKED and tls not in adapter.certificates:
        return f"{adapter.driver} {UNCHECKED[tuple(set(CHECKED) & set(adapter.certificates))]}", "rowpath list drivers"
    if "client" in demands and "client" not in adapter.certificates:
        return f"{adapter.driver} sends no client certificate here", "rowpath list drivers"
    if transport == "unix" and "unix" not in adapter.coordinates.get("transport", ()):
        return f"{adapter.driver} reaches no server through a Unix socket here", "name the server's host in the URL"
    return "", ""


def hosts_refusal(adapter: Adapter, attribute: str) -> tuple[str, str]:
    """Why the adapter's driver cannot take several hosts with that attribute, and what would help; empty if it can."""
    if not attribute or adapter.floor or attribute in adapter.several_hosts:
        return "", ""
    if adapter.several_hosts:
        return f"{adapter.driver} cannot choose a host that is {attribute}", "name one host in the URL"
    return f"{adapter.driver} takes one host, the URL names several", "name one host in the URL"
