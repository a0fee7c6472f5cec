"""The chapters of a report beside its rankings, in the order in which they are read."""

from __future__ import annotations

from typing import Any

from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters import block_sizes, mixed_load

CHAPTERS: dict[str, Chapter[Any]] = {chapter.key: chapter for chapter in (block_sizes.CHAPTER, mixed_load.CHAPTER)}
