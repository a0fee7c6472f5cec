"""Layers in the full sets: each beside the driver that it stands on, its statements counted."""

from __future__ import annotations

from typing import Any

from rowpath.execution.verification_pass import Counting
from rowpath.model.grouping import grouped
from rowpath.model.path import AccessPath
from rowpath.probe.search import Search
from rowpath.probe.successive_halving import batches


def batched(search: Search, members: list[str], room: int) -> list[list[str]]:
    """Sets of at most `room` with the first of all; a layer meets the driver that it stands on in each of its own.

    The floor is in the first set only, so that those of layers have a place more.
    """
    above = grouped((path_id for path_id in members if path_id in search.beneath), search.beneath.__getitem__)
    found = batches([path_id for path_id in members if path_id not in search.beneath], room, search.language)
    for bare, layers in above.items():
        shared = list(dict.fromkeys([found[0][0], bare]))
        each = max(1, search.connections - len(shared))
        found += [[*shared, *layers[at : at + each]] for at in range(0, len(layers), each)]
    return found


def as_counted(path: AccessPath, search: Search) -> AccessPath:
    """The path as the counting proxies take it: of a layer, and of the driver beneath one, they read the statements."""
    if path.id not in {*search.beneath, *search.beneath.values()}:
        return path
    unencrypted = {"tls": "off"} if path.tls == "default" else {}
    return AccessPath.of(path.as_dict() | {"layer": path.layer} | unencrypted)


def statements_of(counting: Counting, operations: int, redact: bool) -> dict[str, Any]:
    """How many statements were sent, and the texts of one operation's, where the proxy reads them."""
    if counting.sent is None or not operations:
        return {}
    texts = counting.sent.texts
    return {"statements": len(texts), "sql": () if redact else tuple(texts[: round(len(texts) / operations)])}
