"""Retrievals in parts: known speed-ups and a known law come back, wrong parts have none, and every form shows it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import scalings
from rowpath.analysis.chapters.scalings import Scaling
from rowpath.analysis.model import Analysis
from rowpath.analysis.statistics.usl import ClientsCurve
from rowpath.report.long_table import write_csv
from rowpath.report.markdown import write_markdown
from rowpath.report.view import view
from tests.unit import journal_factory
from tests.unit.journal_factory import SCAN_ROWS

CLIENTS = (1, 2, 3, 4, 6, 8)
ONE_NS = 40e6
CONTENDED = ClientsCurve(SCAN_ROWS * 1e9 / ONE_NS, 0.1, 0.02)
BOUND_NS = 300_000.0


def analysed(
    tmp_path: Path,
    curve: ClientsCurve,
    clients: tuple[int, ...] = CLIENTS,
    faults: dict[int, str] | None = None,
    sets: int = 6,
) -> Analysis:
    """A run of one path with these numbers of clients, its times those of the curve, and what one bound costs."""
    paths = []
    for n in clients:
        words = f"postgresql server c libpq clients={n} ranges=bounds placement=free"
        name = f"libpq {n} client{'s' if n > 1 else ''}"
        cost = {"scan.read": SCAN_ROWS * 1e9 / curve.rate(n)}
        paths.append(journal_factory.path(name, words, cost, client_share=0.4, fault=(faults or {}).get(n, "")))
    whole = journal_factory.path("libpq whole", "postgresql server c libpq clients=1", {"scan.read-bounds": BOUND_NS})
    experiment = {"phases": ["scan.read", "scan.read-bounds"]}
    run = journal_factory.Run(
        paths=[*paths, whole], sets=sets, rounds=5, regimes=("steady",), experiment=experiment, disturbed_share=0
    )
    made = journal_factory.records(run)
    made[0] |= {"workloads": {"scan": {"phases": [{"name": "read", "union": True}, {"name": "read-bounds"}]}}}
    made[0]["environment"]["cores_used"] = [0, 1]
    return analyse(journal_factory.write(tmp_path, made))


def the(analysis: Analysis) -> Scaling:
    (scaling,) = scalings.CHAPTER.of(analysis)
    return scaling


def test_speed_up_and_law_come_back(tmp_path: Path) -> None:
    scaling = the(analysed(tmp_path, CONTENDED))
    assert (scaling.name, scaling.ranges, scaling.placement, scaling.cores) == ("libpq", "bounds", "free", 2)
    assert [level.clients for level in scaling.levels] == list(CLIENTS)
    for level in scaling.levels[1:]:
        truth = CONTENDED.rate(level.clients) / CONTENDED.rate_of_one
        assert level.speed_up == pytest.approx(truth, rel=0.03)
        assert level.efficiency == pytest.approx(truth / level.clients, rel=0.03)
        assert level.low is not None
        assert level.high is not None
        assert level.low < truth < level.high
        assert level.finding_bounds_ns == pytest.approx((level.clients - 1) * BOUND_NS, rel=0.03)
    first = scaling.levels[0]
    assert (first.speed_up, first.finding_bounds_ns) == (None, None)
    assert first.cost_ns == pytest.approx(ONE_NS, rel=0.03)
    assert first.client_cpu_ns == pytest.approx(0.4 * ONE_NS / SCAN_ROWS, rel=0.05)
    assert first.server_cpu_ns == pytest.approx(0.6 * ONE_NS / SCAN_ROWS, rel=0.05)
    law = scaling.law
    assert law is not None
    assert law.contention == pytest.approx(0.1, abs=0.02)
    assert law.coherence == pytest.approx(0.02, abs=0.004)
    assert law.peak == pytest.approx(6.7, abs=0.7)
    assert scaling.bound_name == "libpq whole"


def test_five_levels_have_no_law_and_say_so(tmp_path: Path) -> None:
    scaling = the(analysed(tmp_path, CONTENDED, CLIENTS[:5]))
    assert scaling.law is None
    assert "needs 6 client counts" in scaling.no_law
    assert "needs 6 client counts" in scalings.grid(scaling).note


def test_parts_that_are_not_the_table_have_no_speed_up(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, CONTENDED, faults={4: "wrong"})
    scaling = the(analysis)
    wrong = next(level for level in scaling.levels if level.clients == 4)
    assert wrong.status == "wrong"
    assert (wrong.speed_up, wrong.cost_ns) == (None, None)
    assert scaling.law is None, "five are left"
    assert "4 clients: wrong" in scalings.grid(scaling).note
    ranked = {row.name for ranking in analysis.rankings for row in ranking.rows if row.rank}
    assert "libpq 4 clients" not in ranked
    assert "libpq 3 clients" in ranked


def test_without_one_client_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    scaling = the(analysed(tmp_path, CONTENDED, (2, 4)))
    assert [level.speed_up for level in scaling.levels] == [None, None]
    assert scalings.chart([scaling]) is None
    assert not scalings.sentence([scaling])


def test_the_table_says_what_it_may_and_no_more(tmp_path: Path) -> None:
    grid = scalings.grid(the(analysed(tmp_path, CONTENDED)))
    assert "Client and server together had 2 cores." in grid.note
    assert "contention σ 0." in grid.note
    assert "peak rate is at" in grid.note
    assert "σ includes the lack of cores" in grid.note
    assert "no prediction for more" in grid.note
    titles = [column.title for column in grid.columns]
    assert {"speed-up", "efficiency", "n−1 bounds cost", "speed-up with them"} <= set(titles)
    last = dict(zip(titles, grid.rows[-1].cells, strict=True))
    assert float(last["speed-up with them"].rstrip("×")) < float(last["speed-up"].rstrip("×"))


def test_what_is_not_told_from_nought_is_said_so(tmp_path: Path) -> None:
    grid = scalings.grid(the(analysed(tmp_path, ClientsCurve(CONTENDED.rate_of_one, 0.0, 0.0))))
    assert "coherence κ is not distinguishable from 0" in grid.note
    assert "greatest rate" not in grid.note


def test_every_form_shows_it(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, CONTENDED)
    shown = view(analysis)
    (section,) = (each for each in shown.across if "in parts at once" in each.grid.caption)
    assert section.leading
    assert "libpq gains most" in section.opening.sentence
    chart = scalings.chart(scalings.CHAPTER.of(analysis))
    assert chart is not None
    points = chart.curves[0].points
    assert [point.x for point in points] == list(CLIENTS)
    assert points[0].y == 1.0
    assert chart.label in section.opening.curves
    assert not any("Clients at once" in each.grid.caption for op in shown.operations for each in op.sections)
    assert any("libpq in 6 parts at once is" in sentence for sentence in analysis.verdict)
    text, lines = io.StringIO(), io.StringIO()
    write_markdown(analysis, text)
    assert "in parts at once" in text.getvalue()
    write_csv(analysis, lines)
    told = [line for line in lines.getvalue().splitlines() if ",speed_up," in line]
    assert len(told) == len(CLIENTS) - 1
    assert len([line for line in lines.getvalue().splitlines() if ",efficiency," in line]) == len(told)


def test_a_gain_that_is_not_sure_is_no_gain_in_the_verdict(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, ClientsCurve(CONTENDED.rate_of_one, 1.0, 0.0), (1, 2))
    (sentence,) = (each for each in analysis.verdict if "parts at once" in each)
    assert "not a significant gain" in sentence
