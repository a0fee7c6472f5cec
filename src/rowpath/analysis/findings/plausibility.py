"""What cannot be: fewer bytes than the payload, more CPU than wall time, faster than the floor."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.cells import Cell
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings.wording import interval_text, phase_text
from rowpath.analysis.model import Finding

# The collectors read a process's CPU before the request and after the reply: what it spends on both is in the figure.
CPU_SLACK = 1.05
CPU_SLACK_NS = 2_000_000
SUSPICIOUS_SHARE = 0.1


def bytes_below_payload(evidence: Evidence) -> Iterator[Finding]:
    """The bytes that crossed the wire cannot have carried the values."""
    for where, proof in evidence.counted.items():
        direction = "bytes_sent" if evidence.writes(*where[1:]) else "bytes_received"
        moved, payload = proof.each(direction), proof.each("payload_bytes")
        if moved is None or payload is None or moved >= payload:
            continue
        name = evidence.name(where[0])
        yield Finding(
            "bytes-below-payload",
            "error",
            f"{name} moved fewer bytes in {phase_text(proof)} than its values need",
            f"{text.count(moved)} {direction.replace('_', ' ')} per operation for {text.count(payload)} of payload",
            "results come from a cache, or some rows never crossed the connection",
            f"rowpath verify {evidence.experiment} -v",
            (name,),
        )


def cpu_exceeds_wall(evidence: Evidence) -> Iterator[Finding]:
    """A process that was billed more CPU than its cores had time for."""
    for cell in evidence.cells.cells.values():
        counted = violations = 0
        worst = 0.0
        for sample in cell.every_sample():
            if sample.window_ns <= 0:
                continue
            counted += 1
            limit = _cores(evidence, cell) * sample.window_ns * CPU_SLACK + CPU_SLACK_NS
            for spent in (sample.client_cpu_ns, sample.server_cpu_ns):
                if spent is not None and spent > limit:
                    violations += 1
                    worst = max(worst, spent / sample.window_ns)
                    break
        if violations > max(1, SUSPICIOUS_SHARE * counted):  # one sample may be an accident
            yield Finding(
                "cpu-exceeds-wall",
                "error",
                f"{cell.path.name} used more CPU time in {phase_text(cell)} than its cores have",
                f"up to {worst:.2f} × wall time, cores: {_cores(evidence, cell)}, in {violations} of {counted} samples",
                "threads outside the pinned cores, or a wrong CPU clock",
                "rowpath doctor",
                (cell.path.name,),
            )


def _cores(evidence: Evidence, cell: Cell) -> int:
    if cell.path.coordinates.get("placement") in ("same", "split") and cell.path.coordinates.get("threads", "1") == "1":
        return 1
    return int(evidence.journal.run.environment.get("cpus") or 1)


def rate_beats_floor(evidence: Evidence) -> Iterator[Finding]:
    """A path that is surely faster than its floor."""
    for cell in evidence.sound():
        against = evidence.floor(cell)
        if against is None or against.verdict != "beats":
            continue
        yield Finding(
            "rate-beats-floor",
            "error",
            f"{cell.path.name} is faster in {phase_text(cell)} than its floor, the {against.name}: not ranked",
            f"{text.duration(cell.median)} against {text.duration(against.cost_ns)}: {interval_text(against.interval)}",
            "operations do not reach the engine, or the floor was measured under other conditions",
            f"rowpath verify {evidence.experiment} -v",
            (cell.path.name,),
        )
