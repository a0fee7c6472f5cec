"""Coordinates that counters and memory disprove: statement mode, durability, fetch size; and mixed versions."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator

from rowpath import text
from rowpath.analysis.answer_model import Finding, error, note, warning
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import by_name, phase_text, words
from rowpath.journal.records import CountedRecord, MemoryRecord, PathRecord
from rowpath.model.grouping import grouped
from rowpath.model.path import BY_HAND
from rowpath.model.workload import Phase

ROUND_TRIPS = {"text": (1, 1), "prepared": (1, 1), "bound": (1, 3)}  # of an operation with at most one row
ROUND_TRIPS_SLACK = 0.05
OF_POOL = 2  # it may validate what it lends and reset what comes back: `validation-round-trip` has that
PIPELINE_SLACK = 0.5  # a client that loses its core in a pipeline looks as if it waited for an answer
FETCHED = ("cursor", "fetch-size")  # ways of a result that take a round trip for this many rows
EXECUTES_LEAST = 0.95  # per operation
COMMITS_SLACK = 0.05
COMMITS_LAG = 1  # that a backend may report one reading late
SYNCS_FULL = 0.95  # per commit; a few commits may share one
SYNCS_NONE = 0.5  # per commit: fewer are those of files that grow
PROVABLE_BYTES = 4 << 20  # a smaller result drowns in what allocators keep
HELD_SHARE = 0.5  # of the payload


def round_trips_not_as_declared(evidence: Evidence) -> Iterator[Finding]:
    """A statement mode that the round trips disprove."""
    for counts, path in _counts(evidence):
        statement = path.statement
        turns = pipelines(counts, path)  # 1 of each operation, where it is not one of a pipeline
        defined = evidence.phase(counts)
        # Which sends what it needs.
        by_layer = (defined is not None and defined.kind == "objects") or path.layer != BY_HAND
        if counts.round_trips is None or statement not in ROUND_TRIPS or not turns or by_layer:
            continue
        trips, pipelined = counts.round_trips / turns, turns < counts.operations
        least, usual = ROUND_TRIPS[statement]
        most = max(usual, path.most_round_trips) + (OF_POOL if path.pooled else 0)
        few = trips < least - ROUND_TRIPS_SLACK  # not even one turn each: true of any operation
        slack = PIPELINE_SLACK if pipelined else ROUND_TRIPS_SLACK
        if not few and (trips <= most + slack or path.result.startswith(FETCHED) or not _point(evidence, counts)):
            continue
        expected = str(least) if least == most else f"{least} to {most}"
        what, pipeline = ("pipeline", f"pipeline={path.pipeline}, ") if pipelined else ("operation", "")
        yield (error if few else warning)(
            f"{path.name} takes {text.count(trips)} round trips per {what} in {phase_text(counts)}, "
            f"where {pipeline}statement={statement} means {expected}",
            f"{text.count(counts.round_trips)} round trips in {counts.operations} operations "
            "through the counting proxy",
            "some operations do not reach the server"
            if few
            else "the driver waits for answers before it has sent the whole pipeline"
            if pipelined
            else "the driver prepares each time, opens transactions or sends requests twice",
            f"rowpath run {evidence.experiment} --plan",
            (path.name,),
        )


def pipelines(counts: CountedRecord, path: PathRecord) -> int:
    """How many pipelines the counted operations were sent in: as many as operations, where none are pipelined.

    Clients share the operations as evenly as possible; each one's last pipeline may be shorter.
    """
    each, more = divmod(counts.operations, path.clients)
    return more * math.ceil((each + 1) / path.pipeline) + (path.clients - more) * math.ceil(each / path.pipeline)


def statement_not_as_declared(evidence: Evidence) -> Iterator[Finding]:
    """A statement mode that the server's counters of prepared statements disprove."""
    for counts, path in _counts(evidence):
        prepares, executes = counts.each("prepares"), counts.each("executes")
        statement, defined = path.statement, evidence.phase(counts)
        # Making a table takes no parameters, and drivers do not prepare it whatever is requested.
        once = defined is not None and (defined.kind == "load" or made_once(defined))
        if prepares is None or executes is None or once:
            continue
        if statement == "prepared" and executes < EXECUTES_LEAST:
            problem = "the server executes no prepared statement: the driver writes the values into the SQL text"
        elif statement == "text" and executes + prepares > 1 - EXECUTES_LEAST:
            problem = "the server prepares or executes a prepared statement, where plain text was requested"
        else:
            continue
        yield error(
            f"{path.name} is not statement={statement} in {phase_text(counts)}: {problem}",
            f"{text.count(counts.prepares)} prepares and {text.count(counts.executes)} executes of prepared statements "
            f"in {counts.operations} operations, by the server's counters",
            "a driver option did not take effect",
            f"rowpath run {evidence.experiment} --plan",
            (path.name,),
        )


def made_once(defined: Phase) -> bool:
    """Whether it is a statement without parameters, such as making a table."""
    return defined.kind == "execute" and defined.parameters is None


def syncs_not_as_declared(evidence: Evidence) -> Iterator[Finding]:
    """A durability that the syncs per commit disprove."""
    for counts, path in _counts(evidence):
        syncs, durability, defined = counts.each("syncs"), path.durability, evidence.phase(counts)
        if syncs is None or not evidence.writes(*counts.where[1:]):
            continue
        each = syncs / min(1.0, counts.each("commits") or 1.0)  # commits beyond one per operation have nothing to sync
        # A load, or making a table, makes files or lets them grow, which may be synced for their own sake.
        single = defined is None or (defined.kind != "load" and defined.access != "create")
        # Commits that come together may share a sync.
        if durability == "full" and each < SYNCS_FULL / path.clients:
            problem = "not every commit reaches the disk"
        elif durability == "none" and single and each > SYNCS_NONE and len(path.durabilities) > 1:
            problem = "commits reach the disk although durability=none"
        else:
            continue
        yield error(
            f"{path.name} is not durability={durability} in {phase_text(counts)}: {problem}",
            f"{text.count(each)} syncs per commit in {counts.operations} operations",
            "a setting did not take effect, or syncs are shared or asynchronous",
            "rowpath doctor",
            (path.name,),
        )


def commits_not_as_declared(evidence: Evidence) -> Iterator[Finding]:
    """A transaction contract that the server's commit counter disproves: one commit per operation, no more, no less."""
    for counts, path in _counts(evidence):
        commits, defined, writes = counts.each("commits"), evidence.phase(counts), evidence.writes(*counts.where[1:])
        without = path.get("access") == "handler"  # each of HANDLER's reads is a transaction
        if defined is not None:  # servers make a table in transactions of their own
            reads = defined.kind == "execute" and not writes
            without |= reads or defined.kind == "connect" or defined.access == "create"
        if commits is None or counts.commits is None or without:
            continue
        expected: set[float] = {counts.operations}
        if path.statement == "bound" and counts.round_trips is not None:
            expected.add(counts.round_trips)  # parsing in a round trip of its own ends a transaction of its own
        if not writes:  # reads behind one Sync share a transaction
            expected.add(pipelines(counts, path))
        slack = max(COMMITS_LAG, COMMITS_SLACK * counts.operations)
        if any(abs(counts.commits - commits) <= slack for commits in expected):
            continue
        fewer = counts.commits < counts.operations  # that is less work than promised; more is the driver's own cost
        yield (error if fewer and path.profile == "tuned" else warning)(
            f"{path.name} commits {text.count(commits)} times per operation in {phase_text(counts)}, not once",
            f"{text.count(counts.commits)} commits in {counts.operations} operations by the server's counter",
            "statements share a transaction, or the driver opens its own transactions",
            f"rowpath run {evidence.experiment} --plan",
            (path.name,),
        )


def durability_differs(evidence: Evidence) -> Iterator[Finding]:
    """Paths of different durability in one comparison of a phase that writes."""
    reported: set[tuple[str, ...]] = set()
    for ranking in evidence.rankings:
        rows = [row for row in ranking.rows if row.rank]
        by_durability = grouped(rows, lambda row: evidence.coordinate(row.path_id, "durability"))
        key = (ranking.workload, ranking.phase, ranking.comparison)
        if len(by_durability) < 2 or key in reported or not evidence.writes(*key[:2]):
            continue
        reported.add(key)
        yield error(
            f"{ranking.workload}.{ranking.phase}: one ranking mixes durabilities: do not compare across them",
            by_name({durability: ", ".join(row.name for row in same) for durability, same in by_durability.items()}),
            "the paths share a comparison although their commits give different guarantees",
            evidence.rerun(f"durability={min(by_durability)}"),
            tuple(row.name for same in by_durability.values() for row in same),
        )


def fetch_size_ignored(evidence: Evidence) -> Iterator[Finding]:
    """A fetch size that cannot have been in force: too few round trips for the rows."""
    for counts, path in _counts(evidence):
        size, rows, trips = _fetch_size(path), _rows_each(evidence, counts.where) or 0.0, counts.each("round_trips")
        if not size or trips is None or rows < 4 * size or trips >= rows / size / 2:
            continue
        yield warning(
            f"{path.name} ignores its fetch size of {size} in {phase_text(counts)}",
            f"{rows:.0f} rows came in {text.count(trips)} round trips; {rows / size:.0f} were expected",
            "the driver uses a fetch size only inside a transaction, or never",
            f"rowpath run {evidence.experiment} --plan",
            (path.name,),
        )


def result_buffered_whole(evidence: Evidence) -> Iterator[Finding]:
    """Peak memory that grows by at least half of the result's payload: the client holds the whole result."""
    measured = (record for record in evidence.journal.all(MemoryRecord) if record.client_peak_bytes is not None)
    by_path = grouped(measured, lambda record: record.path_id)
    for path in evidence.journal.paths.values():
        grown = _growth(evidence, by_path.get(path.path_id, []))
        if not grown:
            continue
        declared = {"whole": ", as result=whole declares", "none": ""}.get(path.result)
        yield (warning if declared is None else note)(
            f"{path.name} holds a whole result in memory"
            + (f" although result={path.result}" if declared is None else declared),
            grown,
            "memory grows with the number of rows",
            f"rowpath run {evidence.experiment} --plan",
            (path.name,),
        )


def _growth(evidence: Evidence, measured: list[MemoryRecord]) -> str:
    """A path's phase with the most rows against the one with the fewest; empty where that proves nothing."""
    peaks = grouped(measured, lambda record: record.where)
    rows = {where: count for where in peaks if (count := _rows_each(evidence, where)) is not None}
    if len(rows) < 2:
        return ""
    small, large = min(rows, key=lambda where: rows[where]), max(rows, key=lambda where: rows[where])
    counts = evidence.counted.get(large)
    payload = counts.each("payload_bytes") if counts else None
    least, most = (statistics.median(record.client_peak_bytes or 0 for record in peaks[at]) for at in (small, large))
    if payload is None or payload < PROVABLE_BYTES or most - least < HELD_SHARE * payload:
        return ""
    return (
        f"{'.'.join(large[1:])} of {rows[large]:.0f} rows peaks {text.size(most - least)} above {'.'.join(small[1:])}; "
        f"its payload is {text.size(payload)}"
    )


def _rows_each(evidence: Evidence, where: tuple[str, str, str]) -> float | None:
    """Rows per operation as the samples of (path id, workload, phase) delivered them; None without samples."""
    for regime in ("steady", "cold"):
        cell = evidence.cells.get(*where, regime)
        for sample in cell.every_sample() if cell else ():
            if sample.operations:
                return sample.rows / sample.operations
    return None


def confounded_version(evidence: Evidence) -> Iterator[Finding]:
    """Drivers that carry their own build of the engine."""
    for reason, names in _names_by(evidence, lambda path: path.confounded):
        yield note(
            f"driver and engine version are confounded for {words(names)}: ranked apart",
            reason,
            "a difference from other paths may come from the driver or from the engine's build",
            "rowpath list paths",
            names,
        )


def stand_in(evidence: Evidence) -> Iterator[Finding]:
    """Paths to a program that stands in for an engine."""
    for reason, names in _names_by(evidence, lambda path: path.stands_in):
        yield warning(
            f"no real engine answered {words(names)}: ranked apart from paths to real ones",
            reason,
            "only the client's CPU time, memory, bytes and round trips are valid for a real server; times are not",
            "rowpath list engines",
            names,
        )


def _names_by(evidence: Evidence, reason: Callable[[PathRecord], str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names of the paths that have a reason, by reason."""
    groups = grouped(filter(reason, evidence.journal.paths.values()), reason)
    return ((text, tuple(path.name for path in paths)) for text, paths in groups.items())


def _counts(evidence: Evidence) -> Iterator[tuple[CountedRecord, PathRecord]]:
    for counts in evidence.counted.values():
        path = evidence.path(counts.path_id)
        if path is not None and not path.is_null:
            yield counts, path


def _point(evidence: Evidence, counts: CountedRecord) -> bool:
    """Whether it is one statement of at most one row: connecting, scans and transactions take more by nature."""
    defined = evidence.phase(counts)
    many = defined and (defined.transaction == "transaction" or defined.scan or defined.kind in ("connect", "load"))
    cells = [cell for regime in ("steady", "cold") if (cell := evidence.cells.get(*counts.where, regime))]
    connects = any(sample.connect_ns for cell in cells for sample in cell.every_sample())
    return bool(cells) and not many and not connects and (_rows_each(evidence, counts.where) or 0.0) <= 1


def _fetch_size(path: PathRecord) -> int:
    way, _, size = path.result.partition(":")
    return int(size) if way in FETCHED and size.isdigit() else 0
