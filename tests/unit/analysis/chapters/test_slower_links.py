"""Which path is the fastest over which link, predicted from a journal: crossings, ties, what cannot cross a link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import slower_links
from rowpath.analysis.chapters.slower_links import OverLink, Reach, SlowerLinks, rates
from rowpath.analysis.model import Analysis
from rowpath.drawing.section import Section
from rowpath.report.view import view
from tests.unit import journal_factory
from tests.unit.journal_factory import MadePath, Run

MS = 1e6
CURSOR_TRIPS = 8  # 6,071 rows, a thousand each


def path(name: str, cost_ns: float, words: str = "result=whole", **more: Any) -> MadePath:
    return journal_factory.path(
        name, f"postgresql server c libpq transport=tcp {words}", {"scan.read": cost_ns}, between_sets=0.0001,
        between_blocks=0.0001, **more,
    )  # fmt: skip


def analysed(tmp_path: Path, *paths: MadePath, times: dict[str, int] | None = None, rate: float = 0.0) -> Analysis:
    """`times`: how often a path receives its bytes; `rate`: of a link that was measured."""
    records = journal_factory.records(Run(paths=list(paths), rounds=5, regimes=("steady",), drift=0.0))
    names = {made.path_id: made.name for made in paths}
    for record in records:
        if record["record"] == "counted":
            record["bytes_received"] *= (times or {}).get(names[record["path_id"]], 1)
    link = {"record": "link", "link": "1ms", "placement": "same", "rate_bytes_per_s": rate}
    head = next(number for number, record in enumerate(records) if record["record"] == "set")
    records[head:head] = [link] if rate else []
    return analyse(journal_factory.write(tmp_path / "run", records))


def only(analysis: Analysis) -> SlowerLinks:
    (found,) = slower_links.CHAPTER.of(analysis)
    return found


def section(analysis: Analysis) -> Section:
    (found,) = [each for each in view(analysis).across if each.key == "slower-links"]
    return found


def along(found: SlowerLinks, kind: str, beside: float) -> list[Reach]:
    return [reach for reach in found.reaches if (reach.along, reach.beside) == (kind, beside)]


def test_round_trips_decide_from_the_delay_on_at_which_two_paths_cross(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, path("cursor", 5 * MS, "result=cursor:1000"), path("whole", 12 * MS), rate=1.25e9)
    found = only(analysis)
    assert (found.most_bytes_per_s, found.proved) == (1.25e9, True)
    for rate in (1.25e6, 1.25e7, 1.25e8, 1.25e9):
        first, second = along(found, "delay", rate)
        assert (first.name, second.name) == ("cursor", "whole")
        more_trips = CURSOR_TRIPS - 1  # with 30 bytes each
        assert first.end == second.start == pytest.approx(7 * MS / more_trips - 30e9 / rate, rel=0.01)
        cursor, whole = found.paths
        assert cursor.at(first.end, rate) == pytest.approx(whole.at(first.end, rate))
    shown = section(analysis)
    assert shown.opening.sentence == "Over a slower link another path is the fastest in 1 of 1 comparison."
    assert shown.grid.rows[0].cells[:5] == (
        "scan · read, steady (placement=same)",
        "10.0 Mb/s",
        "cursor",
        "100 µs",
        "976 µs",
    )
    assert "1: cursor" in shown.opening.curves


def test_bytes_decide_below_the_rate_at_which_two_paths_cross(tmp_path: Path) -> None:
    paths = path("wide", 5 * MS), path("narrow", 15 * MS, "result=whole format=text")
    found = only(analysed(tmp_path, *paths, times={"wide": 2}, rate=1.25e9))
    for delay in (0.1 * MS, 100 * MS):
        slow, fast = along(found, "rate", delay)
        assert (slow.name, fast.name) == ("narrow", "wide")
        more_bytes = 40 + 130 * journal_factory.SCAN_ROWS
        assert slow.end == fast.start == pytest.approx(more_bytes / 0.010, rel=0.01)
        assert (slow.start, fast.end) == (1.25e6, 1.25e9)
    assert [reach.name for reach in along(found, "delay", 1.25e6)] == ["narrow"]
    assert [reach.name for reach in along(found, "delay", 1.25e9)] == ["wide"]


def test_a_tie_is_no_crossing(tmp_path: Path) -> None:
    paths = path("one", 5 * MS), path("other", 5.05 * MS, "result=whole format=text")
    analysis = analysed(tmp_path, *paths, rate=1.25e9)
    assert {reach.name for reach in only(analysis).reaches} == {"one"}
    (row,) = section(analysis).grid.rows
    assert row.cells[1:3] == ("any rate", "one")
    assert not section(analysis).opening.curves


def test_without_a_link_only_crossings_are_shown_up_to_the_rate_of_a_path(tmp_path: Path) -> None:
    crossed = analysed(tmp_path / "1", path("cursor", 5 * MS, "result=cursor:1000"), path("whole", 12 * MS))
    most = (40 + 130 * journal_factory.SCAN_ROWS + 30 * CURSOR_TRIPS) / 0.005
    assert only(crossed).most_bytes_per_s == pytest.approx(most, rel=0.01)
    assert not only(crossed).proved
    assert "at which a path of this run moved its bytes" in section(crossed).grid.note
    alone = analysed(tmp_path / "2", path("whole", 12 * MS))
    assert only(alone).reaches
    assert not [each for each in view(alone).across if each.key.startswith("slower-links")]


def test_where_no_rate_above_the_least_is_proved_delays_alone_are_told(tmp_path: Path) -> None:
    paths = path("cursor", 5e3 * MS, "result=cursor:1000"), path("whole", 5.2e3 * MS)
    analysis = analysed(tmp_path, *paths)
    assert {(reach.along, reach.beside) for reach in only(analysis).reaches} == {("delay", 1.25e6)}
    assert len(section(analysis).grid.rows) == 2
    assert not section(analysis).opening.curves


def test_what_crosses_no_link_or_is_not_counted_has_no_prediction(tmp_path: Path) -> None:
    sqlite = journal_factory.path("sqlite", "sqlite embedded c sqlite", {"scan.read": 1 * MS})
    unix = path("unix", 4 * MS, "transport=unix")
    far = path("far", 9 * MS, "link=1ms")
    found = only(analysed(tmp_path / "1", sqlite, unix, path("tcp", 5 * MS), far))
    assert [each.name for each in found.paths] == ["tcp"]
    uncounted = only(analysed(tmp_path / "2", unix))  # over a unix socket nothing is counted here
    assert ([each.known for each in uncounted.paths], uncounted.reaches) == ([False], ())


def test_the_rates_are_tenfold_and_end_with_the_highest() -> None:
    assert rates(1.25e6) == [1.25e6]
    assert rates(2e6) == [1.25e6, 2e6]
    assert rates(4e8) == [1.25e6, 1.25e7, 1.25e8, 4e8]


def test_a_time_over_a_link_is_the_sum_of_its_parts() -> None:
    assert OverLink("a", 100.0, 2.0, 50.0).at(1_000, 1e9) == 100 + 2_000 + 50
    assert OverLink("a", 100.0, 2.0, 50.0).at(1_000) == 100 + 2_000
