"""The SQL of a phase as a reader knows it: columns named, what is the engine's own DDL in outline."""

from __future__ import annotations

import re

from rowpath import text as fmt
from rowpath.analysis.model import Analysis
from rowpath.model.workload import with_columns

_DDL = re.compile(r"\{(create|drop):([^{}]+)\}")


def common(analysis: Analysis, workload: str, phase: str) -> str:
    """What engines without a dialect of their own get; empty when the journal does not say."""
    known = analysis.run.phase(workload, phase)
    return _named(analysis, workload, phase, known.sql) if known else ""


def own(analysis: Analysis, workload: str, phase: str, engine: str) -> str:
    """What only this engine gets; empty when it gets the common statement."""
    known = analysis.run.phase(workload, phase)
    return _named(analysis, workload, phase, known.dialects.get(engine, "")) if known else ""


def _named(analysis: Analysis, workload: str, phase: str, sql: str) -> str:
    known = analysis.run.workloads[workload]
    named = with_columns(known, known.phase(phase), sql)
    return fmt.clean(_DDL.sub(lambda match: f"{match[1].upper()} TABLE {match[2]}", named))
