"""What a reader needs to trust a run: the order of its blocks, digests, disturbed blocks, noise, floors, methods."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rowpath import text
from rowpath.analysis import several_hosts
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapters.links import slow_start
from rowpath.analysis.evidence import Evidence, stops_on_width
from rowpath.analysis.findings.noise import unfiltered_ratios
from rowpath.analysis.floors import floor_name
from rowpath.journal.records import NoiseRecord, SampleRecord, VerifyRecord, WarmRecord

NOISE = ("set", "when", "pressure_some_us", "steal_ticks", "spin_gap_max_ns", "spin_gap_share")
BLOCKS = ("first_block_ns_per_operation", "last_block_ns_per_operation")
WARM_UP = ("workload", "phase", "operations", "ns", "shape", *BLOCKS)


def diagnostics(evidence: Evidence) -> dict[str, Any]:
    """`order`, `digests`, `disturbed`, `unfiltered`, `noise`, `floors`, `links`, `warm_up`, `methods`, `intervals`,
    `journal`; of a run over several hosts also `hosts` and `ways`."""
    samples = evidence.journal.all(SampleRecord)
    verified: dict[tuple[str, str, str], VerifyRecord] = {}  # one per path and phase: the first wrong, else the last
    for record in evidence.journal.all(VerifyRecord):
        if record.where not in verified or verified[record.where].ok is not False:
            verified[record.where] = record
    disturbed = sum(1 for sample in samples if sample.disturbed)
    hosts = several_hosts.hosts(evidence.journal)
    of_hosts = {"hosts": hosts, "ways": several_hosts.ways(evidence.journal)} if hosts else {}
    return of_hosts | {
        "order": [
            {
                **_fields(sample, "set", "round"),
                "at_s": round(sample.at_ns / 1e9, 4),
                **_fields(sample, "workload", "phase", "regime"),
                "name": evidence.name(sample.path_id),
                "cost_ns": round(sample.ns / sample.operations, 1) if sample.operations else None,
                "disturbed": sample.disturbed,
            }
            for sample in sorted(samples, key=lambda sample: sample.at_ns)
        ],
        "digests": [
            {
                **_fields(record, "workload", "phase"),
                "name": evidence.name(record.path_id),
                "digest": record.digest,
                "expected": record.expected or "",
                "ok": record.ok,
            }
            for record in verified.values()
        ],
        "disturbed": {
            "blocks": len(samples),
            "disturbed": disturbed,
            "repeated": sum(
                len(tries) - 1
                for cell in evidence.cells.cells.values()
                for turns in cell.attempts.values()
                for tries in turns.values()
            ),
            "share": disturbed / len(samples) if samples else 0.0,
        },
        "unfiltered": [asdict(ratio) for ratio in unfiltered_ratios(evidence)],
        "noise": [_fields(record, *NOISE) for record in evidence.journal.all(NoiseRecord)],
        "floors": _floors(evidence),
        "links": [
            {
                "link": record.link,
                "placement": record.placement,
                "round trip, stated": text.duration(record.stated_ns),
                "measured": text.duration(record.round_trip_ns),
                "10th to 90th percentile": f"{text.duration(record.low_ns)} to {text.duration(record.high_ns)}",
                "without the link": text.duration(record.direct_ns),
                "rate, stated": text.bit_rate(record.stated_bytes_per_s) if record.stated_bytes_per_s else "no limit",
                "to the server": text.bit_rate(record.rate_bytes_per_s),
                "from the server": text.bit_rate(record.rate_back_bytes_per_s or None),
                "on CPU": record.cpu,
                **({"over TCP": note} if (note := slow_start(record.link)) else {}),
                "method": record.method,
            }
            for record in evidence.journal.links.values()
        ],
        "warm_up": [
            {"set": record.set, "name": evidence.name(record.path_id)} | _fields(record, *WARM_UP)
            for record in evidence.journal.all(WarmRecord)
        ],
        "methods": evidence.journal.run.methods,
        "intervals": {
            "confidence": evidence.cells.confidence,
            "stopped": "on width" if stops_on_width(evidence.journal) else "after a fixed number of sets",
            "groups_of_sets": evidence.cells.batches,
        },
        "journal": {
            "outcome": evidence.journal.outcome or "the journal has no end record",
            "resumed": evidence.journal.resumed,
            "skipped_lines": evidence.journal.skipped_lines,
            "notes": evidence.journal.notes,
        },
    }


def _fields(record: NoiseRecord | WarmRecord | SampleRecord | VerifyRecord, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _floors(evidence: Evidence) -> dict[str, str]:
    least: dict[str, Cell] = {}
    for floor in evidence.cells.floors:
        name = floor_name(floor)
        if name not in least or (floor.median or 0) < (least[name].median or 0):
            least[name] = floor
    return {name: text.duration(floor.median) for name, floor in least.items()}
