"""What cannot be: fewer bytes than the payload, figures of one path that contradict each other, less than the floor."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from rowpath import text
from rowpath.analysis.answer_model import Finding, error, warning
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import interval_text, phase_text, words
from rowpath.model import claims
from rowpath.model.claims import Consistency, PublishedColumn, Shared

# The collectors read a process's CPU before the request and after the reply: what it spends on both is in the figure.
CPU_SLACK = 1.05
CPU_SLACK_NS = 2_000_000
SUSPICIOUS_SHARE = 0.1
CONTRADICTION = 1.10  # two figures of one path that should agree may differ by so much


def bytes_below_payload(evidence: Evidence) -> Iterator[Finding]:
    """The bytes that crossed the wire cannot have carried the values."""
    for where, counts in evidence.counted.items():
        direction = "bytes_sent" if evidence.writes(*where[1:]) else "bytes_received"
        moved, payload = counts.each(direction), counts.each("payload_bytes")
        compressed = evidence.coordinate(where[0], "compression") != "none"  # values may then need fewer
        if moved is None or payload is None or moved >= payload or compressed:
            continue
        name = evidence.name(where[0])
        yield error(
            f"{name} moved fewer bytes in {phase_text(counts)} than its values need",
            f"{text.count(moved)} {direction.replace('_', ' ')} per operation for {text.count(payload)} of payload",
            "results come from a cache, or some rows never crossed the connection",
            f"rowpath verify {evidence.experiment} -v",
            (name,),
        )


def cpu_exceeds_wall(evidence: Evidence) -> Iterator[Finding]:
    """A process that was billed more CPU than its cores had time for."""
    for cell in evidence.cells.cells.values():
        one = cell.path.placement in ("same", "split") and cell.path.threads == 1
        cores = 1 if one else int(evidence.journal.run.environment.get("cpus") or 1)
        samples = [sample for sample in cell.every_sample() if sample.window_ns > 0]
        violations = []
        for sample in samples:
            limit = cores * CPU_SLACK * sample.window_ns + CPU_SLACK_NS
            spent = (sample.client_core_ns or 0.0, sample.server_core_ns or 0.0, sample.pooler_cpu_ns or 0.0)
            violations += [core_ns / sample.window_ns for core_ns in spent if core_ns > limit][:1]
        if len(violations) > max(1, SUSPICIOUS_SHARE * len(samples)):  # one sample may be an accident
            yield error(
                f"{cell.path.name} used more CPU time in {phase_text(cell)} than its cores have",
                f"up to {max(violations):.2f} × wall time, cores: {cores}, "
                f"in {len(violations)} of {len(samples)} samples",
                "threads outside the pinned cores, or a wrong CPU clock",
                "rowpath doctor",
                (cell.path.name,),
            )


def rate_beats_floor(evidence: Evidence) -> Iterator[Finding]:
    """A path that is surely faster than its floor."""
    for cell in evidence.sound():
        against = evidence.floor(cell)
        if against is None or against.verdict != "beats":
            continue
        yield error(
            f"{cell.path.name} is faster in {phase_text(cell)} than its floor, the {against.name}: not ranked",
            f"{text.duration(cell.median)} against {text.duration(against.cost_ns)}: {interval_text(against.interval)}",
            "operations do not reach the engine, or the floor was measured under other conditions",
            f"rowpath verify {evidence.experiment} -v",
            (cell.path.name,),
        )


def steady_slower_than_cold(evidence: Evidence) -> Iterator[Finding]:
    """A path that is surely slower warmed up than in the first passes of the same sets."""
    for cell in evidence.sound():
        cold = evidence.cells.get(*cell.key[:3], "cold") if cell.regime == "steady" else None
        if cold is None or not cold.costs or evidence.writes(*cell.key[1:3]) or cell.median is None:
            continue
        # Within sets: a machine has faster and slower moments, and the best pass of a run is the luckiest.
        interval = evidence.cells.interval(cell, cold)
        if interval is not None and interval.low > math.log(CONTRADICTION):
            yield warning(
                f"{cell.path.name} is slower in {phase_text(cell)} warmed up than in its cold passes",
                f"{text.duration(cell.median)} steady, {text.duration(cold.median)} cold: {interval_text(interval)}",
                "something took the core during steady blocks, or the path slows down as it goes on",
                evidence.rerun(),
                (cell.path.name,),
            )


def time_not_accounted(evidence: Evidence) -> Iterator[Finding]:
    """Steady time on one core that neither CPU of both sides nor waiting of the path's own explains."""
    for cell in evidence.sound():
        phase = evidence.journal.run.phase(*cell.key[1:3])
        one_core = cell.path.placement == "same" and cell.path.threads == 1 and cell.path.link == "none"
        if cell.regime != "steady" or not one_core or evidence.writes(*cell.key[1:3]):
            continue
        if phase is not None and phase.kind == "connect":  # the CPU of a server process that has ended is not known
            continue
        known = [sample for sample in cell.samples if sample.client_cpu_ns is not None and sample.window_ns > 0]
        if not known or (cell.served and all(sample.server_cpu_ns is None for sample in known)):
            continue
        sides = [(s.client_core_ns or 0) + (s.server_core_ns or 0) + (s.pooler_cpu_ns or 0) for s in known]
        parts = [side + sample.own_wait_ns for side, sample in zip(sides, known, strict=True)]
        share = statistics.median(part / sample.window_ns for part, sample in zip(parts, known, strict=True))
        if share * CONTRADICTION < 1:
            yield warning(
                f"{cell.path.name} takes longer in {phase_text(cell)} than its CPU and its waiting explain",
                f"client CPU, server CPU and waiting are {text.share(share)} of {text.duration(cell.median)}",
                "something else had the core and was not noticed, or a process of the path was not counted",
                "rowpath doctor",
                (cell.path.name,),
            )


def rate_not_from_time(evidence: Evidence) -> Iterator[Finding]:
    """A runner that leaves out much of the wall time of its own loop: the rate shown was never there."""
    requested_ns = evidence.journal.run.experiment.measure.lead_in_ms * 1e6
    for cell in evidence.sound():
        if cell.regime != "steady" or cell.path.clients != 1:
            continue
        lead_in_ns = max(requested_ns, cell.path.lead_in_least_ns) if requested_ns else 0
        left_out = [
            1 - (s.ns + max(2 * lead_in_ns, 2 * s.lead_in_operations * s.ns / s.operations)) / s.window_ns
            for s in cell.samples
            if s.operations > 0 and s.window_ns > 0
        ]
        share = statistics.median(left_out) if left_out else 0.0
        if share > 1 - 1 / CONTRADICTION:
            yield error(
                f"the operations of {cell.path.name} in {phase_text(cell)} do not fill the time they took",
                f"{text.share(share)} of its blocks' wall time is in none of its operations",
                "the runner stops its clock between operations",
                f"rowpath verify {evidence.experiment} -v",
                (cell.path.name,),
            )


AGREE = 0.1  # what one operation would have had in two states, for it to be the same


def published_contradicts_itself(evidence: Evidence) -> Iterator[Finding]:
    """Operations with published rates that do not fit into the published bandwidth; no measured figure is used."""
    columns = evidence.journal.run.experiment.published
    for relation in evidence.journal.run.experiment.consistency:
        shared = claims.states(columns, relation)
        missing = claims.impossible(relation, shared)
        if not missing:
            continue
        steps = [_arithmetic(columns, relation, shared, name) for name in missing]
        steps += [
            f"{_arithmetic(columns, relation, shared, name)}, the same in each: all traffic is {name}s"
            for name in relation.rates
            if name not in missing and _agrees(shared, name)
        ]
        exceeding = words(f"{name}s" for name in missing)
        yield warning(
            f"{relation.about}: {exceeding} exceed the published bandwidth of the connections",
            "; ".join(steps) + f"; an operation takes {text.count(relation.least_bytes)} bytes or more",
            f"the {exceeding} counted did not reach the server over the network: "
            "they were answered elsewhere, or failed and were counted",
            evidence.rerun(),
        )


def _arithmetic(columns: Sequence[PublishedColumn], relation: Consistency, shared: Sequence[Shared], name: str) -> str:
    """`(42 − 2) KB/s / 27,000/s = 1.48` for each state, as bytes of one operation."""
    unit = next(column.unit for column in columns if column.column == relation.bandwidth[0].column)
    terms = [
        f"({text.count(state.bandwidth)} − {text.count(state.baseline)}) {unit} / {text.count(state.rates[name])} "
        f"{name}s/s = {size:,.{0 if abs(size) >= 100 else 1}f}"
        for state in shared
        if (size := state.bytes_each.get(name)) is not None
    ]
    return f"{words(terms)} bytes or fewer a {name}"


def _agrees(shared: Sequence[Shared], name: str) -> bool:
    """Whether one number of bytes explains all traffic of every state (there are at least two)."""
    each = [state.bytes_each[name] for state in shared if state.bytes_each.get(name, 0) > 0]
    return len(each) >= 2 and math.log(max(each) / min(each)) <= AGREE
