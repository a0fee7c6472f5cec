"""Pools of connections: too few, too many, what they ask the server, and connections that do not come back."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.answer_model import Finding, note, warning
from rowpath.analysis.cells import Cell
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import interval_text, phase_text
from rowpath.journal.records import PathRecord, WorkerRecord
from rowpath.model.grouping import grouped

SHARE = 1 / 3  # of an operation's time, from which on borrowing is waiting
MORE_ROUND_TRIPS = 0.5  # per operation: a pool may ask only for some


def pool_too_small(evidence: Evidence) -> Iterator[Finding]:
    """A pool whose clients wait for a connection, while a larger one of the run is surely faster."""
    for cell, others in _by_size(evidence):
        share = _borrowing(cell)
        larger = [one for one in others if one.path.connections > cell.path.connections]
        if share < SHARE or (better := _surely_faster(evidence, cell, larger)) is None:
            continue
        faster, how_much = better
        yield warning(
            f"{cell.path.name}: its pool of {cell.path.connections} is too small in {phase_text(cell)}",
            f"borrowing takes {text.share(share)} of an operation; {faster.path.name} takes {how_much} of the time",
            "clients wait for a connection while the server could do more at once",
            _rerun(evidence, faster.path),
            (cell.path.name, faster.path.name),
            share,
        )


def pool_too_large(evidence: Evidence) -> Iterator[Finding]:
    """A pool that is surely slower than a smaller one of the run."""
    for cell, others in _by_size(evidence):
        smaller = [one for one in others if one.path.connections < cell.path.connections]
        if (better := _surely_faster(evidence, cell, smaller)) is None:
            continue
        faster, how_much = better
        yield warning(
            f"{cell.path.name}: its pool of {cell.path.connections} is too large in {phase_text(cell)}",
            f"{faster.path.name} takes {how_much} of the time",
            "more sessions at once than the server has processors for: they take turns and hold one another up",
            _rerun(evidence, faster.path),
            (cell.path.name, faster.path.name),
        )


def validation_round_trip(evidence: Evidence) -> Iterator[Finding]:
    """A pool that asks the server when it lends or takes back a connection, beside what the driver sends by itself."""
    counted = [(counts, path) for counts in evidence.counted.values() if (path := evidence.path(counts.path_id))]
    for alike in grouped(counted, lambda one: (one[0].where[1:], _beside_pools(one[1]))).values():
        trips = [(path, counts.each("round_trips"), counts) for counts, path in alike]
        floor = min((each for path, each, _ in trips if each is not None and not _asks(path)), default=None)
        for path, each, counts in trips:
            if floor is None or each is None or not path.pooled or each - floor < MORE_ROUND_TRIPS:
                continue
            yield note(
                f"{path.name}: its pool adds {text.count(each - floor)} round {_trips(each - floor)} per operation "
                f"in {phase_text(counts)}",
                f"{text.count(each)} round trips per operation, {text.count(floor)} without",
                "it validates a connection that it lends, or resets one that comes back",
                evidence.rerun(f"pool={path.pool} validation=none profile=tuned"),
                (path.name,),
            )


def pool_leak(evidence: Evidence) -> Iterator[Finding]:
    """Connections that are lent while no operation is under way."""
    leaks: dict[str, int] = {}
    for worker in evidence.journal.all(WorkerRecord):
        in_use = str(worker.facts.get("settings", {}).get("pool_in_use", "0"))
        if in_use.isdigit() and int(in_use):
            leaks[worker.path_id] = max(int(in_use), leaks.get(worker.path_id, 0))
    for path_id, lost in leaks.items():
        name = evidence.name(path_id)
        yield warning(
            f"{name}: {text.counted(lost, 'connection')} did not come back to the pool",
            f"lent after the last operation of a set: {text.count(lost)}",
            "an operation returns no connection, for instance after an error: at last no client gets one",
            evidence.rerun(),
            (name,),
        )


def _rerun(evidence: Evidence, path: PathRecord) -> str:
    size = f"pool_size={path.get('pool_size')}"
    clients = f" clients={path.clients}" if path.clients > 1 else ""
    return evidence.rerun(f"pool={path.pool} {size}{clients}")


def _trips(number: float) -> str:
    return "trip" if number == 1 else "trips"


def _by_size(evidence: Evidence) -> Iterator[tuple[Cell, list[Cell]]]:
    """Each steady cell of a pool with those that differ only in the pool's size."""
    pooled = [cell for cell in evidence.sound() if cell.path.pooled and cell.regime == "steady"]
    for alike in grouped(pooled, lambda cell: (cell.key[1:], _but(cell.path, "pool_size"))).values():
        for cell in alike:
            yield cell, [other for other in alike if other is not cell]


def _surely_faster(evidence: Evidence, cell: Cell, others: list[Cell]) -> tuple[Cell, str] | None:
    """The fastest of the others that is surely faster, and its share of the time with the interval."""
    pairs = [(other, found) for other in others if (found := evidence.cells.interval(other, cell)) and found.high < 0]
    if not pairs:
        return None
    best, interval = min(pairs, key=lambda pair: pair[1].ratio)
    return best, interval_text(interval)


def _borrowing(cell: Cell) -> float:
    """Borrowing's share of the time of all clients' operations."""
    samples = [one for one in cell.every_sample() if one.operations]
    spent = sum(sum(each["ns"] for each in one.clients) or one.ns for one in samples)
    return sum(one.borrow_ns for one in samples) / max(1, spent)


def _asks(path: PathRecord) -> bool:
    """Whether its pool may ask the server for something of its own."""
    return path.pooled and (path.validation != "none" or path.profile == "shipped")


def _beside_pools(path: PathRecord) -> tuple[tuple[str, str], ...]:
    return _but(path, "pool", "pool_size", "validation", "clients", "concurrency")


def _but(path: PathRecord, *keys: str) -> tuple[tuple[str, str], ...]:
    """The path's coordinates but for these."""
    return tuple(pair for pair in path.coordinates.items() if pair[0] not in keys)
