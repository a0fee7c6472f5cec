"""Rules: each reads the evidence and states what it finds; docs/findings.md explains every id under its own heading.

What flows in is the evidence of a run: its journal with the cells, the rankings and the report of client groups made of
it. What flows out are findings: an id, a severity, a sentence, the figures behind it, a cause, and the next command.
A rule is a function from evidence to findings, and `RULES` is the only place that names it and gives its findings
their id; reports know no rule.

The files are what rules are about, in the order in which a reader should doubt a run. `correctness`: rows, values and
operations that were not delivered as they should be. `plausibility`: figures that cannot be, measured or published.
`contracts`: coordinates that counters disprove. `defaults`: what a program gets without requesting it. `layers`: what
query layers and ORMs send. `pools`: connections that clients share. `poolers`: what becomes of statements behind one.
`waiting`: time in which no side computes.
`mixed_load`: all of that for client groups at work at once. `precision` and `noise`: how far the figures carry, and
what the machine did meanwhile. How a place or a ratio is worded is in `analysis.wording`, since chapters and the
verdict word them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from rowpath.analysis.answer_model import SEVERITIES, Finding
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings import (
    contracts,
    correctness,
    defaults,
    layers,
    mixed_load,
    noise,
    plausibility,
    poolers,
    pools,
    precision,
    waiting,
)

Rule = Callable[[Evidence], Iterator[Finding]]

RULES: dict[str, Rule] = {
    "wrong-rows": correctness.wrong_rows,
    "values-not-read": correctness.values_not_read,
    "failed-operations": correctness.failed_operations,
    "acknowledged-lost": mixed_load.acknowledged_lost,
    "backup-not-restorable": mixed_load.backup_not_restorable,
    "bytes-below-payload": plausibility.bytes_below_payload,
    "cpu-exceeds-wall": plausibility.cpu_exceeds_wall,
    "rate-beats-floor": plausibility.rate_beats_floor,
    "steady-slower-than-cold": plausibility.steady_slower_than_cold,
    "time-not-accounted": plausibility.time_not_accounted,
    "rate-not-from-time": plausibility.rate_not_from_time,
    "round-trips-not-as-declared": contracts.round_trips_not_as_declared,
    "statement-not-as-declared": contracts.statement_not_as_declared,
    "commits-not-as-declared": contracts.commits_not_as_declared,
    "syncs-not-as-declared": contracts.syncs_not_as_declared,
    "durability-differs": contracts.durability_differs,
    "fetch-size-ignored": contracts.fetch_size_ignored,
    "result-buffered-whole": contracts.result_buffered_whole,
    "implicit-transaction": defaults.implicit_transaction,
    "prepared-each-time": defaults.prepared_each_time,
    "prepared-behind-pooler": poolers.prepared_behind_pooler,
    "parameter-type": defaults.parameter_type,
    "more-statements-than-by-hand": layers.more_statements_than_by_hand,
    "statement-for-each-object": layers.statement_for_each_object,
    "pool-leak": pools.pool_leak,
    "pool-too-small": pools.pool_too_small,
    "pool-too-large": pools.pool_too_large,
    "validation-round-trip": pools.validation_round_trip,
    "main-thread-stack": defaults.main_thread_stack,
    "unrequested-tls": defaults.unrequested_tls,
    "compressed-messages": defaults.compressed_messages,
    "delayed-acknowledgement": waiting.delayed_acknowledgement,
    "link-not-as-predicted": waiting.link_not_as_predicted,
    "sync-bound-writes": waiting.sync_bound_writes,
    "collector-pauses": waiting.collector_pauses,
    "closed-loop-hides-stall": waiting.closed_loop_hides_stall,
    "rate-not-reached": mixed_load.rate_not_reached,
    "client-stalled": mixed_load.client_stalled,
    "operations-refused": mixed_load.operations_refused,
    "event-loop-blocked": mixed_load.event_loop_blocked,
    "backup-slows": mixed_load.backup_slows,
    "faster-with-others": mixed_load.faster_with_others,
    "generator-late": mixed_load.generator_late,
    "published-contradicts-itself": plausibility.published_contradicts_itself,
    "confounded-version": contracts.confounded_version,
    "stand-in": contracts.stand_in,
    "converted-values": correctness.converted_values,
    "periodic-cost": precision.periodic_cost,
    "still-compiling": precision.still_compiling,
    "warm-up-not-reached": precision.warm_up_not_reached,
    "placement-flips-ranking": precision.placement_flips_ranking,
    "clock-too-coarse": precision.clock_too_coarse,
    "provisional": precision.provisional,
    "width-not-reached": precision.width_not_reached,
    "machine-speed-changed": noise.machine_speed_changed,
    "disturbed-blocks": noise.disturbed_blocks,
    "neighbour-noise": noise.neighbour_noise,
    "missing-path": correctness.missing_path,
}


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """What every rule found, errors first; within a severity in the order of `RULES`."""
    stated = [replace(finding, id=id_) for id_, rule in RULES.items() for finding in rule(evidence)]
    return tuple(sorted(stated, key=lambda finding: SEVERITIES.index(finding.severity)))
