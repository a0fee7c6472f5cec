"""The number of connections that `rowpath probe --clients` finds against a full sweep of 1 to 32: keyed reads.

The sweep gives every size six blocks, as long as those of the search and in random order, with the same rests. Bars:
the size found is one that the sweep cannot tell from its best, by what its own blocks of one size differ by, and the
search takes at most a fifth of the sweep's time. The server is ours: nothing stops when it slows down.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from typing_extensions import override

from bench.figure import Figure
from bench.probe_winner import fill
from rowpath.analysis.chapters.sizing import CHAPTER, Sizing, headline
from rowpath.checks.selftest.bench import Bench
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.model.path import AccessPath
from rowpath.model.progress import Silent
from rowpath.own_database.question import ProbeOptions
from rowpath.probe.command import probe
from rowpath.probe.sentinel import Sentinel
from rowpath.probe.sizes import SizeSearch
from rowpath.probe.sizing import SizingRun

CALLERS = 32
RATES = {"closed": 0.0, "poisson": 2000.0}
QUERY = "SELECT * FROM reference WHERE id = ?"
BLOCKS = 6
NO_END_S = 1e6
TIME = 0.2


class Unwatched(Sentinel):
    """Of a server of ours."""

    @override
    def too_long(self, now: Snapshot) -> bool:
        """Never."""
        return False


class EverySize(SizeSearch):
    """Every size in each of six rounds."""

    @override
    def next_sizes(self) -> list[int]:
        """All of them."""
        return list(range(1, self.most + 1)) if len(self.blocks) < BLOCKS * self.most else []


class Searched(SizingRun):
    """The search as users have it, but that nothing stops it."""

    sentinel_kind = Unwatched


class Swept(Searched):
    """A full sweep."""

    search_kind = EverySize

    @override
    def block_s(self, execution_s: float) -> float:
        """As long as in the search; from then on there is no end."""
        seconds = super().block_s(execution_s)
        self.budget.total_s = NO_END_S
        return seconds


def measure(bench: Bench) -> Iterator[Figure]:
    """The size found among the sweep's best, and both times, for callers that ask again and for a rate."""
    server = bench.instance("postgresql", "server")
    fill(server)
    options = server.options(AccessPath.of({"engine": "postgresql", "transport": "tcp"}))
    os.environ["PGPASSWORD"] = options["password"]
    url = f"postgresql://{options['user']}@127.0.0.1:{options['port']}/{options['database']}"
    keys = bench.directory / "keys.csv"
    keys.write_text("id:bigint\n" + "".join(f"{key * 199 + 1}\n" for key in range(1000)), encoding="utf-8")
    wanted = ProbeOptions(
        url, query=QUERY, params_file=keys, clients=CALLERS, connections=CALLERS + 1, yes=True, seed=1
    )
    for name, rate_per_s in RATES.items():
        asked = replace(wanted, rate_per_s=rate_per_s)
        found, found_s = timed(asked, bench.directory / f"search-{name}", Searched)
        swept, swept_s = timed(asked, bench.directory / f"sweep-{name}", Swept)
        good = [one.size for one in swept.choice.sizes if one.kept_up and not one.behind]
        yield Figure(
            f"{name}: {headline(found)}; best of the sweep {swept.choice.best}",
            f"{found.choice.found}",
            f"one of {', '.join(map(str, good))}",
            found.choice.found in good,
        )
        share = found_s / swept_s
        yield Figure(f"{name}: the search's time", f"{found_s:.0f} s of {swept_s:.0f} s", f"≤ {TIME}", share <= TIME)


def timed(options: ProbeOptions, directory: Path, kind: type[SizingRun]) -> tuple[Sizing, float]:
    """What was found, and how long it took."""
    began_s = time.monotonic()
    _outcome, analysis = probe(replace(options, directory=directory), Silent(), sizing_kind=kind)
    found = CHAPTER.of(analysis)
    if found is None:
        raise RowpathError("nothing was sized")
    return found, time.monotonic() - began_s
