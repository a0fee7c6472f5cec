"""Metrics by set: what every figure, claim and published ratio is made of."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable

from rowpath.analysis.cells import Cell
from rowpath.journal.reader import Records
from rowpath.journal.records import CountedRecord, MemoryRecord, PrepareRecord, SampleRecord, SettleRecord, WarmRecord
from rowpath.model.grouping import grouped
from rowpath.model.metrics import of_category

BEST_OF = 5  # first sets whose best value is shown beside a median, as published tables do

Values = dict[int, list[float]]  # by set
Where = tuple[str, str, str]  # path id, workload, phase


def of_cell(cell: Cell) -> dict[str, Values]:
    """The metrics of a cell's samples, those that it has; CPU is of the whole window, lead-in included."""
    costs = {number: list(rounds.values()) for number, rounds in cell.costs.items()}
    rows = rows_each(cell)
    by_metric: dict[str, Values] = {
        "time": costs,
        "rate": {number: [1e9 / cost for cost in values] for number, values in costs.items()},
    }
    if rows:
        by_metric["row_rate"] = {number: [rows * 1e9 / cost for cost in values] for number, values in costs.items()}
    if fair := fairness(cell):
        by_metric["fairness"] = fair
    working = [sample for sample in cell.samples if sample.operations > 0]
    for metric, value in SAMPLED.items():
        for sample in working:
            if (figure := value(sample)) is not None:
                by_metric.setdefault(metric, {}).setdefault(sample.set, []).append(figure)
    return by_metric


def fairness(cell: Cell) -> Values:
    """Jain's index of the clients' operations by set: 1 when all did as many, 1/n when one did all; {} for one client.

    Jain, Chiu, Hawe: A quantitative measure of fairness, DEC-TR-301, 1984.
    """
    by_set = grouped((sample for sample in cell.samples if sample.clients), lambda sample: sample.set)
    done = {
        number: list(map(sum, zip(*([one["operations"] for one in sample.clients] for sample in samples), strict=True)))
        for number, samples in by_set.items()
    }
    return {
        number: [sum(operations) ** 2 / (len(operations) * sum(one * one for one in operations))]
        for number, operations in done.items()
        if any(operations)
    }


def mean_of(cell: Cell, metric: str) -> float | None:
    """The mean of a cell's metric as all of it over all operations; None where the mean of the blocks will do."""
    if metric in ("time", "rate", "row_rate"):
        samples = {number: [cell.used[number][turn] for turn in costs] for number, costs in cell.costs.items()}
        operations = {number: sum(sample.operations for sample in used) for number, used in samples.items()}
        total = sum(operations.values())
        cost = sum(mean * operations[number] for number, mean in cell.set_means.items()) / total if total else 0.0
        if not cost:
            return None
        return {"time": cost, "rate": 1e9 / cost, "row_rate": rows_each(cell) * 1e9 / cost}[metric]
    if metric not in ("client_cpu", "server_cpu"):
        return None
    known = [sample for sample in cell.samples if sample.operations > 0 and getattr(sample, f"{metric}_ns") is not None]
    operations_in_windows = sum(sample.in_window for sample in known)
    spent = float(sum(getattr(sample, f"{metric}_ns") for sample in known))
    return spent / operations_in_windows if operations_in_windows else None


def middle(values: Values | None) -> float | None:
    """The median of the sets' medians; None without values."""
    return statistics.median(map(statistics.median, values.values())) if values else None


def per_row(values: Values | None, rows: float) -> float | None:
    """A metric of an operation divided by its rows; None where either is not known."""
    per_operation = middle(values)
    return per_operation / rows if per_operation is not None and rows else None


def rows_each(cell: Cell) -> float:
    """Rows per operation: delivered, or stored where a phase loads."""
    return cell.stored_rows or cell.delivered_rows


def pooler_share(cell: Cell) -> float | None:
    """The pooler's CPU as a share of the window (median over samples); None without one."""
    known = [sample for sample in cell.samples if sample.pooler_cpu_ns is not None and sample.window_ns > 0]
    shares = [(sample.pooler_cpu_ns or 0.0) / sample.window_ns for sample in known]
    return statistics.median(shares) if shares else None


def cpu_shares(cell: Cell) -> tuple[float, float | None] | None:
    """Client and server CPU as shares of the window (medians over samples); None where CPU was not measured."""
    known = [sample for sample in cell.samples if sample.client_cpu_ns is not None and sample.window_ns > 0]
    if not known:
        return None
    client = statistics.median((sample.client_core_ns or 0.0) / sample.window_ns for sample in known)
    served = [sample.server_core_ns / sample.window_ns for sample in known if sample.server_core_ns is not None]
    if cell.served and not served:
        return None
    return client, statistics.median(served) if served else None


def _stamp(name: str) -> Callable[[SampleRecord], float | None]:
    """A stamp per operation; None where the sample was not stamped."""
    get = operator.attrgetter(name)
    return lambda sample: get(sample) / sample.operations if get(sample) > 0 else None


def _rest(sample: SampleRecord) -> float | None:
    return max(0, sample.ns - sample.first_row_ns) / sample.operations if sample.first_row_ns > 0 else None


def _cpu(*names: str) -> Callable[[SampleRecord], float | None]:
    def spent(sample: SampleRecord) -> float | None:
        known = [value for name in names if (value := getattr(sample, name)) is not None]
        return sum(known) / sample.in_window if known else None

    return spent


# Another metric of blocks: a function here, and its record in model/metrics.py.
SAMPLED: dict[str, Callable[[SampleRecord], float | None]] = {
    "execute": _stamp("execute_ns"),
    "first_row": _stamp("first_row_ns"),
    "rest": _rest,
    "connect": _stamp("connect_ns"),
    "borrow": _stamp("borrow_ns"),
    "return": _stamp("return_ns"),
    "bytes_drained": _stamp("bytes"),
    "client_cpu": _cpu("client_cpu_ns"),
    "server_cpu": _cpu("server_cpu_ns"),
    "pooler_cpu": _cpu("pooler_cpu_ns"),
    "cpu": _cpu("client_cpu_ns", "server_cpu_ns"),
}


def of_phases(journal: Records) -> dict[Where, dict[str, Values]]:
    """The metrics of a path's phase that belong to no sample: one value per set."""
    by_phase: dict[Where, dict[str, Values]] = {}

    def keep(where: Where, metric: str, number: int, value: float | None) -> None:
        if value is not None:
            by_phase.setdefault(where, {}).setdefault(metric, {})[number] = [float(value)]

    prepares = journal.all(PrepareRecord)
    cold = {record.where for record in prepares if record.cold}
    for prepare in prepares:
        if prepare.cold or prepare.where not in cold:
            keep(prepare.where, "prepare", prepare.set, prepare.prepare_ns)
    for warm in journal.all(WarmRecord):
        keep(warm.where, "warm_up", warm.set, warm.operations)
        keep(warm.where, "warm_up_time", warm.set, warm.ns)
    for memory in journal.all(MemoryRecord):
        keep(memory.where, "client_peak_memory", memory.set, memory.client_peak_bytes)
        keep(memory.where, "server_peak_memory", memory.set, memory.server_peak_bytes)
    for settle in journal.all(SettleRecord):
        keep(settle.where, "deferred", settle.set, settle.ns)
        keep(settle.where, "disk_written", settle.set, settle.bytes_written)
    return by_phase


def exact(counts: CountedRecord | None) -> dict[str, float]:
    """The counted metrics of a path's phase, per operation."""
    figures = {metric: counts.each(metric) for metric in of_category("counted")} if counts else {}
    return {metric: value for metric, value in figures.items() if value is not None}
