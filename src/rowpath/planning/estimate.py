"""How long a plan takes, roughly, before anything was measured: step by step, as its progress shows them.

Work takes the longer the slower the machine is (`Plan.slowness`); blocks, links and the disk take what they take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from rowpath.engines import ENGINES
from rowpath.machine.counters import system_calls
from rowpath.model.progress import Estimate, Step, step_name
from rowpath.model.workload import Phase, PhaseName
from rowpath.planning import disk_estimate, rough
from rowpath.planning.instance_key import key_of
from rowpath.planning.mixed_load.estimate import moves_s, rate_search_steps, stage_steps
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.manifest import language

Batch = Sequence[PlannedPath]


def estimate_s(plan: Plan) -> float:
    """How long the whole plan would take, not counting builds and sets that are added for wide intervals."""
    return estimate(plan).total_s


def estimate(plan: Plan, done: Collection[tuple[int, int]] = ()) -> Estimate:
    """What is left to do of the plan, step by step; no engine is needed. `done`: (batch, set) of complete sets."""
    sets = range(plan.experiment.measure.sets)
    steps = [Step(-1, "", _before_s(plan))]
    for set_number in sets:
        if plan.experiment.client_groups:
            for number, planned in enumerate(plan.paths):
                steps += stage_steps(plan, planned, set_number) if (number, set_number) not in done else ()
        else:
            for number, batch in enumerate(plan.batches):
                steps += _set_steps(plan, batch, set_number) if (number, set_number) not in done else ()
    for planned in plan.paths:
        steps += rate_search_steps(plan, planned, len(sets))
    return Estimate(tuple(_joined(steps)))


def _joined(steps: Iterable[Step]) -> Iterator[Step]:
    """Every step that has a name; one without is a part of the step before it."""
    last: Step | None = None
    for step in steps:
        if last is not None and not step.name:
            last = Step(last.set_number, last.name, last.seconds + step.seconds)
            continue
        if last is not None:
            yield last
        last = step
    if last is not None:
        yield last


def _before_s(plan: Plan) -> float:
    """Engines up and loaded, databases moved, every path verified."""
    work_s, total = rough.BEGIN_S + disk_estimate.estimate(plan).seconds, moves_s(plan) + _ways_s(plan)
    for engine, deployment, *_ in dict.fromkeys(key_of(planned.path) for planned in plan.paths):
        work_s += rough.BRING_UP_JVM_S if ENGINES[engine].server_warm_s else 0.0
        work_s += rough.BRING_UP_SERVER_S if deployment == "server" else rough.BRING_UP_S
    for planned in plan.paths:
        work_s += language(planned.adapter.language).start_s + rough.VERIFY_S
        total += sum(_passing_s(planned, plan.phase(name)) for name in planned.phases)
        work_s += rough.VERIFY_SERVED_S if planned.path.served else 0.0
        for name in planned.phases:
            total += rough.VERIFY_OPERATIONS * _operation_s(plan, planned, name) + _straced_s(plan, planned, name)
    return plan.slowness * work_s + total


def _ways_s(plan: Plan) -> float:
    """Clocks of hosts and the ways between them, measured before and after all sets."""
    pairs = {(planned.path.client_host, planned.path.server_host) for planned in plan.paths}
    hosts = {host for pair in pairs for host in pair if host != "none"}
    ways = [pair for pair in pairs if pair[1] not in ("none", pair[0])]
    return 2 * (rough.HOST_S * len(hosts) + rough.WAY_S * len(ways))


def _straced_s(plan: Plan, planned: PlannedPath, name: str) -> float:
    """What counting system calls by strace adds to the verification of a phase that makes very many of them."""
    phase = plan.phase(name)
    if system_calls.probe() != system_calls.METHOD_STRACE or phase.way == "bulk":
        return 0.0
    if phase.writes:
        return plan.slowness * rough.STRACED_S * min(phase.operations, rough.STRACED_WRITES) * _rows_written(phase)
    operations = rough.STRACED_SCANS if phase.scan or phase.union else rough.STRACED_READS
    return plan.slowness * rough.STRACED_S * operations * _fetches(plan, planned, name)


def _rows_written(phase: Phase) -> int:
    """The rows that one operation writes if it stores more than one, else 0."""
    return phase.rows_per_operation if phase.rows_per_operation > 1 else 0


def _set_steps(plan: Plan, batch: Batch, set_number: int) -> Iterator[Step]:
    """One set of a batch: every path started, every cold pass, then every phase warmed up and measured."""
    measure, phases = plan.experiment.measure, plan.experiment.phases
    starts_s = sum(language(planned.adapter.language).start_s for planned in batch)
    yield Step(set_number, "", plan.slowness * (rough.SET_S + rough.STARTING_SHARE * starts_s))
    serving = {name: [planned for planned in batch if name in planned.phases] for name in phases}
    for name, paths in serving.items():
        if paths and (not plan.phase(name).writes or _writes_in(plan, "cold")):
            yield Step(set_number, _called(name, "cold"), sum(_cold_s(plan, planned, name) for planned in paths))
    if "steady" not in measure.regimes:
        return
    for name, paths in serving.items():
        if paths and not plan.phase(name).writes:
            warm_s = sum(_warm_s(plan, planned, name, set_number) for planned in paths)
            yield Step(set_number, _called(name, "warm"), plan.slowness * rough.QUIET_S + warm_s)
            blocks_s = sum(_block_s(plan, planned, name) for planned in paths)
            yield Step(set_number, _called(name, "steady"), rough.REPEATED * measure.rounds * blocks_s)
        elif paths and _writes_in(plan, "steady"):
            yield Step(set_number, _called(name, "steady"), sum(_cold_s(plan, planned, name) for planned in paths))


def _called(name: str, regime: str) -> str:
    return step_name(*PhaseName.of(name), regime)


def _writes_in(plan: Plan, regime: str) -> bool:
    return regime in plan.experiment.measure.regimes and regime in plan.experiment.measure.write_regimes


def _cold_s(plan: Plan, planned: PlannedPath, name: str) -> float:
    """The first pass of a phase, or a whole write phase."""
    phase = plan.phase(name)
    if phase.writes:
        rows_s = plan.slowness * rough.WRITE_ROW_S * _rows_written(phase)
        return plan.slowness * rough.WRITE_S + phase.operations * (_write_s(plan, planned) + rows_s)
    if phase.kind == "null":
        return 0.0
    if "cold" not in plan.experiment.measure.regimes:
        return plan.slowness * rough.COLD_S
    return plan.slowness * rough.COLD_S + _operation_s(plan, planned, name) + _passing_s(planned, phase)


def _warm_s(plan: Plan, planned: PlannedPath, name: str, set_number: int) -> float:
    runner, cap_s = language(planned.adapter.language), plan.experiment.measure.warm_cap_s
    first = name == planned.phases[0]
    least_s = min(runner.warm_least_s[0 if first else 1], cap_s)
    if planned.path.served and set_number == 0:  # later sets meet what the server has compiled by then
        least_s = max(least_s, ENGINES[planned.path.engine].server_warm_s)
    compiling_s = plan.slowness * runner.compiling_s[0 if first else 1]
    blocks_s = rough.WARM_MORE * max(least_s, compiling_s, rough.WARM_BLOCKS * _block_s(plan, planned, name))
    return max(least_s, min(cap_s, blocks_s), _operation_s(plan, planned, name))


def _block_s(plan: Plan, planned: PlannedPath, name: str) -> float:
    """A lead-in and a block; half an operation more, because the last one ends after the block's time."""
    measure, operation_s = plan.experiment.measure, _operation_s(plan, planned, name)
    lead_in_s = language(planned.adapter.language).lead_in_ns(int(measure.lead_in_ms * 1e6)) / 1e9
    lead_in_s = max(lead_in_s, operation_s) if operation_s < rough.LONG_OPERATION_S else 0.0
    return plan.slowness * rough.EXCHANGE_S + lead_in_s + max(measure.block_ms / 1000 + operation_s / 2, operation_s)


def _write_s(plan: Plan, planned: PlannedPath) -> float:
    """Seconds of a write: what the disk takes, or the way there and back; a link's round trip added."""
    waiting = _trip_s(planned) / planned.path.pipeline
    if planned.path.durability == "full":
        return waiting + rough.SYNC_S
    apart = planned.path.placement == "split" and planned.path.served
    return waiting + plan.slowness * (rough.SPLIT_S if apart else rough.TURN_S)


def _operation_s(plan: Plan, planned: PlannedPath, name: str) -> float:
    """Seconds of an operation that goes through a whole table, or delivers many rows; next to nothing of any other."""
    phase = plan.phase(name)
    if phase.kind == "connect":
        return plan.slowness * rough.CONNECT_S
    table = plan.workloads[PhaseName.of(name).workload].tables.get(phase.table)
    if phase.expected == "aggregate":
        return plan.slowness * rough.SUMMED_S * (phase.range_rows or (table.rows if table else 0))
    rows = _rows_read(plan, name)
    if planned.path.fetch_form == "columnar":
        return plan.slowness * rows * rough.COLUMNS_S
    rows_s = rows * language(planned.adapter.language).row_s
    return plan.slowness * (rows_s + rough.FETCH_S * _fetches(plan, planned, name))


def _rows_read(plan: Plan, name: str) -> int:
    phase = plan.phase(name)
    table = plan.workloads[PhaseName.of(name).workload].tables.get(phase.table)
    return table.rows if table and phase.expected == "whole-table" else phase.rows_per_operation


def _fetches(plan: Plan, planned: PlannedPath, name: str) -> float:
    """Round trips of an operation through a cursor of few rows."""
    form, _, size = planned.path.result.partition(":")
    return _rows_read(plan, name) / int(size) if form == "cursor" and size else 0.0


def _passing_s(planned: PlannedPath, phase: Phase) -> float:
    """What one pass of a phase spends on its path's link: at least a round trip per operation or pipeline."""
    count = phase.operations or (phase.parameters.count if phase.parameters else 1)
    return _trip_s(planned) * count / planned.path.pipeline


def _trip_s(planned: PlannedPath) -> float:
    return planned.path.link_ns / 1e9 + rough.LINK_S if planned.path.link_ns else 0.0
