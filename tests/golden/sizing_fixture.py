"""A sizing's outcome, made by hand: nine connections for fifty callers."""

from __future__ import annotations

import msgspec

from rowpath.analysis.answer import answer
from rowpath.analysis.chapters.sizing import Sizing, sentences
from rowpath.analysis.model import Analysis
from rowpath.analysis.size_choice import SizeChoice, SizeFigures
from rowpath.model.sizing import SizingQuestion
from tests.golden.analysis_fixture import analysis as tour

MS = 1e6
SIZES = (
    (1, 1, 400, 900, False), (2, 1, 800, 800, False), (4, 1, 1590, 400, False), (5, 2, 1902, 210, False),
    (6, 4, 1998, 5.9, True), (8, 8, 2001, 4.6, True), (9, 8, 2000, 4.1, True), (11, 8, 1999, 4.05, True),
    (16, 3, 2001, 4.9, True), (32, 3, 2000, 7.7, True), (50, 3, 1999, 11, True),
)  # fmt: skip


def question() -> SizingQuestion:
    return SizingQuestion(
        callers=50, rate_per_s=2000, most=50, path="psycopg as it ships", title="Python", yours=True,
        free="114 free (max_connections 120, 3 in use, 3 reserved)",
    )  # fmt: skip


def sizing() -> Sizing:
    """As the contract's example has it."""
    sizes = tuple(
        SizeFigures(
            size, blocks, rate, kept, p99 * MS / 3, p99 * MS, p99 * MS * 0.95, p99 * MS * 1.05, size not in (9, 11)
        )
        for size, blocks, rate, p99, kept in SIZES
    )
    choice = SizeChoice(sizes, best=11, found=9, broken=5)
    return Sizing(question(), choice, fewest=2400, blocks=42, seconds=63.0)


def analysis(found: Sizing | None = None) -> Analysis:
    """The sizing, in an analysis without rankings."""
    found = found or sizing()
    spoken = tuple(sentences(found))
    made = msgspec.structs.replace(
        tour(), chapters={"sizing": found}, verdict=tuple(each.text for each in spoken), findings=(), dropped=(),
        rankings=(), results=(), path_details=(), pictures=(),
    )  # fmt: skip
    return msgspec.structs.replace(made, answer=answer(made, (), spoken, {}))
