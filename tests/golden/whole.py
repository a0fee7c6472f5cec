"""The made-up analyses with what `analyse` derives from the rest: the answer, pictures, details of every path."""

from __future__ import annotations

import random

import msgspec

from rowpath.analysis.answer import SpentBy, TimeShares, answer, pictures
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.model import Against, Analysis, Neighbour, PathDetails, Ranking


def whole(analysis: Analysis) -> Analysis:
    """The analysis with its answer, pictures and path details; the same at each call."""
    spent = _spent(analysis)
    leading = _leading(analysis)
    diagnostics = dict(analysis.diagnostics)
    if diagnostics.get("order"):
        diagnostics["order"] = _with_costs(analysis)
    complete = msgspec.structs.replace(
        analysis,
        diagnostics=diagnostics,
        path_details=tuple(
            PathDetails(
                path_id,
                name,
                {"driver": f"{number}.1", "engine": "3.40.1"},
                {"autocommit": "on", "fetch_size": str(number % 3)},
                f"rowpath run tour driver={number}",
            )
            for number, (path_id, name) in enumerate(analysis.names.items())
        ),
        neighbours=tuple(_neighbours(analysis)),
        pictures=pictures(analysis, spent),
    )
    sentences = [Sentence("fastest", text) for text in analysis.verdict]
    return msgspec.structs.replace(complete, answer=answer(complete, leading, sentences, spent))


def _leading(analysis: Analysis) -> list[Ranking]:
    first: dict[tuple[str, str], Ranking] = {}
    for ranking in analysis.rankings:
        if ranking.regime == "steady":
            first.setdefault((ranking.workload, ranking.phase), ranking)
    return list(first.values())


def _spent(analysis: Analysis) -> SpentBy:
    found = {}
    for ranking in analysis.rankings:
        for number, row in enumerate(row for row in ranking.rows if row.rank):
            share = 1.0 if "sqlite" in row.name else 0.3
            server = 0.65 if number % 2 else 0.75  # of some paths client and server overlap
            found[row.path_id, ranking.workload, ranking.phase, ranking.regime] = TimeShares(
                share, None if share == 1.0 else server
            )
    return found


def _neighbours(analysis: Analysis) -> list[Neighbour]:
    found = []
    for each in analysis.rankings:
        ranked = [row for row in each.rows if row.rank and row.path_id in analysis.names]
        for row, other in zip(ranked, [*ranked[1:], *ranked[:1]], strict=True):
            found.append(
                Neighbour(each.workload, each.phase, each.regime, row.path_id, other.path_id, Against(1.25, 1.2, 1.3))
            )
    return found


def _with_costs(analysis: Analysis) -> list[dict[str, object]]:
    rng = random.Random(7)
    where = {"workload": "keyed", "phase": "read", "regime": "steady"}
    return [{"cost_ns": rng.uniform(9_000, 11_000), **where, **block} for block in analysis.diagnostics["order"]]
