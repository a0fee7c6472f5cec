"""The probe against an exhaustive sweep of the same candidates: PostgreSQL, rows like TPC-H's orders.

The sweep gives every candidate that delivers full sets, with the same rests after blocks. Bars: the probe's winner
takes at most 1.05 of the sweep's best, by the sweep's own figures, and the probe at most a fifth of the sweep's time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from typing_extensions import override

from bench.figure import Figure
from rowpath.analysis.model import Analysis, RankedPath
from rowpath.checks.selftest.bench import Bench
from rowpath.errors import RowpathError
from rowpath.model.path import AccessPath
from rowpath.model.progress import Silent
from rowpath.probe.budget import FULL_SETS, Budget, FullSetsBudget
from rowpath.probe.command import probe
from rowpath.probe.options import ProbeOptions
from rowpath.probe.run import ProbeRun
from rowpath.probe.search import Search
from rowpath.probe.successive_halving import batches

ROWS = 15_000
ROUNDS = 6
WARM_S = 0.3
BUDGET_S = float(os.environ.get("ROWPATH_BENCH_PROBE_S", "60"))
NO_END_S = 1e6
BEST, TIME = 1.05, 0.2
FORM = "fetch=row"
QUERY = f"""SELECT g AS orderkey, g % 15000 AS custkey, chr(79 + g % 2) AS status, (g * 7 % 50000000) / 100.0 AS price,
date '1992-01-01' + g % 2400 AS day, '5-LOW' AS priority, 'Clerk#' || lpad((g % 100)::text, 9, '0') AS clerk,
0 AS ship, md5(g::text) AS remark FROM generate_series(1, {ROWS}) AS g"""


class Sweep(ProbeRun):
    """Full sets of everything that delivers."""

    @override
    def go_through(self, search: Search) -> None:
        """Every candidate is tried, then measured in full: none is left behind."""
        search.budget = Budget(NO_END_S)
        search.try_all()
        self.journal_groups(search)
        search.programs.stop()
        for path_id, tried in search.tried.items():
            if tried.execution_ns and tried.left.startswith("not tried"):
                raise RowpathError(f"the sweep left out {path_id}")
        sets = batches(search.alive(), self.options.connections)
        planned = [tuple(search.tried[path_id].planned for path_id in each) for each in sets]
        budget = FullSetsBudget(len(planned), FULL_SETS, ROUNDS, WARM_S)
        self.full_sets(search.work, planned, budget).run_sets(FULL_SETS, Budget(NO_END_S))


def measure(bench: Bench) -> Iterator[Figure]:
    """The probe's winner in the sweep's ranking; both times."""
    server = bench.instance("postgresql", "server")
    options = server.options(AccessPath.of({"engine": "postgresql", "transport": "tcp"}))
    os.environ["PGPASSWORD"] = options["password"]
    url = f"postgresql://{options['user']}@127.0.0.1:{options['port']}/{options['database']}"
    drivers = tuple(name for name in os.environ.get("ROWPATH_BENCH_PROBE_DRIVERS", "").split(",") if name)
    wanted = ProbeOptions(url, query=QUERY, drivers=drivers, budget_s=BUDGET_S)
    found, found_s = timed(wanted, bench.directory / "probe")
    swept, swept_s = timed(replace(wanted, budget_s=NO_END_S), bench.directory / "sweep", Sweep)
    winner = rows(found)[0]
    ranked = rows(swept)
    place = next((row for row in ranked if row.path_id == winner.path_id), None)
    if place is None or place.ratio is None:
        raise RowpathError(f"the sweep has no figure of {winner.name}")
    yield Figure(
        f"{winner.name}, found by the probe, over {ranked[0].name}, the best of {len(ranked)}",
        f"{place.ratio:.3f} [{place.ratio_low or 0:.3f}, {place.ratio_high or 0:.3f}]",
        f"interval reaches {BEST}",
        (place.ratio_low if place.ratio_low is not None else place.ratio) <= BEST,
    )
    share = found_s / swept_s
    yield Figure("the probe's time over the sweep's", f"{found_s:.0f} s of {swept_s:.0f} s", f"≤ {TIME}", share <= TIME)


def timed(options: ProbeOptions, directory: Path, kind: type[ProbeRun] = ProbeRun) -> tuple[Analysis, float]:
    """The outcome, and how long it took once everything was built."""
    began_s = time.monotonic()
    _outcome, analysis = probe(replace(options, directory=directory, seed=1), Silent(), kind)
    return analysis, time.monotonic() - began_s


def rows(analysis: Analysis) -> list[RankedPath]:
    """The ranked row paths, fastest first. RowpathError when there are none."""
    for ranking in analysis.rankings:
        if ranking.comparison == FORM and ranking.regime == "steady":
            found = [row for row in ranking.rows if row.rank]
            if found:
                return found
    raise RowpathError("no path was ranked")
