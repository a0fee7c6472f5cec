"""Published figures that cannot all be true."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rowpath import text
from rowpath.analysis.answer_model import Finding
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import words
from rowpath.model import claims
from rowpath.model.claims import Consistency, PublishedColumn, Shared

AGREE = 0.1  # what one operation would have had in two states, for it to be the same


def published_contradicts_itself(evidence: Evidence) -> Iterator[Finding]:
    """Operations with published rates that do not fit into the published bandwidth; no measured figure is used."""
    columns = evidence.journal.run.experiment.published
    for relation in evidence.journal.run.experiment.consistency:
        shared = claims.states(columns, relation)
        missing = claims.impossible(relation, shared)
        if not missing:
            continue
        steps = [_arithmetic(columns, relation, shared, name) for name in missing]
        others = [name for name in relation.rates if name not in missing and _agrees(shared, name)]
        steps += [
            f"{_arithmetic(columns, relation, shared, name)}, the same in each: all traffic is {name}s"
            for name in others
        ]
        yield Finding(
            "published-contradicts-itself",
            "warning",
            f"{relation.about}: {words(f'{name}s' for name in missing)} exceed the "
            "published bandwidth of the connections",
            "; ".join(steps) + f"; an operation takes {text.count(relation.least_bytes)} bytes or more",
            f"the {words(f'{name}s' for name in missing)} counted did not reach the server over the network: "
            "they were answered elsewhere, or failed and were counted",
            evidence.rerun(),
        )


def _arithmetic(columns: Sequence[PublishedColumn], relation: Consistency, shared: Sequence[Shared], name: str) -> str:
    """`(42 − 2) KB/s / 27,000/s = 1.48` for each state, as bytes of one operation."""
    unit = next(column.unit for column in columns if column.column == relation.bandwidth[0].column)
    terms = [
        f"({text.count(state.bandwidth)} − {text.count(state.baseline)}) {unit} / {text.count(state.rates[name])} "
        f"{name}s/s = {_bytes(state.bytes_each[name])}"
        for state in shared
        if name in state.bytes_each
    ]
    return f"{words(terms)} bytes or fewer a {name}"


def _bytes(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.1f}"


def _agrees(shared: Sequence[Shared], name: str) -> bool:
    """Whether one number of bytes explains all traffic of every state (there are at least two)."""
    each = [state.bytes_each[name] for state in shared if state.bytes_each.get(name, 0) > 0]
    return len(each) >= 2 and math.log(max(each) / min(each)) <= AGREE
