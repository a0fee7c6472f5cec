"""What each chapter of the page begins with: the sentence that answers, and its picture."""

from __future__ import annotations

import re
from pathlib import Path

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import cost_models
from rowpath.analysis.chapters.cost_models import Coefficient, CostModel
from rowpath.analysis.chapters.mixed_load import report_of, sections
from rowpath.analysis.chapters.mixed_load.groups import MOST_CURVES, latency_charts
from rowpath.analysis.model import Analysis
from rowpath.drawing.section import Opening
from rowpath.report import html
from rowpath.report.view import view
from tests.golden import analysis_fixture, groups_fixture
from tests.unit import journal_factory
from tests.unit.analysis.chapters import test_at_once as at_once
from tests.unit.analysis.chapters import test_links as link_prediction
from tests.unit.analysis.chapters import test_retrievals as bulk_retrieval
from tests.unit.analysis.chapters import test_scalings as test_scaling
from tests.unit.analysis.chapters import test_sweeps as size_sweep


def opening(analysis: Analysis, key: str) -> Opening:
    shown = view(analysis)
    found = [*shown.across, *(each for operation in shown.operations for each in operation.sections)]
    (one,) = [each.opening for each in found if each.key == key]
    assert one.sentence in html.page(analysis).replace("&#39;", "'").replace("&amp;", "&")
    return one


def names(curves: str) -> list[str]:
    return re.findall(r"<li><svg[^>]*>.*?</svg>(?:\d+: )?([^<]+?)(?: \(dashed\))?</li>", curves)


def test_sizes_of_a_result(tmp_path: Path) -> None:
    lines = {"start": size_sweep.QUICK_START, "rows": size_sweep.QUICK_ROWS}
    found = opening(size_sweep.swept(tmp_path, lines), "sweep-0")
    assert re.fullmatch(
        r"Fastest by number of rows: start \(from [\d,]+ to \d+ rows\), then rows \(from .* rows on\)\.", found.sentence
    )
    assert names(found.curves) == ["start", "rows"], "the one that takes longest at the end comes first"
    assert found.curves.count("<circle cx") == 2 + 2 * len(size_sweep.SIZES)


def test_bulk_retrieval(tmp_path: Path) -> None:
    found = opening(bulk_retrieval.bulk(tmp_path), "retrieval-0")
    assert re.match(
        r"Fastest of each form, by medians: COPY by copy, 1\.2\d× \([^)]+\) of the drain; rows by rows, 1\.[45]\d× \(",
        found.sentence,
    )
    assert found.bars is not None
    assert [row.name for row in found.bars.rows] == ["busy", "copy", "rows", "asleep", "slow rows"]
    assert [row.note for row in found.bars.rows] == ["floor", "COPY", "rows", "floor", "rows"]


def test_sizes_of_a_block(tmp_path: Path) -> None:
    paths = [
        bulk_retrieval.read(f"pg cursor:{n}", f"{bulk_retrieval.TCP} libpq result=cursor:{n}", ns, between_sets=0.001)
        for n, ns in {1: 40e6, 10: 5e6, 1000: 5e6}.items()
    ]
    found = opening(bulk_retrieval.analysed(tmp_path, paths), "block-sizes")
    assert found.sentence == "pg: 10 rows per block are enough."
    assert names(found.curves) == ["pg, result=cursor"]


def test_clients_at_once(tmp_path: Path) -> None:
    words = "postgresql server c libpq transport=tcp clients="
    paths = [
        journal_factory.path("libpq 1 client", f"{words}1", {"keyed.read": 20_000}),
        journal_factory.path("libpq 4 clients", f"{words}4", {"keyed.read": 10_000}),
    ]
    made = analyse(at_once.made(tmp_path, paths, shares=(30, 10, 10, 10)))
    found = opening(made, "keyed-read-clients")
    assert re.fullmatch(
        r"Most operations/s, by medians: libpq with 4 clients, [\d.]+ k/s; with 1, [\d.]+ k/s\.", found.sentence
    )
    assert names(found.curves) == ["libpq"]


def test_retrieval_in_parts(tmp_path: Path) -> None:
    found = opening(test_scaling.analysed(tmp_path, test_scaling.CONTENDED), "scan-read-parts-0")
    assert re.match(r"libpq gains most: [\d.]+× \([\d.–]+\) with \d+ clients\.", found.sentence)
    assert "grey, dashed: ideal" in found.curves


def test_ways_of_loading(tmp_path: Path) -> None:
    costs = {"load.single": 1e6, "load.batch-100": 1e7, "load.bulk": 1e8}
    paths = [journal_factory.path("libpq", "postgresql server c libpq transport=tcp bulk=copy", costs)]
    made = analyse(at_once.made(tmp_path, paths, workload="load"))
    found = opening(made, "load-loading")
    assert re.fullmatch(
        r"Fastest, by medians: libpq by bulk, [\d.]+ k/s; its slowest way is single, (99\d|1\.0\d k|9[789]\d)/s\.",
        found.sentence,
    )


def test_a_link(tmp_path: Path) -> None:
    made = link_prediction.analysed(tmp_path, link_prediction.WITHOUT_NS + link_prediction.ADDED_NS)
    found = opening(made, "links")
    assert re.match(r"Round trips predict 1 of 1 times within 10\.0 %; furthest is far, ", found.sentence)
    assert found.bars is not None
    assert 'class="waiting"' in found.bars.rows[0].drawing


def test_the_cost_model() -> None:
    def known(ns: float) -> Coefficient:
        return Coefficient(ns, ns * 0.9, ns * 1.1, known=True)

    nothing = Coefficient(0.0, -1.0, 1.0, known=False)
    models = tuple(
        CostModel(name, "wide", known(ns), known(ns / 30), known(40), nothing, 6, "c", 1.2, ())
        for name, ns in (("slow", 9_000), ("quick", 3_000))
    )
    assert cost_models.sentence(models) == (
        "An operation costs from 3.00 µs ± 10.0 % (quick) to 9.00 µs ± 10.0 % (slow); "
        "a row costs from 100 ns ± 10.0 % (quick) to 300 ns ± 10.0 % (slow)."
    )
    chart = cost_models.chart(models)
    assert chart is not None
    assert [len(curve.points) for curve in chart.curves] == [3, 3], "what may as well be 0 is no point"
    assert cost_models.chart(()) is None
    assert cost_models.sentence(()) == ""


def test_client_groups() -> None:
    report = report_of(groups_fixture.analysis())
    assert report is not None
    found = {section.key.removeprefix("groups-"): section.opening for section in sections(report)}
    assert found["path-0"].sentence.startswith("Longest 99th percentile over all sets: ")
    assert 'class="chart"' in found["path-0"].curves
    searches = [each for key, each in found.items() if key.startswith("rates-")]
    assert [each.sentence for each in searches] == [
        "The bound is kept up to 6.40 k/s: readers on Derby network.",
        "No rate that was tried kept the bound: writers on Derby embedded.",
    ]
    assert all("grey, dashed: bound" in each.curves for each in searches if each.curves)
    assert found["acknowledged"].sentence == "3 of 24,494 acknowledged writes were lost."
    assert found["backups"].sentence == "3 of 4 backups were restored and delivered every row."
    assert found["effects"].bars is not None
    assert found["ratios"].bars is not None


def test_many_curves_have_a_chart_for_each_client_group() -> None:
    report = report_of(groups_fixture.analysis())
    assert report is not None
    figures = [each for each in report.figures if each.name == report.figures[0].name and each.reached]
    few = latency_charts("path", figures[:MOST_CURVES])
    assert len(few) == 1
    many = latency_charts("path", figures * (MOST_CURVES + 1))
    groups = list(dict.fromkeys(each.client_group for each in figures))
    assert [chart.up for chart in many if chart] == [f"{group}: time of an operation" for group in groups]


def test_published_figures_and_claims() -> None:
    shown = view(analysis_fixture.analysis())
    assert shown.claims is not None
    outcomes = [row.cells[1] for row in shown.claims.grid.rows]
    holding = outcomes.count("holds")
    assert shown.claims.opening.sentence.startswith(f"Of {len(outcomes)} published claims {holding} hold")
    (column,) = shown.published
    assert column.opening.sentence == (
        "Furthest from the published ratio is Java, native driver: 0.240× here, by medians, 0.130× published."
    )
    assert column.opening.bars is not None
    first, second = column.opening.bars.rows[:2]
    assert (first.ratio, first.text) == ("1.00×", "1.00×")
    assert (second.ratio, second.text) == ("0.400×", "0.520×")
    assert "<line" in second.drawing
