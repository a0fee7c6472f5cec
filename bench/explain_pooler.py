"""A pooler's parts and hops in `rowpath explain` against what it adds: the difference of its path and the direct one.

The difference is of blocks without a profiler, in turn with each other, after both paths are explained. A pooler also
changes what client and server take: there is one process more to switch to, and it may send more messages (pgpool
does). So the bar is for the pooler's parts together with the changes of all others. What the pooler's own parts are of
it, and its hops, is printed too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from bench.explain_layer import LEAST, MOST, PAIRS, TIMEOUT_S, Difference, alternating
from bench.figure import Figure
from rowpath.analysis.statistics.intervals import student
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.explain import chosen
from rowpath.cli.plan import plan_for
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.explain.explain import explained
from rowpath.explain.flames import Sampled
from rowpath.journal.writer import RunDirectory
from rowpath.model.explanation import Explanation
from rowpath.text import duration, share

PHASE = "keyed.read"
FILTERS = {"driver": ("libpq",), "statement": ("bound",), "pooler_mode": ("none", "session"), "placement": ("same",)}
ITS_HOPS = ("to pooler", "pooler", "from server")  # the server's answer is on its way back to the pooler
REPEATS = 3


def measure(bench: Bench) -> Iterator[Figure]:
    """Of each pooler: its parts and hops over what it adds, as means of whole explanations."""
    plan = chosen(plan_for("poolers", FILTERS, seed=1), [PHASE])
    direct = next(planned for planned in plan.paths if planned.path.pooler == "none")
    plan = replace(plan, paths=(direct, *(planned for planned in plan.paths if planned is not direct)))
    ratios: dict[str, list[list[float]]] = {}
    said: dict[str, list[str]] = {}
    for number in range(REPEATS):
        differences: dict[str, Difference] = {}

        def after(
            worker: Worker,
            work: PreparedPhase,
            one: Explanation,
            _way: Mapping[str, Any],
            _client: Sampled | None,
            differences: dict[str, Difference] = differences,
        ) -> None:
            if worker.planned is not direct:
                differences[one.name] = alternating(worker, direct, work, {})

        directory = RunDirectory(bench.directory / f"poolers-{number}")
        directory.create()
        failures: list[str] = []
        found = list(
            explained(plan, directory, lambda _text: None, failures.append, TIMEOUT_S, PAIRS, after, hops=True)
        )
        for failure in failures:
            yield Figure("explain_pooler", failure, "", False)
        without = next((one for one in found if one.name == direct.name), None)
        for one in found:
            if without is not None and one.name in differences:
                pooler = one.path["pooler"]
                if one.hops is None:
                    yield Figure(f"{pooler}: its hops", one.no_hops, "", False)
                    continue
                ratios.setdefault(pooler, []).append(three(one, without, differences[one.name]))
                said.setdefault(pooler, []).append(duration(differences[one.name].ns))
    if not ratios:
        yield Figure("explain_pooler", "no pooler was explained", "", False)
    what = {"its parts and the changes of the others": True, "its parts alone": False, "its hops": False}
    for pooler, rows in ratios.items():
        for (name, has_bar), values in zip(what.items(), zip(*rows, strict=True), strict=True):
            yield figure(f"{pooler}: {name} ÷ what it adds ({', '.join(said[pooler])})", values, has_bar=has_bar)


def three(one: Explanation, direct: Explanation, difference: Difference) -> list[float]:
    """The three ratios of one explanation."""
    assert one.hops is not None
    own_ns = sum(part.ns for part in one.parts if part.side == "pooler")
    changes_ns = sum(part.ns for part in one.parts if part.side not in ("core", "pooler"))
    changes_ns -= sum(part.ns for part in direct.parts if part.side != "core")
    steps = [hop for trip in one.hops.round_trips for hop in trip.hops if hop.where in ITS_HOPS]
    return [each / difference.ns for each in (own_ns + changes_ns, own_ns, sum(hop.mean_ns or 0.0 for hop in steps))]


def figure(name: str, values: tuple[float, ...], *, has_bar: bool) -> Figure:
    """Their mean, with its interval."""
    mean, interval = sum(values) / len(values), student(list(values))
    between = f" [{share(interval.low)}, {share(interval.high)}]" if interval is not None else ""
    bar = f"{share(LEAST)} to {share(MOST)}" if has_bar else "none: a pooler changes what the others take"
    return Figure(name, f"{share(mean)}{between}", bar, LEAST <= mean <= MOST if has_bar else None)
