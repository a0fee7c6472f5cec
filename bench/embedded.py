"""MariaDB in the client's process against its server over a unix socket, both on one core: a prepared keyed read.

Beside it the library called from the process's main thread, which costs more (docs/findings.md, main-thread-stack).
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure
from rowpath.analysis.model import Analysis, RankedPath
from rowpath.checks.selftest.bench import Bench
from rowpath.errors import RowpathError

PHASE = "keyed.read"
SETS = 10
ROUNDS = 10
EMBEDDED, MAIN, SERVER = "embedded", "embedded, main thread", "server, unix"


def measure(bench: Bench) -> Iterator[Figure]:
    """The server and the main thread, each over the embedded path; the rule that explains the latter."""
    how = {"engine": "mariadb", "statement": "prepared", "durability": "none", "storage": "innodb"}
    paths = [
        bench.path("c", "libmariadbd", PHASE, EMBEDDED, thread="worker", **how),
        bench.path("c", "libmariadbd", PHASE, MAIN, thread="main", **how),
        bench.path("c", "libmariadb", PHASE, SERVER, transport="unix", **how),
    ]
    analysis, _records = bench.run(paths, PHASE, sets=SETS, rounds=ROUNDS)
    rows = ranked(analysis)
    for name in (SERVER, MAIN):
        row = rows[name]
        faster = rows[EMBEDDED].rank == 1 and row.ratio_low is not None and row.ratio_low > 1
        value = f"{row.ratio:.2f} [{row.ratio_low:.2f}, {row.ratio_high:.2f}], {SETS} sets of {ROUNDS}"
        yield Figure(f"{PHASE} on one core: {name} over {EMBEDDED}", value, "interval above 1", faster)
    listed = [finding.evidence for finding in analysis.findings if finding.id == "main-thread-stack"]
    yield Figure("the main thread's cost is explained", "; ".join(listed) or "no finding", "a finding", bool(listed))


def ranked(analysis: Analysis) -> dict[str, RankedPath]:
    """The rows of the one ranking by name. RowpathError when a path has no rank in it."""
    (ranking,) = (ranking for ranking in analysis.rankings if ranking.regime == "steady")
    rows = {row.name: row for row in ranking.rows}
    for row in rows.values():
        if row.ratio is None:
            raise RowpathError(f"{row.name} has no rank: {row.reason or row.status}")
    return rows
