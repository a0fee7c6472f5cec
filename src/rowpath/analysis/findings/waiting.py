"""Time in which no side computes for the rows: TCP's timers, syncs, collectors, stalls."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.answer_model import Finding, note, warning
from rowpath.analysis.chapters import links
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings import mixed_load
from rowpath.analysis.wording import phase_text, ratio_text, syncs_explain, syncs_text
from rowpath.journal.records import NoiseRecord, SampleRecord

ACKNOWLEDGEMENT_NS = (38_000_000, 48_000_000)  # Linux delays one by 40 ms, in steps of its clock
MULTIPLES = (1, 2, 3)  # of it, before one range runs into the next
IDLE_LEAST = 0.9  # of a window, with neither side computing
LINK_WITHIN = 0.10  # of the predicted time over a link
SYNC_CPU_MOST = 0.5  # of the time, by both sides
COLLECTOR_SHARE = 0.03
STALL_RATIO, STALL_LEAST_NS = 10, 5_000_000
STALLS_SHOWN = 3  # with figures; the longest ones
# By whether the client's connections have TCP_NODELAY.
_SMALL_WRITES = {
    False: "the client's socket lacks TCP_NODELAY and the request goes out in several small writes: the last one waits "
    "until the first is acknowledged, and the server delays that by 40 ms",
    True: "the client's socket has TCP_NODELAY, so the server's answer goes out in several small writes: the last one "
    "waits until the first is acknowledged, and the client delays that by 40 ms",
    None: "a request sent in several small writes without TCP_NODELAY: the last one waits until the first is "
    "acknowledged, and the server delays that by 40 ms",
}


def delayed_acknowledgement(evidence: Evidence) -> Iterator[Finding]:
    """Operations over TCP that take a delayed acknowledgement's 40 ms, or a multiple, while neither side computes."""
    for cell in evidence.sound():
        samples = [sample for sample in cell.every_sample() if sample.operations and sample.window_ns]
        path = cell.path
        # Over an emulated link waiting is intended.
        if path.transport != "tcp" or path.link != "none" or cell.regime != "steady" or not samples:
            continue
        late = [one for one in samples if _acknowledged_late(one, path.pipeline) and _idle(one) >= IDLE_LEAST]
        if len(late) * 2 < len(samples):
            continue
        shortest, longest = min(sample.min_ns for sample in late), max(sample.max_ns for sample in late)
        mean = sum(sample.ns for sample in late) / sum(sample.operations for sample in late)
        yield warning(
            f"{cell.path.name} waits for a delayed acknowledgement in {phase_text(cell)}",
            f"{text.duration(mean)} an operation, {text.duration(shortest)} to {text.duration(longest)}, "
            f"in {len(late)} of {len(samples)} blocks; "
            f"both sides idle for {text.share(statistics.median(map(_idle, late)))} of the time",
            _SMALL_WRITES[counted.no_delay if (counted := evidence.counted.get(cell.key[:3])) else None],
            evidence.rerun("transport=unix"),
            (cell.path.name,),
            statistics.median(map(_idle, late)),
        )


def link_not_as_predicted(evidence: Evidence) -> Iterator[Finding]:
    """Time over an emulated link that is not the time without it plus that of the round trips and of the bytes."""
    for each in links.CHAPTER.made(evidence):
        slower = each.ratio > 1
        surely = each.low if slower else each.high
        least = each.least_ratio * (1 - LINK_WITHIN)
        if surely is None or (surely <= 1 + LINK_WITHIN if slower else surely >= least):
            continue
        yield warning(
            f"{each.name} is {'slower' if slower else 'faster'} over the link in {each.workload}.{each.phase}, "
            f"{each.regime}, than its round trips {'and bytes predict' if each.wire_ns else 'predict'}",
            f"{text.duration(each.measured_ns)} measured, {text.duration(each.predicted_ns)} predicted, "
            f"{ratio_text(each.ratio, each.low, each.high)}: {text.duration(each.without_ns)} without the link + "
            f"{text.count(each.round_trips)} round trips of {text.duration(each.added_ns)} more"
            + (f" + {text.duration(each.wire_ns)} for its bytes" if each.wire_ns else ""),
            "waits that occur only on a link (small writes that wait for acknowledgements), or a busy first core, "
            "where the link runs"
            if slower
            else "requests are sent before earlier replies arrive, so round trips overlap",
            evidence.rerun(),
            (each.name,),
        )


def _acknowledged_late(sample: SampleRecord, pipeline: int) -> bool:
    low, high = ACKNOWLEDGEMENT_NS
    alike = pipeline * sample.ns / sample.operations  # a single one among many short ones may be anything else
    longest = pipeline * sample.max_ns if 2 * pipeline * sample.max_ns >= sample.ns else alike
    return any(low * times <= longest <= high * times for times in MULTIPLES)


def _idle(sample: SampleRecord) -> float:
    """The share of a window in which neither side computed nor waited for a core; 0 when the CPU is not known."""
    if sample.client_cpu_ns is None or sample.server_cpu_ns is None:
        return 0.0
    busy = sample.client_cpu_ns + sample.beside_client_ns + max(0.0, sample.wait_ns or 0.0)
    return max(0.0, 1 - busy / sample.window_ns)


def sync_bound_writes(evidence: Evidence) -> Iterator[Finding]:
    """Durable writes that wait mostly for the disk: the syncs' measured cost explains the time, the CPU does not."""
    for cell in evidence.sound():
        each_ns, syncs = evidence.sync_cost_ns(cell.path.path_id), evidence.per_operation(cell, "syncs")
        took = cell.median
        durable = cell.path.durability == "full" and evidence.writes(*cell.key[1:3])
        if each_ns is None or took is None or syncs is None or not durable or cell.regime != "steady":
            continue
        # CPU of both sides per operation of the window, as far as it is known.
        cpu = statistics.median(
            ((sample.client_cpu_ns or 0.0) + sample.beside_client_ns) / max(1, sample.in_window)
            for sample in cell.samples
        )
        if cpu > SYNC_CPU_MOST * took or not syncs_explain(syncs, each_ns, took):
            continue
        yield note(
            f"{cell.path.name} is disk-bound in {phase_text(cell)}: drivers can hardly differ",
            f"{syncs_text(syncs, each_ns, took)}; both sides' CPU is {text.share(cpu / took)}",
            "each commit waits until the rows are on disk",
            evidence.rerun("durability=none"),
            (cell.path.name,),
            min(1.0, syncs * each_ns / took),
        )
    yield from mixed_load.sync_bound(evidence)


def collector_pauses(evidence: Evidence) -> Iterator[Finding]:
    """A runtime's garbage collector that takes over 3 % of the time."""
    for cell in evidence.sound():
        window, collected, collections = (
            sum(getattr(sample, name) for sample in cell.samples)
            for name in ("window_ns", "collector_ns", "collections")
        )
        if cell.regime != "steady" or not window or collected <= COLLECTOR_SHARE * window:
            continue
        yield warning(
            f"{cell.path.name} spends {text.share(collected / window)} of its time in its runtime's garbage collector "
            f"in {phase_text(cell)}",
            f"{text.duration(collected)} in {collections} collections over {text.duration(window)}",
            "whole results in memory, or a heap too small for an operation's allocations",
            evidence.rerun("--rigorous"),
            (cell.path.name,),
            collected / window,
        )


def closed_loop_hides_stall(evidence: Evidence) -> Iterator[Finding]:
    """Single operations of many times the median that come again: the next one waits, so the loop sees few of them."""
    stalls: dict[str, list[tuple[int, str, str]]] = {}  # the longest, its path, both in words
    gaps = {noise.set for noise in evidence.journal.all(NoiseRecord) if (noise.spin_gap_max_ns or 0) >= STALL_LEAST_NS}
    for cell in evidence.sound():
        if cell.regime != "steady" or cell.median is None:
            continue
        limit = max(STALL_RATIO * cell.median, STALL_LEAST_NS)
        # Whether a server waited for a core is not known: a set in which a mere loop stalled as long proves nothing.
        excluded = gaps if cell.served else set()
        samples = [sample for sample in cell.every_sample() if sample.set not in excluded]
        stalled = [sample for sample in samples if sample.max_ns >= limit and _not_waiting(sample)]
        if 2 * len({sample.set for sample in stalled}) > len({sample.set for sample in samples}):
            longest = max(sample.max_ns for sample in stalled)
            stated = (
                f"{cell.path.name}: up to {text.duration(longest)} against {text.duration(cell.median)}, "
                f"in {len(stalled)} of {len(samples)} blocks"
            )
            stalls.setdefault(phase_text(cell), []).append((longest, cell.path.name, stated))
    for phase, cases in stalls.items():
        yield note(
            f"{phase}: tail latencies of this run are not valid: a closed loop stalls with its operations",
            "; ".join(stated for *_case, stated in sorted(cases, key=lambda case: -case[0])[:STALLS_SHOWN])
            + (f"; and {len(cases) - STALLS_SHOWN} others" if len(cases) > STALLS_SHOWN else ""),
            "the loop sends no request while an operation stalls, so the delayed requests are missing",
            evidence.rerun("--rigorous"),
            tuple(name for _longest, name, _stated in cases),
        )


def _not_waiting(sample: SampleRecord) -> bool:
    """Whether the longest operation was not longest because the core was another's: there was little waiting for it,
    or enough of the window in which no one wanted it."""
    waited = sample.wait_ns or 0.0
    asleep = sample.window_ns - (sample.client_cpu_ns or 0.0) - sample.beside_client_ns - waited
    return waited < sample.max_ns / 2 or asleep >= sample.max_ns / 2
