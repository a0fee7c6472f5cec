"""A workload whose numbers stand for scale 1, made smaller or larger as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

import msgspec

from rowpath.errors import UsageError
from rowpath.model.workload import Parameters, Phase, Workload


def at_scale(workload: Workload, scale: float) -> Workload:
    """The workload with its rows, operations and parameters times `scale` (0: its own default), each at least 1.

    A workload without a scale comes back as it is. UsageError for a scale that is not positive.
    """
    if not workload.scale:
        return workload
    factor = scale or workload.scale
    if factor < 0:
        raise UsageError(f"--scale {scale:g}: a scale is a positive number", f"--scale {workload.scale:g}")
    tables = {
        name: msgspec.structs.replace(table, rows=_times(table.rows, factor)) for name, table in workload.tables.items()
    }
    phases = tuple(_phase(phase, factor) for phase in workload.phases)
    return msgspec.structs.replace(workload, tables=tables, phases=phases, scale=factor)


def all_at_scale(workloads: Mapping[str, Workload], scale: float) -> dict[str, Workload]:
    """The workloads, those with a scale at this one (0: each at its own default). UsageError as `at_scale`."""
    return {name: at_scale(workload, scale) for name, workload in workloads.items()}


def _times(number: int, factor: float) -> int:
    return max(1, round(number * factor)) if number else 0


def _phase(phase: Phase, factor: float) -> Phase:
    parameters = phase.parameters
    if parameters is not None:
        parameters = _parameters(parameters, factor)
    whole = phase.expected == "whole-table"
    return msgspec.structs.replace(
        phase,
        operations=_times(phase.operations, factor),
        rows_per_operation=_times(phase.rows_per_operation, factor) if whole else phase.rows_per_operation,
        parameters=parameters,
    )


def _parameters(parameters: Parameters, factor: float) -> Parameters:
    if parameters.generator == "ranges":
        return parameters
    n = _times(parameters.n, factor)
    k = parameters.k
    while parameters.generator == "stride" and gcd(k, n) != 1:
        k += 1
    return msgspec.structs.replace(parameters, count=_times(parameters.count, factor), n=n, k=k)
