"""The chapters of a report beside its rankings, in the order in which they are read."""

from __future__ import annotations

from typing import Any

from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters import (
    at_once,
    block_sizes,
    cost_models,
    explanations,
    links,
    loading,
    many_operations,
    probe,
    published,
    resources,
    retrievals,
    scalings,
    sweeps,
)

_ORDERED: tuple[Chapter[Any], ...] = (
    probe.CHAPTER,
    at_once.CLIENTS,
    at_once.PIPELINES,
    resources.COSTS,
    resources.EFFORTS,
    resources.REGIMES,
    probe.TABLES,
    loading.CHAPTER,
    links.CHAPTER,
    many_operations.CHAPTER,
    sweeps.CHAPTER,
    retrievals.CHAPTER,
    block_sizes.CHAPTER,
    scalings.CHAPTER,
    cost_models.CHAPTER,
    explanations.CHAPTER,
    published.CLAIMS,
    published.PUBLISHED,
)
CHAPTERS = {chapter.key: chapter for chapter in _ORDERED}
