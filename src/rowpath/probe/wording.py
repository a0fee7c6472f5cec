"""Paths in a user's words: the driver, and what differs from how it ships."""

from __future__ import annotations

from collections.abc import Callable

from rowpath.engines import ENGINES
from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath
from rowpath.probe.candidates import BY_URL_OR_FIXED, shipped

AS_SHIPPED = "as it ships"
Words = dict[str, Callable[[str], str]]
RESULT: Words = {
    "whole": lambda _size: "the whole result at once",
    "single-row": lambda _size: "one row at a time",
    "cursor": lambda size: f"a server-side cursor of {size}",
    "chunked": lambda size: f"chunks of {size}",
    "fetch-size": lambda size: f"a fetch size of {size}",
}
FETCH: Words = {
    "row": lambda _size: "rows",
    "block": lambda size: f"blocks of {size} rows",
    "columnar": lambda _size: "columns",
    "copy": lambda _size: "COPY",
    "get-data": lambda _size: "a call for each value",
}
FORMAT: Words = {"binary": lambda _size: "binary values", "text": lambda _size: "values as text"}
STATEMENT: Words = {
    "prepared": lambda _size: "a prepared statement",
    "bound": lambda _size: "an unprepared statement",
    "text": lambda _size: "a plain statement",
}
WORDS = {"result": RESULT, "fetch": FETCH, "format": FORMAT, "statement": STATEMENT}


def in_words(planned: PlannedPath, keyed: bool = False) -> str:
    """`psycopg with a server-side cursor of 1,000`: the driver, and each setting that is not its own default.

    `keyed`: the query has parameters.
    """
    adapter, path = planned.adapter, planned.path
    keys = [
        key
        for key in adapter.coordinates
        if key not in BY_URL_OR_FIXED and path.get(key) != _default(planned, key, keyed)
    ]
    prepared = ENGINES[path.engine].probe.prepared_settings
    keys += [key for key, values in prepared.items() if path.get(key) not in ("none", values[0])]
    parts = [_setting(path, key) for key in keys]
    if not parts:
        return f"{adapter.driver} {AS_SHIPPED}"
    *first, last = parts
    return f"{adapter.driver} with {', '.join(first)}{' and ' if first else ''}{last}"


def _default(planned: PlannedPath, key: str, keyed: bool) -> str:
    """What the driver does by itself; where its manifest is silent, what it can do only or first."""
    return shipped(planned.adapter, keyed).get(key, planned.adapter.coordinates[key][0])


def _setting(path: AccessPath, key: str) -> str:
    kind, _, size = path.get(key).partition(":")
    words = WORDS.get(key, {}).get(kind)
    if words:
        return words(f"{int(size):,}" if size.isdigit() else size)
    return f"{kind} {key}" if kind.isdigit() else f"{key}={path.get(key)}"
