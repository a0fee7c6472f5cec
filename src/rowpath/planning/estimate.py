"""How long a plan takes, roughly, before anything was measured."""

from __future__ import annotations

from rowpath.engines import ENGINES
from rowpath.model.workload import PhaseName
from rowpath.planning.mixed_load.estimate import moves_s, rate_search_s, stages_s
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.manifest import language

ROUGH_SYNC_S, ROUGH_TURN_S, ROUGH_SPLIT_S = 0.0008, 0.00003, 0.00012  # a write that waits for the disk; that does not
ROUGH_COLUMNS_S, ROUGH_SUMMED_S = 3e-7, 1e-7  # of a row in columns; of one that only an aggregate sees
ROUGH_WARM_BLOCKS = 9  # the least that can be judged
ROUGH_PROOF_OPERATIONS = 10  # of a whole table: verified, settled, counted


def _rough_write_s(planned: PlannedPath) -> float:
    """Seconds of a write: what the disk takes, or the way there and back; a link's round trip added."""
    waiting = planned.path.link_ns / 1e9
    if planned.path.durability == "full":
        return waiting + ROUGH_SYNC_S
    return waiting + (ROUGH_SPLIT_S if planned.path.placement == "split" and planned.path.served else ROUGH_TURN_S)


def _rough_operation_s(plan: Plan, planned: PlannedPath, name: str) -> float:
    """Seconds of an operation that goes through a whole table, or delivers many rows; next to nothing of any other."""
    phase = plan.phase(name)
    table = plan.workloads[PhaseName.of(name).workload].tables.get(phase.table)
    if phase.truth == "aggregate":
        return ROUGH_SUMMED_S * (phase.range_rows or (table.rows if table else 0))
    rows = table.rows if table and phase.truth == "whole-table" else phase.rows_per_operation
    if planned.path.get("fetch") == "columnar":
        return rows * ROUGH_COLUMNS_S
    return rows * language(planned.adapter.language).row_s


def estimate_s(plan: Plan) -> float:
    """How long the plan would take, roughly: starting, warming up, blocks, verification; no engine is needed."""
    measure = plan.experiment.measure
    block_s = (measure.block_ms + measure.lead_in_ms) / 1000 + 0.002
    per_set = 1.0
    for group in plan.batches:
        for planned in group:
            runner = language(planned.adapter.language)
            slow_server = 3.0 if planned.path.served and ENGINES[planned.path.engine].server_warm_s > 0 else 1.0
            per_set += runner.start_s
            per_set += _crossing_s(plan, planned)
            if plan.experiment.client_groups:
                per_set += stages_s(plan, planned) + rate_search_s(plan) / measure.sets
                continue
            for name in planned.phases:
                phase = plan.phase(name)
                if phase.writes:
                    passes = len(set(measure.regimes) & set(measure.write_regimes))
                    per_set += passes * max(0.1, phase.operations * _rough_write_s(planned))
                    continue
                operation_s = _rough_operation_s(plan, planned, name)
                per_set += operation_s * ("cold" in measure.regimes)
                if "steady" in measure.regimes:
                    warm_s = runner.warm_s * slow_server / len(planned.phases) + 0.2
                    warm_s = min(measure.warm_cap_s, max(warm_s, ROUGH_WARM_BLOCKS * operation_s))
                    per_set += max(warm_s, operation_s) + measure.rounds * max(block_s, operation_s)
    proof = sum(
        language(planned.adapter.language).start_s
        + 0.3
        + _crossing_s(plan, planned)
        + sum(ROUGH_PROOF_OPERATIONS * _rough_operation_s(plan, planned, name) for name in planned.phases)
        for planned in plan.paths
    )
    return 6.0 + moves_s(plan) + proof + per_set * measure.sets


def _crossing_s(plan: Plan, planned: PlannedPath) -> float:
    """What one pass of each phase spends on its path's link: at least a round trip per operation."""
    trip_s = planned.path.link_ns / 1e9
    phases = [plan.phase(name) for name in planned.phases] if trip_s else []
    return trip_s * sum(phase.operations or (phase.parameters.count if phase.parameters else 1) for phase in phases)
