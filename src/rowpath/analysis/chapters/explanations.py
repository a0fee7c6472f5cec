"""Where the time of single paths goes, as `rowpath explain` measured it after the run."""

from __future__ import annotations

from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.model.explanation import Explanation


def explanations(evidence: Evidence) -> tuple[Explanation, ...]:
    """Those that the journal holds."""
    return tuple(evidence.journal.explanations.values())


CHAPTER = Chapter("explanations", explanations, place="time")
