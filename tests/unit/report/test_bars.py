"""Bars of text: eighths of a cell, a log scale, names and figures in columns."""

from __future__ import annotations

import pytest

from rowpath.analysis.answer_model import Bar, GroupAnswer, PhaseAnswer, RateBar
from rowpath.report import bars


def bar(name: str, cost: float, tier: int = 0, *, tied: bool = False) -> Bar:
    return Bar(name, name, cost, None, None, cost, cost * 0.9, cost * 1.1, tier, tied)


def phase(*made: Bar, comparison: str = "all paths", title: str = "keyed.read") -> PhaseAnswer:
    return PhaseAnswer("keyed", "read", "steady", comparison, title, made, unranked={"c": "failed", "d": "wrong"})


def lines(*answers: PhaseAnswer | GroupAnswer, width: int = 100, rows: int = 9) -> list[list[str]]:
    drawn = bars.drawn([bars.picture(each, rows) for each in answers], width)
    return [[line.plain for line in picture] for picture in drawn]


def test_a_block_grows_by_eighths_of_a_cell() -> None:
    drawn = [bars.block(eighths / 80, 10) for eighths in range(81)]
    assert drawn[0] == drawn[1] == "▏", "never empty"
    assert drawn[8] == "█"
    assert drawn[13] == "█▋"
    assert drawn[80] == "█" * 10
    assert len(set(drawn)) == 80
    assert bars.block(2.0, 10) == "█" * 10


def test_equal_ratios_are_equal_distances() -> None:
    scale = bars.log_scale([10.0, 1000.0])
    shares = [scale(value) for value in (10.0, 100.0, 1000.0)]
    assert shares[2] == 1.0
    assert shares[1] - shares[0] == pytest.approx(shares[2] - shares[1])
    assert 0 < shares[0] < shares[1]
    near = bars.log_scale([1.0, 1.05])
    assert near(1.0) > 0.9, "a small difference is not made to look large"


@pytest.mark.parametrize("width", range(60, 201))
def test_every_line_has_its_width_and_figures_stand_in_columns(width: int) -> None:
    (drawn,) = lines(phase(bar("a short name", 1.0), bar("PostgreSQL Python TCP " * 4, 250.0, 1)), width=width)
    assert max(map(len, drawn)) == min(width, 177)
    assert drawn[1].index("1.00×") + 5 == drawn[2].index("250×") + 4 == drawn[0].index("×") + 1
    assert drawn[2].endswith("225–275")
    assert "█" in drawn[2]


def test_a_long_name_loses_its_middle() -> None:
    assert bars.shorten("PostgreSQL C TCP text SQL", 15) == "Postgre…ext SQL"
    for width in range(1, 30):
        assert len(bars.shorten("PostgreSQL C TCP text SQL", width)) <= width


def test_tied_paths_are_in_brackets() -> None:
    made = [bar("a", 1), bar("b", 2, 1), bar("c", 2, 1, tied=True), bar("d", 2, 1, tied=True), bar("e", 3, 2)]
    (drawn,) = lines(phase(*made))
    assert [line[0] for line in drawn[1:6]] == [" ", "╭", "│", "╰", " "]


def test_what_is_left_out_is_counted() -> None:
    made = [bar(f"path {number}", number) for number in range(1, 7)]
    (drawn,) = lines(phase(*made), rows=4)
    assert len(drawn) == 1 + 4 + 1
    assert drawn[-1] == "  + 2 slower, up to path 6 6.00× (5.40–6.60); 2 not ranked"
    (one,) = lines(phase(*made), rows=5)
    assert one[-1] == "  + path 6 6.00× (5.40–6.60); 2 not ranked"


def test_the_languages_of_a_probe_share_a_scale_and_phases_do_not() -> None:
    def longest(*comparisons: str) -> list[int]:
        answers = [
            phase(bar("a", cost), comparison=each, title=each)
            for cost, each in zip((1.0, 1000.0), comparisons, strict=True)
        ]
        return [drawn[1].count("█") for drawn in lines(*answers)]

    shared, own = longest("language=c", "language=python"), longest("x", "y")
    assert shared[0] < shared[1] / 5
    assert own[0] == own[1]


def test_a_group_shows_rates_and_what_was_not_reached() -> None:
    made = (
        RateBar("embedded", "e", 2000.0, None, None, 1.0, 1_000_000, reached=True, failed=0),
        RateBar("server", "s", 500.0, None, None, 0.25, None, reached=False, failed=3),
        RateBar("dead", "d", 0.0, None, None, 0.0, None, reached=False, failed=9),
    )
    (drawn,) = lines(GroupAnswer("open loop", "readers", 4, 2000.0, made, 6))
    assert drawn[0].startswith("open loop · readers · 2.00 k/s requested")
    assert drawn[1].split()[-5:] == ["2.00", "k/s", "1.00×", "1.00", "ms"]
    assert drawn[2].endswith("500/s  0.250×  rate not reached")
    assert drawn[3] == "  + 1 more"
    assert bars.one_line(GroupAnswer("s", "g", 1, None, made[:2], 6)) == "s · g: embedded 2.00 k/s; server 500/s"


def test_rankings_of_many_paths_and_groups_with_a_wide_range_are_important() -> None:
    three, two, one = (phase(*(bar(name, 1) for name in names)) for names in ("abc", "ab", "a"))
    assert bars.importance(three) > bars.importance(two) > bars.importance(one)

    def group(rate: float) -> GroupAnswer:
        rates = [
            RateBar(str(each), "", each, None, None, 1, None, reached=True, failed=0) for each in (100.0, rate, 0.0)
        ]
        return GroupAnswer("s", "g", 1, None, tuple(rates), 6)

    assert bars.importance(group(10)) > bars.importance(group(90)) > bars.importance(group(0))
