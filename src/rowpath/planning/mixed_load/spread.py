"""A client group over several hosts: how many clients each has, and their share of the group's rate and schedule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

Name = TypeVar("Name")


@dataclass(frozen=True)
class Share:
    """What one host has of a group; its clients begin at the group's client `first`."""

    clients: int
    first: int
    rate_per_s: float
    seed: int


def shares(clients: int, rate_per_s: float, seed: int, hosts: Iterable[Name]) -> dict[Name, Share]:
    """As even as possible, the first hosts one more; hosts without a client are left out.

    Together they have the schedule of one host: `poisson` seeds each client by its number in the group.
    """
    names = list(hosts)
    found, first = {}, 0
    for number, name in enumerate(names):
        count = clients // len(names) + (number < clients % len(names))
        if count:
            rate = rate_per_s if count == clients else rate_per_s * count / clients
            found[name] = Share(count, first, rate, seed + first)
        first += count
    return found


def later_ns(pacing: str, rate_per_s: float, number: int) -> int:
    """How much later the host of that number begins, so that a group's `fixed` arrivals do not coincide."""
    return round(number * 1e9 / rate_per_s) if pacing == "fixed" else 0
