"""Parameters that arrive at the server as other types than the columns have."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath.analysis.answer_model import Finding
from rowpath.analysis.evidence import Evidence
from rowpath.model.probe import PlanFacts


def parameter_type(evidence: Evidence) -> Iterator[Finding]:
    """A parameter that arrives as another type than the column's, so that the server leaves an index unused."""
    for record in evidence.journal.probe:
        types = record.parameter_types
        lost = set(types.plan_column.indexes) - set(types.plan_sent.indexes) if types else ()
        if types is None or not lost:
            continue
        pairs = [(sent, column) for sent, column in zip(types.sent, types.column, strict=True) if sent != column]
        as_sent, as_column = (" and ".join(dict.fromkeys(each)) for each in zip(*pairs, strict=True))
        yield Finding(
            "parameter-type",
            "warning",
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
