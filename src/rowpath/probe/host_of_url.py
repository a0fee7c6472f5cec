"""What a URL's host is on the host that asks: the same name may be another machine there."""

from __future__ import annotations

import ipaddress
import socket


def where_resolved(name: str, from_host: str) -> tuple[str, ...]:
    """A note on which machine the host's name means; none where an address says so itself, or nobody else asks."""
    if not name or not from_host:
        return ()
    try:
        addresses = list(dict.fromkeys(str(each[4][0]) for each in socket.getaddrinfo(name, 0)))
        loopback = all(ipaddress.ip_address(each).is_loopback for each in addresses)
    except (OSError, ValueError):  # connecting will fail, and say why
        return ()
    if loopback:
        return (f"{name} of the URL is host {from_host} itself",)
    return () if addresses == [name] else (f"host {from_host} resolved {name} to {', '.join(addresses)}",)
