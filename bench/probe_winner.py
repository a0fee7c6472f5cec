"""The probe against an exhaustive sweep of all settings of all drivers: PostgreSQL, a table of 18 types.

The sweep gives every candidate that delivers full sets, with the same rests after blocks. Bars: the probe's winner
takes at most 1.05 of the sweep's best, by the sweep's own figures, and the probe at most a fifth of the sweep's time.
What each found is printed beside that, language by language.

ROWPATH_BENCH_PROBE_DRIVERS=libpq,psycopg keeps some drivers, ROWPATH_BENCH_PROBE_ROWS=2000 reads fewer rows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table
from typing_extensions import override

from bench.figure import Figure
from rowpath import text
from rowpath.analysis.chapters.probe import CHAPTER
from rowpath.analysis.model import Analysis, RankedPath
from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.model.path import AccessPath
from rowpath.model.progress import Silent
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.throttled_worker import Budget
from rowpath.planning.plan import PlannedPath
from rowpath.probe.command import probe
from rowpath.probe.full_sets import FULL_SETS, FullSetsBudget
from rowpath.probe.run import ProbeRun
from rowpath.probe.search import Search
from rowpath.probe.successive_halving import batches
from rowpath.runners import manifest
from rowpath.runners.process import Runner
from rowpath.runners.protocol import Open, OpenReply, RunReply, RunStatements

STORED_ROWS = 200_000
READ_ROWS = int(os.environ.get("ROWPATH_BENCH_PROBE_ROWS", "20000"))
DRIVERS = tuple(name for name in os.environ.get("ROWPATH_BENCH_PROBE_DRIVERS", "").split(",") if name)
ROUNDS = 4
NO_END_S = 1e6
FILL_TIMEOUT_S = 300.0
BEST, TIME = 1.05, 0.2
TABLE = (
    "CREATE TYPE mood AS ENUM ('glad', 'calm', 'grim')",
    "CREATE DOMAIN percentage AS int CHECK (VALUE BETWEEN 0 AND 100)",
    f"""CREATE TABLE reference AS SELECT g::bigint AS id, (g % 1000)::int AS amount,
timestamptz '2026-01-01' + g * interval '1 second' AS at, (g * 7 % 50000000) / 100.0 AS price,
CASE WHEN g % 7 = 0 THEN NULL ELSE 'row ' || g || CASE WHEN g % 5 = 0 THEN ' 🚀' ELSE '' END END AS name,
ARRAY['tag ' || g % 10, 'tag ' || g % 3] AS tags, jsonb_build_object('n', g, 'half', g % 2) AS doc,
(ENUM_RANGE(NULL::mood))[1 + g % 3] AS mood, '10.0.0.0'::inet + g AS address, int4range(g, g + 10) AS span,
point(g, g / 2.0) AS place, make_interval(days => g % 100, secs => g % 60) AS duration,
decode(md5(g::text), 'hex') AS hash, (g % 101)::percentage AS share, g % 2 = 0 AS even,
date '1992-01-01' + g % 2400 AS day, (g / 3.0)::real AS third, md5(g::text)::uuid AS uid
FROM generate_series(1, {STORED_ROWS}) AS g""",
    "ALTER TABLE reference ADD PRIMARY KEY (id)",
    "ANALYZE reference",
)
QUERY = f"SELECT * FROM reference WHERE id <= {READ_ROWS}"


class EveryTry(Search):
    """Tries everything."""

    @override
    def why_not(self, planned: PlannedPath) -> str:
        """No reason suffices."""
        return ""


class Sweep(ProbeRun):
    """Full sets of everything that delivers."""

    search_kind = EveryTry

    @override
    def go_through(self, search: Search) -> None:
        """Every candidate is tried, then measured in full: none is left behind."""
        search.try_all()
        self.journal_groups(search)
        search.worker_pool.stop()
        sets = batches(search.alive(), self.options.connections)
        planned = [tuple(search.tried[path_id].planned for path_id in each) for each in sets]
        budget = FullSetsBudget(len(planned), FULL_SETS, ROUNDS)
        self.full_sets(search.work, planned, budget).run_sets(FULL_SETS, Budget(NO_END_S))


def measure(bench: Bench) -> Iterator[Figure]:
    """The probe's winner in the sweep's ranking; both times."""
    server = bench.instance("postgresql", "server")
    fill(server)
    options = server.options(AccessPath.of({"engine": "postgresql", "transport": "tcp"}))
    os.environ["PGPASSWORD"] = options["password"]
    url = f"postgresql://{options['user']}@127.0.0.1:{options['port']}/{options['database']}"
    wanted = ProbeOptions(url, query=QUERY, drivers=DRIVERS)
    found, found_s = timed(wanted, bench.directory / "probe")
    swept, swept_s = timed(replace(wanted, budget_s=NO_END_S), bench.directory / "sweep", Sweep)
    show(found, swept)
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


def fill(server: Instance) -> None:
    """Make the table. Errors: RunnerFailure."""
    adapter = manifest.adapter_of("c", "libpq")
    path = AccessPath.of({"engine": "postgresql", "transport": "tcp", "language": "c", "driver": "libpq"})
    version = adapter.versions[0]
    manifest.build([(adapter, version)])
    runner = Runner.start(manifest.command(adapter, version, path), ())
    try:
        runner.hello(adapter.driver)
        runner.request(Open, FILL_TIMEOUT_S, options=path.as_dict() | server.options(path), expect=OpenReply)
        runner.request(RunStatements, FILL_TIMEOUT_S, statements=list(TABLE), expect=RunReply)
    finally:
        runner.stop()


def show(found: Analysis, swept: Analysis) -> None:
    """What each found to be the fastest of each language, on stderr."""
    table = Table(title=f"{READ_ROWS:,} of {STORED_ROWS:,} rows", title_justify="left")
    for heading in ("language", "found by the probe", "time", "found by the sweep", "time", "sweep's ratio"):
        table.add_column(heading, overflow="fold")
    costs = {row.path_id: row.cost_ns for row in rows(swept)}
    ids = {name: path_id for path_id, name in found.names.items()}
    by_sweep, by_probe = CHAPTER.of(swept), CHAPTER.of(found)
    best = {each.language: each for each in by_sweep.languages} if by_sweep else {}
    for each in by_probe.languages if by_probe else ():
        other, cost_ns = best.get(each.language), costs.get(ids.get(each.name, ""))
        ratio = cost_ns / other.time_ns if other and cost_ns else None
        swept_best = (other.name, text.duration(other.time_ns)) if other else ("", "")
        table.add_row(each.language, each.name, text.duration(each.time_ns), *swept_best, text.ratio(ratio))
    Console(stderr=True, width=160).print(table)


def timed(options: ProbeOptions, directory: Path, kind: type[ProbeRun] = ProbeRun) -> tuple[Analysis, float]:
    """The outcome, and how long it took once everything was built."""
    began_s = time.monotonic()
    _outcome, analysis = probe(replace(options, directory=directory, seed=1), Silent(), kind)
    return analysis, time.monotonic() - began_s


def rows(analysis: Analysis) -> list[RankedPath]:
    """The ranked paths, fastest first. RowpathError when there are none."""
    for ranking in analysis.rankings:
        if ranking.regime == "steady" and (found := [row for row in ranking.rows if row.rank]):
            return found
    raise RowpathError("no path was ranked")
