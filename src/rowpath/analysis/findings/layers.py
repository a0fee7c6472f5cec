"""What a layer sends without being asked: a statement for each object, more statements than a program by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.answer_model import Finding, note, warning
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import phase_text
from rowpath.journal.records import CountedRecord, PathRecord
from rowpath.model.grouping import grouped
from rowpath.model.path import BY_HAND

REPEATED = 3  # times in one operation, from which on a statement belongs to each object
QUERIES = "queries"  # the technique by hand that an expert's use of a layer is held against
DRIVER = ("engine", "engine_version", "deployment", "language", "driver", "version")


def statement_for_each_object(evidence: Evidence) -> Iterator[Finding]:
    """A layer that loads or stores objects one by one, each by a statement (N+1)."""
    for counts, path in _with_texts(evidence):
        ((sql, times),) = Counter(counts.sql).most_common(1)
        if path.layer == BY_HAND or times < REPEATED:
            continue
        yield note(
            f"{path.name} sends one statement {times} times per operation in {phase_text(counts)}: one for each object",
            f"{text.count(counts.each('statements'))} statements per operation; {times} times: {text.clean(sql)}",
            "the layer loads or stores related objects one by one: it may have a way to do it together",
            evidence.rerun("profile=tuned"),
            (path.name,),
        )


def more_statements_than_by_hand(evidence: Evidence) -> Iterator[Finding]:
    """A tuned layer that sends more statements than the program by hand with one for each list."""
    for alike in grouped(
        _with_texts(evidence), lambda one: (one[0].where[1:], tuple(map(one[1].get, DRIVER)))
    ).values():
        floors = [counts for counts, path in alike if path.technique == QUERIES]
        least = min((each for one in floors if (each := one.each("statements"))), default=None)
        for counts, path in alike:
            sent = counts.each("statements")
            if least is None or sent is None or sent <= least or path.layer == BY_HAND or path.profile != "tuned":
                continue
            yield warning(
                f"{path.name} sends {text.count(sent)} statements per operation in {phase_text(counts)}, "
                f"by hand {text.count(least)} do",
                " · ".join(map(text.clean, counts.sql)),
                "the layer opens a transaction, asks for what it has, or takes objects one by one",
                evidence.rerun(f"layer={path.layer}"),
                (path.name,),
            )


def _with_texts(evidence: Evidence) -> Iterator[tuple[CountedRecord, PathRecord]]:
    """The counts of operations by layers and by hand, with the texts of their statements."""
    for counts in evidence.counted.values():
        path = evidence.path(counts.path_id)
        if path is not None and counts.sql:
            yield counts, path
