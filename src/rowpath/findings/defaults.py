"""What drivers do though nobody asked for it: transactions of their own, preparing anew, encrypting."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath.cells import Cell
from rowpath.evidence import Evidence
from rowpath.findings.where import phase_text, phases_text
from rowpath.journal_reader import InvocationRecord, ProofRecord
from rowpath.model import Finding
from rowpath.report import format as text

TRAVELS = 0.5  # texts per operation, from which on a statement that was prepared once is one no more
ANEW = 0.95  # texts per operation of a statement that is prepared on each execution
OFF = ("off", "false", "0", "no")


def implicit_transaction(evidence: Evidence) -> Iterator[Finding]:
    """A connection without autocommit where autocommit was meant: the driver opens transactions of its own."""
    proofs: dict[str, list[ProofRecord]] = {}
    for proof in evidence.proofs.values():
        defined = evidence.definition(proof.workload, proof.phase)
        if defined.get("transaction") == "autocommit" and defined.get("kind") in ("query", "execute"):
            proofs.setdefault(proof.path_id, []).append(proof)
    for path_id, settings in _settings(evidence).items():
        if str(settings.get("autocommit", "")).lower() not in OFF or path_id not in proofs:
            continue
        told = "; ".join(_transaction_text(proof) for proof in proofs[path_id])
        yield Finding(
            "implicit-transaction",
            "warning",
            f"{evidence.name(path_id)} opens transactions of its own in {phases_text(proofs[path_id])}, "
            "where autocommit was meant",
            f"autocommit={settings['autocommit']} on the live connection; {told}",
            "the driver's default: it begins a transaction before the first statement, and the program must end it",
            evidence.rerun("profile=tuned"),
            (evidence.name(path_id),),
        )


def _transaction_text(proof: ProofRecord) -> str:
    parts = [
        f"{text.count(each)} {name.replace('_', ' ')}"
        for name in ("round_trips", "commits")
        if (each := proof.each(name)) is not None
    ]
    return f"{phase_text(proof)}: {' and '.join(parts) or 'nothing counted'} per operation"


def prepared_anew(evidence: Evidence) -> Iterator[Finding]:
    """Statements whose text travels with each execution: as a broken promise, or as what `bound` costs."""
    for proof in evidence.proofs.values():
        path, sent = evidence.path(proof.path_id), proof.each("texts_sent")
        kind = evidence.definition(proof.workload, proof.phase).get("kind", "query")
        if path is None or sent is None or kind not in ("query", "execute"):
            continue
        statement = path.coordinates.get("statement")
        counted = (
            f"its SQL text went to the server {text.count(proof.texts_sent)} times in {proof.operations} operations"
        )
        if statement == "prepared" and sent >= TRAVELS:
            yield Finding(
                "prepared-anew",
                "warning",
                f"{path.name} prepares anew on each execution in {phase_text(proof)}, although statement=prepared",
                counted,
                "the driver keeps no prepared statement for this way of executing it, or a limit throws it out",
                f"rowpath run {evidence.experiment} --plan",
                (path.name,),
            )
        elif statement == "bound" and sent >= ANEW:
            yield from _dearer_than_prepared(evidence, proof, counted)


def _dearer_than_prepared(evidence: Evidence, proof: ProofRecord, counted: str) -> Iterator[Finding]:
    cell = evidence.cells.get(*proof.where, "steady")
    twin = _prepared_twin(evidence, cell) if cell is not None else None
    interval = evidence.cells.interval(cell, twin) if cell is not None and twin is not None else None
    if cell is None or twin is None or interval is None:
        return
    ratio = f"{text.ratio(interval.ratio)} ({text.interval(interval.ratio_low, interval.ratio_high)})"
    yield Finding(
        "prepared-anew",
        "note",
        f"{cell.path.name} is prepared anew on each execution in {phase_text(cell)}: "
        f"{ratio} the cost of {twin.path.name}",
        f"{counted}; {text.duration(cell.median)} against {text.duration(twin.median)} prepared once",
        "parsing and planning again, and the text's bytes: what statement=bound means",
        evidence.rerun("statement=prepared"),
        (cell.path.name, twin.path.name),
    )


def _prepared_twin(evidence: Evidence, cell: Cell) -> Cell | None:
    """The ranked path of the same ranking that differs in its statement mode alone, if both have a rank."""
    wanted = {**cell.path.coordinates, "statement": "prepared"}
    for ranking in evidence.rankings:
        if (ranking.workload, ranking.phase, ranking.regime) != cell.key[1:]:
            continue
        ranked = {row.path_id for row in ranking.rows if row.rank}
        for path_id in ranked if cell.path.path_id in ranked else ():
            path = evidence.path(path_id)
            if path is not None and path.coordinates == wanted:
                return evidence.cells.get(path_id, *cell.key[1:])
    return None


def tls_not_asked_for(evidence: Evidence) -> Iterator[Finding]:
    """A connection that is encrypted although the path does not say `tls=on`."""
    for path_id, settings in _settings(evidence).items():
        path, found = evidence.path(path_id), str(settings.get("tls", "")).lower()
        asked = path.coordinates.get("tls", "off") if path is not None else "on"
        if path is None or asked == "on" or not found.startswith("on"):
            continue
        by_default = asked == "default" or path.coordinates.get("profile") == "shipped"
        yield Finding(
            "tls-not-asked-for",
            "warning" if by_default else "error",
            f"{path.name} encrypts its connection although tls={asked}",
            f"tls={settings['tls']} on the live connection",
            "the driver takes TLS where the server offers it"
            if by_default
            else "the driver cannot be told not to, or its adapter does not tell it",
            evidence.rerun("tls=off,on"),
            (path.name,),
        )


def _settings(evidence: Evidence) -> dict[str, dict[str, object]]:
    """By path id: the effective settings that its last connection told."""
    found: dict[str, dict[str, object]] = {}
    for invocation in evidence.journal.all(InvocationRecord):
        settings = invocation.facts.get("settings")
        if isinstance(settings, dict):
            found[invocation.path_id] = settings
    return found
