"""How peak memory grows with the rows of a result, from the phases that a path served."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from rowpath.analysis.evidence import Evidence
from rowpath.journal.records import MemoryRecord, PathRecord

PROVABLE_BYTES = 4 << 20  # a smaller result drowns in what allocators keep
SHARE = 0.5  # of the payload


@dataclass(frozen=True)
class Growth:
    """The phase with the most rows against the one with the fewest."""

    small: str
    large: str
    rows: float
    bytes: float
    payload_bytes: float


def growth(evidence: Evidence, path: PathRecord) -> Growth | None:
    """The growth when it proves that results are held whole; None when it does not or nothing can be proven."""
    peaks: dict[tuple[str, str], list[float]] = {}
    for record in evidence.journal.all(MemoryRecord):
        if record.path_id == path.path_id and record.client_peak_bytes is not None:
            peaks.setdefault((record.workload, record.phase), []).append(record.client_peak_bytes)
    rows = {where: found for where in peaks if (found := rows_each(evidence, (path.path_id, *where))) is not None}
    if len(rows) < 2:
        return None
    small, large = min(rows, key=lambda where: rows[where]), max(rows, key=lambda where: rows[where])
    proof = evidence.counted.get((path.path_id, *large))
    payload = proof.each("payload_bytes") if proof else None
    if payload is None or payload < PROVABLE_BYTES:
        return None
    grown = statistics.median(peaks[large]) - statistics.median(peaks[small])
    if grown < SHARE * payload:
        return None
    return Growth(".".join(small), ".".join(large), rows[large], grown, payload)


def rows_each(evidence: Evidence, where: tuple[str, str, str]) -> float | None:
    """Rows per operation as the samples of (path id, workload, phase) delivered them; None without samples."""
    for regime in ("steady", "cold"):
        cell = evidence.cells.get(*where, regime)
        for sample in cell.every_sample() if cell else ():
            if sample.operations:
                return sample.rows / sample.operations
    return None
