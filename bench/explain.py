"""How much of an operation's time `rowpath explain` leaves unexplained: keyed reads and scans over nine drivers."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.explain import chosen
from rowpath.cli.plan import plan_for
from rowpath.explain.explain import explained
from rowpath.journal.writer import RunDirectory
from rowpath.model.explanation import Explanation
from rowpath.runners import manifest

MEDIAN_BAR, SHARE_BAR = 0.03, 0.9
TIMEOUT_S = 120.0
LANGUAGES = {  # whose drivers the experiment `languages` has
    "postgresql": manifest.languages(),
    "mariadb": ("c", "java"),
}
PHASES = ("keyed.read", "scan.read")


def measure(bench: Bench) -> Iterator[Figure]:
    """Of each path and phase what is unexplained; the share that is below 5 %, and the median."""
    found: list[Explanation] = []
    failures: list[str] = []
    for engine, languages in LANGUAGES.items():
        for phase in PHASES:
            filters = {"engine": (engine,), "language": languages, "placement": ("same",)}
            plan = chosen(plan_for("languages", filters, seed=1), [phase])
            directory = RunDirectory(bench.directory / f"{engine}-{phase}")
            directory.create()
            found += explained(plan, directory, lambda _text: None, failures.append, TIMEOUT_S)
    for failure in failures:
        yield Figure("explain", failure, "", False)
    shares = [abs(one.unexplained_ns) / one.operation_ns for one in found]
    for one in found:
        rest = one.unexplained_ns / one.operation_ns
        yield Figure(f"{one.name}, {one.phase}: not explained", f"{rest:+.1%}", "", None)
    closing = sum(one.adds_up for one in found)
    yield Figure(
        "paths and phases of which at most 5 % is not explained",
        f"{closing} of {len(shares)}",
        f"at least {SHARE_BAR:.0%}",
        closing >= SHARE_BAR * len(shares),
    )
    middle = statistics.median(shares)
    yield Figure("not explained, median", f"{middle:.1%}", f"at most {MEDIAN_BAR:.0%}", middle <= MEDIAN_BAR)
