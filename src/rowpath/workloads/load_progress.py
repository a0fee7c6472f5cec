"""How far the making and loading of tables has come: reported by the code that does it, shown by any watcher."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
EACH_ROWS = 10_000
Watcher = Callable[[str, int, int], None]  # what is done, rows done, rows in all

_watchers: list[Watcher] = []


@contextlib.contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Calls `watcher` with every report inside the body."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def report(what: str, done: int, total: int) -> None:
    """This many rows of `total` are done; costs nothing when no one watches."""
    for watcher in _watchers:
        watcher(what, done, total)


@contextlib.contextmanager
def reported(what: str, total: int) -> Iterator[None]:
    """Reports the beginning and the end of what the body does in one go."""
    report(what, 0, total)
    yield
    report(what, total, total)


def counted(what: str, rows: Iterable[T], total: int) -> Iterator[T]:
    """The same rows, reported as they are taken."""
    for done, row in enumerate(rows):
        if done % EACH_ROWS == 0:
            report(what, done, total)
        yield row
    report(what, total, total)
