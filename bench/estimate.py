"""How long every experiment was estimated to take, and took: measured time over estimated time, builds not included.

`ROWPATH_BENCH_EXPERIMENTS=tour:3,load` measures only these, `tour` in 3 sets.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from bench.figure import Figure
from rowpath import text as fmt
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.plan import plan_for
from rowpath.execution.run import build_for, run_plan
from rowpath.execution.run_options import RunOptions
from rowpath.model.progress import Silent
from rowpath.planning.estimate import estimate_s
from rowpath.planning.experiment_file import names
from rowpath.planning.overrides import Overrides

VARIABLE = "ROWPATH_BENCH_EXPERIMENTS"
LEAST, MOST = 0.75, 1.25
TIMEOUT_S = 120.0


def measure(bench: Bench) -> Iterator[Figure]:
    """A figure for each experiment, as it ships, without sets that are added for wide intervals."""
    for requested in os.environ.get(VARIABLE, ",".join(names())).split(","):
        name, _, sets = requested.partition(":")
        plan = plan_for(name, {}, Overrides(sets=int(sets) if sets else None))
        build_for(plan, Silent())
        estimated_s = estimate_s(plan)
        began_s = time.monotonic()
        run_plan(
            plan, RunOptions(timeout_s=TIMEOUT_S), directory=bench.directory / f"estimate-{name}", progress=Silent()
        )
        took_s = time.monotonic() - began_s
        ratio = took_s / estimated_s
        yield Figure(
            f"{name}: measured over estimated time, {plan.experiment.measure.sets} sets of {len(plan.paths)} paths",
            f"{ratio:.2f}: {fmt.clock(took_s)} over {fmt.clock(estimated_s)}",
            f"{LEAST} to {MOST}",
            LEAST <= ratio <= MOST,
        )
