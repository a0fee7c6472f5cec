"""A new metric takes two places: its record, and where it is computed."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from rowpath.analysis import metrics
from rowpath.analysis.analyse import analyse
from rowpath.analysis.comparison.compare import compare
from rowpath.analysis.comparison.gate import judge, parse_gate
from rowpath.cli.main import main
from rowpath.model.claims import check_metric
from rowpath.model.metrics import METRICS, Metric
from rowpath.report import html, tracked
from rowpath.report.json import write_json
from tests.unit import journal_factory

TITLE = "the toy's lead"
TOY = Metric(
    "toy_lead",
    "ns/operation",
    "blocks",
    titled=TITLE,
    more_is_better=True,
    method="made up",
    compared=True,
    choose=1,
    panel=1,
    costs=1,
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run directory, in a house that knows one more metric."""
    monkeypatch.setitem(METRICS, TOY.name, TOY)
    monkeypatch.setitem(metrics.SAMPLED, TOY.name, lambda sample: 1e9 / sample.ns)
    return journal_factory.write(tmp_path, journal_factory.records(journal_factory.Run()))


def test_it_is_exported_with_its_unit_and_method(run: Path) -> None:
    file = io.StringIO()
    write_json(analyse(run), file)
    results = [result for result in json.loads(file.getvalue())["results"] if result["metric"] == TOY.name]
    assert len(results) > 10
    assert {(result["unit"], result["method"]) for result in results} == {(TOY.unit, TOY.method)}
    assert any(figure.result.metric == TOY.name for figure in tracked.tracked(analyse(run)))


def test_it_stands_on_the_page_where_its_record_says(run: Path) -> None:
    html.write(analyse(run), run / "page.html")
    page = (run / "page.html").read_text(encoding="utf-8").replace("&#39;", "'")
    assert page.count(TITLE) > 3


def test_show_offers_it_under_its_title(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(run), "--metric", TOY.name, "--row", "engine", "--col", "language"]) == 0
    assert f"{TITLE} by engine and language" in capsys.readouterr().out
    assert main(["show", str(run), "--metric", "no_such"]) == 2
    assert TOY.name in capsys.readouterr().err


def test_claims_and_gates_take_it(run: Path) -> None:
    check_metric(TOY.name)
    gate = parse_gate(f"{TOY.name}=5%")
    assert not judge(compare([run], [run], ()), gate).failed
