"""The ranking picture: brackets, ranks, splits, what is folded, and what its rows open to."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.answer_model import Bar, GroupAnswer, PhaseAnswer, RateBar
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis
from rowpath.drawing.picture import SHOWN, Picture
from rowpath.journal.records import RunRecord
from rowpath.report import html
from rowpath.report.path_panel import FEW_PATHS, Panels, codes, varying
from rowpath.report.ranking import Pictures
from rowpath.report.view import view
from tests.golden.analysis_fixture import analysis
from tests.golden.whole import whole
from tests.unit import journal_factory


def _bar(name: str, cost_ns: float, *, tied: bool = False, **more: float) -> Bar:
    ratio = cost_ns / 1000
    return Bar(name, name, cost_ns, cost_ns * 0.9, cost_ns * 1.1, ratio, ratio, ratio, 0, tied, **more)


def _picture(bars: list[Bar], floor_ns: float | None = None) -> Picture:
    empty = Analysis(run=RunRecord(), names={}, results=(), rankings=(), findings=(), verdict=())
    made = Pictures(Panels(empty, Lookup(empty)), {each.path_id: each.name for each in bars}, ())
    phase = PhaseAnswer("keyed", "read", "steady", "all paths", "keyed.read", tuple(bars), floor_ns)
    found = made.of_phase("key", phase)
    assert found is not None
    return found


def test_tied_paths_share_a_rank_and_a_bracket() -> None:
    tied = [False, True, False, True, True, False]
    rows = _picture([_bar(f"p{at}", 1000.0 + at, tied=each) for at, each in enumerate(tied)]).rows
    assert [row.rank for row in rows] == ["1=", "1=", "3=", "3=", "3=", "6"]
    assert [row.tie for row in rows] == ["first", "last", "first", "middle", "last", ""]


def test_many_paths_fold_after_the_first_and_share_one_axis() -> None:
    shown = _picture([_bar(f"p{at}", 1000.0 * 1.5**at) for at in range(SHOWN + 3)])
    assert (len(shown.rows), len(shown.more)) == (SHOWN, 3)
    assert shown.more[0].rank == str(SHOWN + 1)


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ({}, [("all", 1.0)]),
        ({"client_cpu_ns": 250.0, "server_cpu_ns": 500.0, "waiting_ns": 250.0}, [0.25, 0.5, 0.25]),
        ({"client_cpu_ns": 900.0, "waiting_ns": 100.0}, [0.9, 0.1]),
        ({"client_cpu_ns": 800.0, "server_cpu_ns": 800.0, "waiting_ns": 0.0, "overlap_ns": 600.0}, [0.5, 0.5]),
    ],
)
def test_a_bar_is_split_by_the_shares_of_its_time(
    measured: dict[str, float], expected: list[float] | list[tuple[str, float]]
) -> None:
    found = list(_bar("p", 1000.0, **measured).parts)
    assert found == expected or [share for _, share in found] == expected
    assert sum(share for _, share in found) == pytest.approx(1)


def test_the_paragraph_explains_only_what_is_there() -> None:
    plain = _picture([_bar("a", 1000.0), _bar("b", 3000.0)]).how_to_read
    assert "colours" not in plain and "bracket" not in plain and "floor" not in plain
    rich = _picture(
        [
            _bar("a", 1000.0, client_cpu_ns=700.0, server_cpu_ns=600.0, waiting_ns=0.0, overlap_ns=300.0),
            _bar("b", 1010.0, tied=True),
        ],
        floor_ns=900.0,
    ).how_to_read
    for word in ("colours", "both together", "bracket", "floor", "95 % interval"):
        assert word in rich


def test_a_floor_far_below_the_fastest_is_not_drawn() -> None:
    assert "floor" in _picture([_bar("a", 1000.0), _bar("b", 3000.0)], floor_ns=900.0).lines
    assert "floor" not in _picture([_bar("a", 1000.0), _bar("b", 3000.0)], floor_ns=30.0).lines


def test_what_a_client_group_reaches_is_a_picture_of_rates() -> None:
    empty = Analysis(run=RunRecord(), names={}, results=(), rankings=(), findings=(), verdict=())
    made = Pictures(Panels(empty, Lookup(empty)), {}, ())
    bars = (
        RateBar("a", "a", 27_000.0, 26_000.0, 28_000.0, 1.0, 333_000, True, 0),
        RateBar("b", "b", 9_000.0, None, None, 0.333, None, False, 2),
    )
    shown = made.of_group("key", GroupAnswer("reads", "readers", 4, 30_000.0, bars, 6))
    assert shown is not None
    assert shown.title == "reads: readers, 4 clients, 30.0 k/s requested"
    assert [row.note for row in shown.rows] == [
        "p99\N{NO-BREAK SPACE}333\N{NO-BREAK SPACE}µs",
        "requested rate not reached, 2 failed",
    ]
    assert [row.text for row in shown.rows] == ["27.0 k/s", "9.00 k/s"]


def test_a_row_opens_to_what_differs_from_its_neighbour_and_its_own_figures() -> None:
    shown = view(whole(analysis()))
    rows = {row.name: row.panel for row in shown.lead[0].rows}
    panel = rows["libpq unix prepared"]
    assert panel is not None
    differences = {each.name: (each.here, each.there) for each in panel.differences}
    assert differences["transport"] == ("unix", "tcp")
    assert (panel.neighbour, panel.against) == ("libpq tcp prepared", "1.25× (1.20–1.30)")
    assert {"client CPU", "server CPU", "waiting", "first pass, cold"} <= dict(panel.figures).keys()
    assert panel.command.startswith("rowpath run tour driver=")
    assert panel.blocks_text.startswith("24 blocks as they ran: 9.")
    assert panel.blocks.startswith("<svg")
    assert panel.trust.startswith("6 sets, 90 blocks; ")
    assert "transport=unix" in panel.coordinates and "fetch=" not in panel.coordinates


def test_settings_that_only_another_driver_reports_are_no_difference() -> None:
    made = whole(analysis())
    first, second = made.path_details[:2]
    changed = msgspec.structs.replace(first, settings=first.settings | {"own": "1", "both": "a"})
    other = msgspec.structs.replace(second, settings=second.settings | {"both": "b"})
    made = msgspec.structs.replace(made, path_details=(changed, other, *made.path_details[2:]))
    panels = [row.panel for picture in view(made).lead for row in picture.rows if row.panel]
    beside = [each for panel in panels for each in panel.differences if each.name in ("own", "both")]
    assert "own" not in {each.name for each in beside}


def test_floors_make_no_coordinate_vary() -> None:
    paths = [{"engine": "a", "driver": "x", "bulk": "copy"}, {"engine": "a", "driver": "y", "bulk": "copy"}]
    assert varying([*paths, {"engine": "null", "driver": "null"}]) == ("driver",)
    assert varying([{"engine": "null", "driver": "x"}, {"engine": "null", "driver": "y"}]) == ("driver",)


def _of_a_journal(directory: Path) -> Analysis:
    return analyse(journal_factory.write(directory, journal_factory.records(journal_factory.Run())))


def test_a_row_leads_to_the_code_of_its_adapter(tmp_path: Path) -> None:
    made = _of_a_journal(tmp_path)
    drawn = html.page(made)
    panels = [row.panel for row in view(made).lead[0].rows if row.panel]
    for panel in panels:
        assert f'<a href="#{panel.code}">{panel.adapter}</a>' in drawn
        (text,) = re.findall(rf'id="{panel.code}"><summary>{panel.adapter}</summary>\s*<pre[^>]*><code>([^<]*)<', drawn)
        assert text == f"// {panel.adapter}\n\tif (rows &lt; 1) return;\n"
    assert len({panel.adapter for panel in panels}) > 1


def test_with_many_paths_the_page_leaves_the_code_out(tmp_path: Path) -> None:
    made = _of_a_journal(tmp_path)
    names = {f"p{at}": f"p{at}" for at in range(FEW_PATHS + 1)}
    assert codes(made)
    assert codes(msgspec.structs.replace(made, names=names)) == {}
