"""`rowpath` without words: the three things that a person wants, and what runs here; starts and fetches nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from rowpath.cli.options import WILL_RUN

if WILL_RUN:
    from rowpath.engines import ENGINES
    from rowpath.machine import processes
    from rowpath.runners.manifest import availability, every_adapter, language

WANTED = {
    "rowpath run tour": "which path is fastest on this machine, in a few minutes",
    "rowpath probe URL --query SQL": "the fastest path to the rows of your own query; it changes nothing",
    "rowpath compare BASE HEAD": "what became slower or faster between two runs",
}
MORE = "More: rowpath --help, rowpath list experiments, rowpath doctor"


def run(_options: object) -> int:
    """Print it."""
    for line in lines():
        print(line)
    return 0


def lines() -> Iterator[str]:
    """All that it prints."""
    width = max(map(len, WANTED))
    yield from (f"{command:<{width}}  {what}" for command, what in WANTED.items())
    yield ""
    if WILL_RUN:
        yield from _here()
    else:
        yield "The first command installs the Python packages of requirements.lock into .venv, and says so."
    yield MORE


def _here() -> Iterator[str]:
    """The languages and engines that run here, and how many do not."""
    first = {adapter.language: adapter for adapter in every_adapter()}
    asked: list[Callable[[], object]] = [
        *(functools.partial(availability, adapter, adapter.versions[0]) for adapter in first.values()),
        *(engine.availability for engine in ENGINES.values() if engine.name != "null"),
    ]
    processes.side_by_side(asked)  # each answer is kept
    languages = {language(name).title or name: availability(one, one.versions[0]).ok for name, one in first.items()}
    engines = {name: engine.availability().ok for name, engine in ENGINES.items() if name != "null"}
    for what, found in (("languages", languages), ("engines", engines)):
        missing = sum(not ok for ok in found.values())
        more = f"; {missing} more: rowpath doctor says what enables them" if missing else ""
        yield f"Here {what}: {', '.join(name for name, ok in found.items() if ok) or 'none'}{more}"
