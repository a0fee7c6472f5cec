"""15: a driver that never reads the values is caught by touch, one that answers from a cache by the counters."""

from __future__ import annotations

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.engines import ENGINES


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """An honest path and the two cheats, through the real schedule."""
    engine = ENGINES["postgresql"].availability()
    if "python" not in bench.languages() or not engine.ok:
        return [Verdict(None, "lazy driver", engine.reason or "the Python runner is missing", engine.remedy)]
    honest = bench.path("python", "psycopg", "keyed.read", name="honest", transport="tcp", durability="full")
    bench.build(honest)
    paths = [honest, bench.cheat(honest, "lazy"), bench.cheat(honest, "cached")]
    analysis, _ = bench.run(paths, "keyed.read", sets=2, rounds=5, warm_cap_s=0.5)
    verdicts = []
    for name, expected in (("honest", True), ("lazy", False), ("cached", False)):
        ranked = any(row.name == name and row.rank > 0 for ranking in analysis.rankings for row in ranking.rows)
        verdicts.append(Verdict.either(f"the {name} driver", ranked, expected, ("ranked", "not ranked")))
    for name, finding in (("lazy", "values-not-read"), ("cached", "round-trips-not-as-declared")):
        raised = any(found.id == finding and name in found.paths for found in analysis.findings)
        verdicts.append(Verdict.either(f"the {name} driver: the finding {finding}", raised))
    return verdicts
