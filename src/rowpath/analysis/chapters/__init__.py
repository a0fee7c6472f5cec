"""The chapters of a report beside its rankings, in the order in which they are read.

A chapter is a topic in one file: the nouns that the JSON holds, the function that makes them of the evidence, the
sentences that the verdict gains, and the tables with the sentence and the picture that each begins with. What flows in
is evidence (cells, counts, the long form), or, of a chapter that only shows results in another order, the lookup of a
finished analysis. What flows out is a value under the chapter's key in `Analysis.chapters` and in the JSON, and
sections, which every report prints in the places that it has for them. To add one is a file here and a line below.

`probe` and `sizing` come first: they ask nothing else. Then the tables below the rankings of one phase: `at_once`
(clients, statements in a pipeline) and `resources`. Then what goes over several phases or paths: `ladder` (layers over
a driver), `pool_ladders`, `pooler_ladders`, `loading`, `links`, `slower_links`, `many_operations`, `sweeps` (the size
of a result or a batch), `retrievals` (a whole table), `block_sizes`, `scalings` (a table in parts) and `cost_models`.
`mixed_load` is a package: client groups at work at once. Last where time goes (`explanations` of the profiler), and
what others said: `published` claims and figures, and the `factors` of such a figure.
"""

from __future__ import annotations

from typing import Any

from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters import (
    at_once,
    block_sizes,
    cost_models,
    explanations,
    factors,
    ladder,
    links,
    loading,
    many_operations,
    mixed_load,
    pool_ladders,
    pooler_ladders,
    probe,
    published,
    resources,
    retrievals,
    scalings,
    sizing,
    slower_links,
    sweeps,
)

_ORDERED: tuple[Chapter[Any], ...] = (
    probe.CHAPTER,
    sizing.CHAPTER,
    at_once.CLIENTS,
    at_once.PIPELINES,
    resources.COSTS,
    resources.EFFORTS,
    resources.REGIMES,
    probe.TABLES,
    ladder.CHAPTER,
    pool_ladders.CHAPTER,
    pooler_ladders.CHAPTER,
    loading.CHAPTER,
    links.CHAPTER,
    slower_links.CHAPTER,
    many_operations.CHAPTER,
    sweeps.CHAPTER,
    retrievals.CHAPTER,
    block_sizes.CHAPTER,
    scalings.CHAPTER,
    cost_models.CHAPTER,
    mixed_load.CHAPTER,
    explanations.CHAPTER,
    published.CLAIMS,
    factors.CHAPTER,
    published.PUBLISHED,
)
CHAPTERS = {chapter.key: chapter for chapter in _ORDERED}
