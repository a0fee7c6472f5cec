"""What a program gets without requesting it: transactions of a driver's own, preparing again, TLS, the main thread."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.answer_model import Finding, error, note, warning
from rowpath.analysis.cells import Cell, Where
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings.contracts import made_once
from rowpath.analysis.model import Ranking
from rowpath.analysis.wording import interval_text, phase_text, phases_text
from rowpath.journal.records import CountedRecord, WorkerRecord
from rowpath.model.grouping import grouped
from rowpath.model.path import ENCRYPTED
from rowpath.model.probe import PlanFacts

TRAVELS = 0.5  # texts per operation, from which on a statement is not prepared only once
EACH_TIME = 0.95  # texts per operation of a statement that is prepared on each execution
OFF = ("off", "false", "0", "no")
Ranked = dict[tuple[Where, frozenset[tuple[str, str]]], tuple[Cell, Ranking]]
STACK_LOOKUP_CALLS = 4  # at least, of the C library finding the main thread's stack: open, stat, read, close


def implicit_transaction(evidence: Evidence) -> Iterator[Finding]:
    """A connection without autocommit where autocommit was requested: the driver opens its own transactions."""

    def autocommits(counts: CountedRecord) -> bool:
        defined = evidence.phase(counts)
        return defined is not None and defined.transaction == "autocommit" and defined.kind in ("query", "execute")

    counted = grouped(filter(autocommits, evidence.counted.values()), lambda counts: counts.path_id)
    for path_id, settings in _settings(evidence).items():
        if str(settings.get("autocommit", "")).lower() not in OFF or path_id not in counted:
            continue
        listed = "; ".join(map(_transaction_text, counted[path_id]))
        yield warning(
            f"{evidence.name(path_id)} opens its own transactions in {phases_text(counted[path_id])}, "
            "where autocommit was requested",
            f"autocommit={settings['autocommit']} on the live connection; {listed}",
            "the driver's default: it begins a transaction before the first statement, and the program must commit",
            evidence.rerun("profile=tuned"),
            (evidence.name(path_id),),
        )


def _transaction_text(counts: CountedRecord) -> str:
    parts = [
        f"{text.count(each)} {name.replace('_', ' ')}"
        for name in ("round_trips", "commits")
        if (each := counts.each(name)) is not None
    ]
    return f"{phase_text(counts)}: {' and '.join(parts) or 'no counts'} per operation"


def prepared_each_time(evidence: Evidence) -> Iterator[Finding]:
    """The SQL text travels with each execution: a broken promise, or the cost of `bound`."""
    ranked = _ranked(evidence)
    for counts in evidence.counted.values():
        path, sent = evidence.path(counts.path_id), counts.each("texts_sent")
        defined = evidence.phase(counts)
        if defined is not None and (defined.kind not in ("query", "execute") or made_once(defined)):
            continue
        if path is None or sent is None:
            continue
        times = f"{text.count(counts.texts_sent)} times in {counts.operations} operations"
        counted = f"its SQL text went to the server {times}"
        if path.statement == "prepared" and sent >= TRAVELS:
            yield warning(
                f"{path.name} prepares on each execution in {phase_text(counts)}, although statement=prepared",
                counted,
                "the driver caches no prepared statement for this call, or a limit evicts it",
                f"rowpath run {evidence.experiment} --plan",
                (path.name,),
            )
        elif path.statement == "bound" and sent >= EACH_TIME:
            cell = evidence.cells.get(*counts.where, "steady")
            twin = _twin(ranked, cell, statement="prepared")
            interval = evidence.cells.interval(cell, twin) if cell is not None and twin is not None else None
            if cell is None or twin is None or interval is None:
                continue
            yield note(
                f"{path.name} is prepared on each execution in {phase_text(cell)}: "
                f"{interval_text(interval)} the cost of {twin.path.name}",
                f"{counted}; {text.duration(cell.median)} against {text.duration(twin.median)} prepared once",
                "statement=bound parses and plans each time and sends the SQL text",
                evidence.rerun("statement=prepared"),
                (path.name,),
            )


def _ranked(evidence: Evidence) -> Ranked:
    """Every ranked cell with its ranking, by where it was measured and the path's coordinates."""
    return {
        (cell.key[1:], frozenset(cell.path.coordinates.items())): (cell, ranking)
        for ranking in evidence.rankings
        for row in ranking.rows
        if row.rank and (cell := evidence.cell(row, ranking))
    }


def _twin(ranked: Ranked, cell: Cell | None, **changed: str) -> Cell | None:
    """The ranked path of the same ranking that differs only in these coordinates, if both have a rank."""
    if cell is None:
        return None
    own = cell.path.coordinates
    itself, twin = (ranked.get((cell.key[1:], frozenset(each.items()))) for each in (own, own | changed))
    return twin[0] if itself and twin and itself[1] is twin[1] else None


def main_thread_stack(evidence: Evidence) -> Iterator[Finding]:
    """An engine in the client's process that costs more system calls, and time, when the main thread calls it."""
    ranked = _ranked(evidence)
    for cell in evidence.sound():
        main = cell.path.get("thread") == "main" and cell.path.embedded
        twin = _twin(ranked, cell, thread="worker") if main and cell.regime == "steady" else None
        interval = evidence.cells.interval(cell, twin) if twin is not None else None
        if twin is None or interval is None or interval.low <= 0:
            continue
        calls, fewer = (evidence.per_operation(each, "system_calls") for each in (cell, twin))
        if calls is None or fewer is None or calls - fewer < STACK_LOOKUP_CALLS:
            continue
        yield warning(
            f"{cell.path.name} is slower on the main thread in {phase_text(cell)}: "
            f"{interval_text(interval)} the cost of {twin.path.name}",
            f"{text.count(calls)} system calls an operation on the main thread, {text.count(fewer)} on a thread of "
            f"its own; {text.duration(cell.median)} against {text.duration(twin.median)}",
            "the library looks up its thread's stack (pthread_getattr_np) on every call; for the main thread the C "
            "library opens, reads and parses /proc/self/maps each time",
            evidence.rerun("thread=worker,main"),
            (cell.path.name, twin.path.name),
        )


def unrequested_tls(evidence: Evidence) -> Iterator[Finding]:
    """A connection that is encrypted although the path does not have `tls=on`."""
    for path_id, settings in _settings(evidence).items():
        path, found = evidence.path(path_id), str(settings.get("tls", "")).lower()
        requested = path.coordinates.get("tls", "off") if path is not None else "on"
        if path is None or requested in ENCRYPTED or not found.startswith("on"):
            continue
        by_default = requested == "default" or path.profile == "shipped"
        yield (warning if by_default else error)(
            f"{path.name} encrypts its connection although tls={requested}",
            f"tls={settings['tls']} on the live connection",
            "the driver uses TLS when the server offers it"
            if by_default
            else "the driver has no option to disable TLS, or its adapter does not set it",
            evidence.rerun("tls=off,on"),
            (path.name,),
        )


def compressed_messages(evidence: Evidence) -> Iterator[Finding]:
    """A connection with compression: what a proxy reads from messages is unknown there; bytes are counted."""
    passed = [counts for counts in evidence.counted.values() if counts.bytes_received is not None]
    for path_id, counted in grouped(passed, lambda counts: counts.path_id).items():
        if evidence.coordinate(path_id, "compression") == "none":
            continue
        name, most = evidence.name(path_id), max(counted, key=lambda counts: counts.each("payload_bytes") or 0.0)
        yield note(
            f"{name} compresses its connection: whether SQL texts travel with each execution is unknown",
            f"{text.count(most.each('bytes_received'))} bytes received per operation of {phase_text(most)}, "
            f"{text.count(most.each('payload_bytes'))} of payload",
            "no message can be read of compressed bytes; bytes and round trips are counted all the same",
            evidence.rerun("compression=none"),
            (name,),
        )


def _settings(evidence: Evidence) -> dict[str, dict[str, object]]:
    """The effective settings of each path's last connection, by path id."""
    reported = ((worker.path_id, worker.facts.get("settings")) for worker in evidence.journal.all(WorkerRecord))
    return {path_id: settings for path_id, settings in reported if isinstance(settings, dict)}


def parameter_type(evidence: Evidence) -> Iterator[Finding]:
    """A parameter that arrives as another type than the column's, so that the server leaves an index unused."""
    for record in evidence.journal.probe:
        types = record.parameter_types
        lost = set(types.plan_column.indexes) - set(types.plan_sent.indexes) if types else ()
        if types is None or not lost:
            continue
        pairs = [(sent, column) for sent, column in zip(types.sent, types.column, strict=True) if sent != column]
        as_sent, as_column = (" and ".join(dict.fromkeys(each)) for each in zip(*pairs, strict=True))
        yield warning(
            f"{' and '.join(types.names)} send a parameter as {as_sent}, and the column needs {as_column}: "
            f"the server does not use {' and '.join(sorted(lost))}",
            f"EXPLAIN with {as_sent}: {_plan_text(types.plan_sent)}; with {as_column}: {_plan_text(types.plan_column)}",
            "an index holds values of the column's type; the server converts each row's value to compare it",
            f"give the parameter the type {as_column}, in the program or by a cast in the query",
            types.names,
        )


def _plan_text(plan: PlanFacts) -> str:
    using = f" using {' and '.join(plan.indexes)}" if plan.indexes else ""
    return f"{' and '.join(plan.scans) or 'no scan'}{using}, cost {plan.cost:,.6g}"
