"""`import rowpath`: its ten names, a run as objects, tables and a picture, and nothing loaded before it is used."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pandas
import pyarrow
import pytest

import rowpath
from rowpath import api
from rowpath.errors import EnvironmentMissing
from tests.unit import insides
from tests.unit import journal_factory as factory

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="directory", scope="module")
def directory_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return factory.write(tmp_path_factory.mktemp("api") / "run", factory.records(factory.Run()))


@pytest.fixture(name="run", scope="module")
def run_fixture(directory: Path) -> rowpath.Run:
    return rowpath.open(directory)


def test_it_hands_on_the_names_of_the_page() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert rowpath.__all__ == api.__all__
    assert len(rowpath.__all__) == 10
    assert set(re.findall(r"^\| `rowpath\.(\w+)", page, re.MULTILINE)) == set(rowpath.__all__)
    assert f"API version {rowpath.API_VERSION}" in page
    members = {name for name in vars(rowpath.Run) if not name.startswith("_")} | {"directory"}
    assert set(re.findall(r"^\| `run\.(\w+)", page, re.MULTILINE)) == members
    with pytest.raises(AttributeError, match="module 'rowpath' has no attribute 'opne'"):
        rowpath.opne  # noqa: B018


def test_importing_rowpath_loads_nothing() -> None:
    code = "import sys; import rowpath; print([name for name in sys.modules if name.startswith('rowpath')])"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert done.stdout == "['rowpath']\n"


def test_a_run_is_typed_objects(run: rowpath.Run) -> None:
    assert all(isinstance(one, rowpath.Result) for one in run.results)
    assert all(isinstance(one, rowpath.Ranking) for one in run.rankings)
    assert all(isinstance(row, rowpath.RankedPath) for one in run.rankings for row in one.rows)
    assert all(isinstance(one, rowpath.Finding) for one in run.findings)
    assert repr(run) == f"<rowpath.Run tour of {run.started[:16]}: {len(run.results)} results>"
    assert run.sentences and run.trust


def test_its_results_are_a_table(run: rowpath.Run) -> None:
    frame = run.to_pandas()
    table = pyarrow.table(run)
    assert list(frame.columns) == table.column_names
    assert len(frame) == table.num_rows == len(run.results)
    steady = frame[(frame.metric == "time") & (frame.regime == "steady") & (frame.phase == "read")]
    medians = {one.name: one.median for one in run.results if (one.metric, one.regime) == ("time", "steady")}
    known = steady.dropna(subset="median")
    assert dict(zip(known.name, known["median"], strict=True)).items() <= medians.items()
    assert 5 < len(known) < len(steady), "a figure that is not known is NaN"
    assert pandas.api.types.is_float_dtype(frame.best_of_five)
    assert run.to_arrow().schema.metadata[b"rowpath.experiment"] == b"tour"


def test_without_pandas_it_names_the_command(run: rowpath.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    for table, package in ((run.to_pandas, "pandas"), (run.to_arrow, "pyarrow")):
        with pytest.raises(rowpath.RowpathError, match=f"the Python package {package}") as missing:
            table()
        assert isinstance(missing.value, EnvironmentMissing) and missing.value.hint.endswith(f"pip install {package}")


def test_a_notebook_shows_the_answer_and_the_pictures(run: rowpath.Run) -> None:
    shown = insides.notebook_html(run)
    found = re.fullmatch(r'<iframe title="[^"]+" sandbox="" [^>]* srcdoc="([^"]+)"></iframe>', shown)
    assert found
    page = html.unescape(found[1])
    assert all(html.escape(sentence, quote=False) in page for sentence in run.sentences)
    scans = [one for one in run.rankings if (one.workload, one.phase, one.regime) == ("scan", "read", "steady")]
    ranked = [[row.name for row in one.rows if row.rank] for one in scans]
    shown_names = set(re.findall(r"<span>([^<]+)</span>", page))
    assert any(len(names) > 5 and shown_names.issuperset(names) for names in ranked)
    assert "<script" not in page and "href=" not in page
    assert len(shown) < 100_000


def test_two_runs_are_compared(directory: Path, tmp_path: Path) -> None:
    later = factory.write(tmp_path / "later", factory.records(factory.Run(seed=2)))
    comparison = rowpath.compare(directory, [later], despite=["environment"])
    assert isinstance(comparison, rowpath.Comparison)
    assert comparison.rows


def test_a_directory_without_a_run_is_a_user_s_mistake(tmp_path: Path) -> None:
    with pytest.raises(rowpath.RowpathError):
        rowpath.open(tmp_path)
