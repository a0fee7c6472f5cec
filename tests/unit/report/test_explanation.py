"""Whether an operation's parts add up, and how they are shown."""

from __future__ import annotations

import msgspec

from rowpath.analysis.model import Analysis
from rowpath.journal.records import RunRecord
from rowpath.model.explanation import Explanation, Part
from rowpath.report import time_parts
from rowpath.report.explanation import lines, sentence, shown

PARTS = (
    Part("client", "libpq", 6_000.0, "a clock"),
    Part("client", "C library", 100.0, "a clock"),
    Part("client", "TLS", 80.0, "a clock"),
    Part("server", "postgres", 12_000.0, "a clock"),
    Part("core", "waiting", 1_000.0, "a clock"),
)
WHOLE = Explanation("C TCP", {}, "keyed.read", 20_000.0, 19_900.0, 20_100.0, 1000, PARTS, 0.012)


def test_parts_that_add_up() -> None:
    assert WHOLE.unexplained_ns == 820.0
    assert WHOLE.adds_up
    assert sentence(WHOLE) == ("Of 20.0 µs: 60 % postgres (server), 30 % libpq (client), 5 % waiting.")
    printed = [line.plain for line in lines(WHOLE, how=True)]
    assert printed[0] == "C TCP · keyed.read"
    assert any(line.startswith("client  libpq") and "6.00 µs  30.0 %" in line for line in printed)
    assert "        not explained: +4.1 % of 20.0 µs (95 %: 19.9–20.1 µs, 1,000 operations)" in printed
    assert "        profiling changed an operation's time by +1.2 %: only shares are taken from it" in printed
    assert printed.count("        a clock") == len(shown(WHOLE))


def test_blocks_that_were_taken_again_are_counted() -> None:
    again = msgspec.structs.replace(WHOLE, disturbed_blocks=2)
    said = "not explained: +4.1 % of 20.0 µs (95 %: 19.9–20.1 µs, 1,000 operations, 2 disturbed blocks taken again)"
    assert said in [line.plain.strip() for line in lines(again)]


def test_no_bar_for_parts_that_do_not_add_up() -> None:
    less = msgspec.structs.replace(WHOLE, parts=PARTS[:3])
    assert not less.adds_up
    printed = "\n".join(line.plain for line in lines(less))
    assert "add up to 30.9 % of it" in printed
    assert "libpq" not in printed
    more = msgspec.structs.replace(WHOLE, parts=(*PARTS, Part("core", "other programs", 2_000.0, "")))
    assert not more.adds_up


def test_small_parts_of_a_side_are_one_line() -> None:
    assert [part.name for part in shown(WHOLE)] == ["libpq", "C library", "other parts", "postgres", "waiting"]


def test_the_chapter_has_a_picture_and_a_table_for_each_phase() -> None:
    less = msgspec.structs.replace(WHOLE, name="Python", parts=PARTS[:3])
    analysis = Analysis(run=RunRecord(), names={}, results=(), rankings=(), findings=(), verdict=())
    analysis = msgspec.structs.replace(analysis, chapters={"explanations": (WHOLE, less)})
    (section,) = time_parts.chapters(analysis)
    assert section.key == "time-keyed-read"
    assert section.opening.sentence.startswith("C TCP: Of 20.0 µs: 60 % postgres (server)")
    assert "Python: An operation takes 20.0 µs" in section.opening.sentence
    bars = section.opening.bars
    assert bars is not None
    assert [row.name for row in bars.rows] == ["C TCP", "Python"]
    assert 'class="server"' in bars.rows[0].drawing and 'class="all"' in bars.rows[1].drawing
    parts = [row.cells[:3] for row in section.grid.rows]
    assert ("C TCP", "server", "postgres") in parts
    assert [cells[0] for cells in parts if cells[2] == "not explained"] == ["C TCP", "Python"]
    assert ("Python", "client", "libpq") not in parts
