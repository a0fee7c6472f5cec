"""What a pooler does to prepared statements: they fail behind it, or are prepared again and again."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.answer_model import Finding, warning
from rowpath.analysis.chapters.pooler_ladders import NONE, alone, called
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import phase_text
from rowpath.journal.records import PathRecord, PoolerRecord

MORE_TRIPS = 0.5  # per operation, from which on a statement is prepared again


def prepared_behind_pooler(evidence: Evidence) -> Iterator[Finding]:
    """A path that fails, or prepares again, behind a pooler because its statements are prepared."""
    for record in evidence.journal.all(PoolerRecord):
        path = evidence.path(record.path_id)
        if path is None or record.statement_stays is not False:
            continue
        yield warning(
            f"{path.name} fails behind {called(path)}: its statements are prepared",
            f"{record.statement_code} {record.statement_text}".strip(),
            f"the pooler lends another server connection, which lacks the statement{_cure(record)}",
            _rerun(evidence, path),
            (path.name,),
        )
    direct = {alone(path): path for path in evidence.journal.paths.values() if path.pooler == NONE}
    for counts in evidence.counted.values():
        path = evidence.path(counts.path_id)
        twin = direct.get(alone(path)) if path is not None and path.pooler != NONE else None
        alike = evidence.counted.get((twin.path_id, *counts.where[1:])) if twin is not None else None
        trips, usual = counts.each("round_trips"), alike.each("round_trips") if alike is not None else None
        if path is None or trips is None or usual is None or trips - usual < MORE_TRIPS:
            continue
        yield warning(
            f"{path.name} takes more round trips behind {called(path)} in {phase_text(counts)} than without it",
            f"{text.count(trips)} round trips per operation, without the pooler {text.count(usual)}",
            "the driver prepares its statement again for each operation",
            _rerun(evidence, path),
            (path.name,),
        )


def _cure(record: PoolerRecord) -> str:
    """The driver's own setting, where its manifest names one."""
    return f"; cured by {record.unprepared}" if record.unprepared else ""


def _rerun(evidence: Evidence, path: PathRecord) -> str:
    cure = "statement=bound" if path.statement == "prepared" else "pooler_mode=session"
    return evidence.rerun(f"pooler={path.pooler} {cure}")
