"""Sweeps: known lines come back, the crossing has an interval, and who leads from which size on."""

from __future__ import annotations

import math
import random
from pathlib import Path

import msgspec
import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import sweeps
from rowpath.analysis.chapters.cost_models import Coefficient
from rowpath.analysis.chapters.published import CLAIMS
from rowpath.analysis.chapters.sweeps import Leader, Sweep, SweepLine, fit, leading
from rowpath.analysis.model import Analysis
from rowpath.workloads.workload_file import load_workload
from tests.unit import journal_factory

SIZES = {phase.name: phase.rows_per_operation for phase in load_workload("scan-sizes").phases}
QUICK_START, QUICK_ROWS = (10_000.0, 500.0), (60_000.0, 250.0)  # they cross at 200 rows


def swept(tmp_path: Path, lines: dict[str, tuple[float, float]], sets: int = 6) -> Analysis:
    """A run over the sizes in which each path's time is its line's, give or take."""
    paths = []
    for name, (fixed, row) in lines.items():
        costs = {f"scan-sizes.{phase}": fixed + row * rows for phase, rows in SIZES.items()}
        paths.append(journal_factory.path(name, f"sqlite embedded c {name}", costs))
    claim = {
        "id": "flips",
        "claim": "the order flips",
        "check": {
            "kind": "crossover",
            "numerator": {"name": "start"},
            "denominator": {"name": "rows"},
        },
    }
    experiment = {"sweep": {"workload": "scan-sizes"}, "claims": [claim]}
    run = journal_factory.Run(paths=paths, sets=sets, rounds=5, regimes=("steady",), experiment=experiment)
    made = journal_factory.records(run)
    workload = msgspec.to_builtins(load_workload("scan-sizes"))
    made[0] |= {"workloads": {"scan-sizes": workload}}
    return analyse(journal_factory.write(tmp_path, made))


def test_a_line_comes_back() -> None:
    assert fit({rows: 700 + 3.5 * rows for rows in (1, 10, 100, 1000)}) == pytest.approx((700, 3.5))


def test_noise_of_two_percent_moves_a_line_little() -> None:
    noise = random.Random(5)
    for _ in range(20):
        fixed, row = fit({rows: (700 + 3.5 * rows) * noise.gauss(1, 0.02) for rows in (1, 10, 100, 1000)})
        assert fixed == pytest.approx(700, rel=0.1)
        assert row == pytest.approx(3.5, rel=0.1)


def test_no_part_is_below_zero() -> None:
    assert min(fit({1: 100.0, 10: 50.0, 100: 20.0})) >= 0


def test_the_leaders_and_where_they_change(tmp_path: Path) -> None:
    analysis = swept(tmp_path, {"start": QUICK_START, "rows": QUICK_ROWS, "never": (70_000, 600)})
    (sweep,) = sweeps.CHAPTER.of(analysis)
    assert [leader.name for leader in sweep.leaders] == ["start", "rows"]
    change = sweep.leaders[1]
    assert change.from_rows == pytest.approx(200, rel=0.1)
    assert change.low is not None
    assert change.high is not None
    assert change.low < 200 < change.high
    assert change.high / change.low < math.e


@pytest.mark.parametrize(
    ("lines", "sets", "outcome"),
    [
        ({"start": QUICK_START, "rows": QUICK_ROWS}, 6, "holds"),
        ({"start": QUICK_ROWS, "rows": QUICK_START}, 6, "does not hold"),
        ({"start": (10_000, 200), "rows": (20_000, 300)}, 6, "does not hold"),
        ({"start": QUICK_START, "rows": QUICK_ROWS}, 3, "uncertain"),
        ({"start": QUICK_START}, 6, "uncertain"),
    ],
)
def test_the_claim_of_a_crossover(
    tmp_path: Path, lines: dict[str, tuple[float, float]], sets: int, outcome: str
) -> None:
    (claim,) = CLAIMS.of(swept(tmp_path, lines, sets))
    assert claim.outcome == outcome, claim.figure


def line(name: str, fixed_ns: float, row_ns: float, known: bool = True) -> SweepLine:
    def told(ns: float) -> Coefficient:
        return Coefficient(ns, ns * 0.9, ns * 1.1, known)

    return SweepLine(name, told(fixed_ns), told(row_ns), 6)


def test_who_leads_from_which_size_on() -> None:
    leaders = (Leader("a", 1, None, None), Leader("b", 40, 35, 46), Leader("c", 900, None, None))
    sweep = Sweep("all paths", 1, 5000, (line("c", 9000, 10), line("b", 3000, 50), line("a", 1000, 100)), leaders)
    assert dict(leading(sweep)) == {
        "a": "from 1 to 40 rows",
        "b": "from 40 (35–46) to 900 rows",
        "c": "from 900 rows on",
    }
    grid = sweeps.grid(sweep)
    assert [row.cells[0] for row in grid.rows] == ["c", "b", "a"]
    assert grid.rows[0].cells[1] == "9.00 µs ± 10.0 %"


def test_a_single_leader_leads_everywhere() -> None:
    sweep = Sweep("all paths", 1, 5000, (line("a", 1, 1, known=False),), (Leader("a", 1, None, None),))
    grid = sweeps.grid(sweep)
    assert grid.rows[0].cells[1] == "≈ 0"
    assert "all sizes" in grid.rows[0].cells


BATCHES = {phase.name: phase.rows_per_operation for phase in load_workload("load-sizes").phases}


def batches(tmp_path: Path, lines: dict[str, tuple[float, float]], sets: int = 6) -> Analysis:
    """A run of loads in which each path's time is its line's; a path's name begins with its bulk way."""
    paths = []
    for name, (fixed, row) in lines.items():
        costs = {f"load-sizes.{phase}": fixed + row * rows for phase, rows in BATCHES.items()}
        if name.startswith("multi-row"):
            del costs["load-sizes.batch-10000"]
        bulk, _, driver = name.partition(" ")
        words = f"postgresql server c {driver} transport=tcp bulk={bulk}"
        paths.append(journal_factory.path(name, words, costs))
    experiment = {"sweep": {"workload": "load-sizes"}}
    made = journal_factory.records(
        journal_factory.Run(paths=paths, sets=sets, rounds=5, regimes=("steady",), experiment=experiment)
    )
    made[0] |= {"workloads": {"load-sizes": msgspec.to_builtins(load_workload("load-sizes"))}}
    return analyse(journal_factory.write(tmp_path, made))


LOADS = {
    "multi-row libpq": (10_000.0, 3_000.0),
    "copy libpq": (60_000.0, 1_000.0),  # at 10 rows 70 µs against 40, at 100 rows 160 against 310
    "unnest libpq": (20_000.0, 4_000.0),
    "copy pgx": (10.0, 1.0),
}


def test_a_bulk_way_breaks_even_with_the_insert_of_its_driver(tmp_path: Path) -> None:
    analysis = batches(tmp_path, LOADS)
    (sweep,) = sweeps.CHAPTER.of(analysis)
    assert [(one.name, one.insert, one.from_rows) for one in sweep.break_evens] == [
        ("copy libpq", "multi-row libpq", 100),
        ("unnest libpq", "multi-row libpq", None),
    ]
    assert analysis.answer.sentences[:2] == (
        "copy libpq surely leads multi-row libpq from 100 rows a batch on.",
        "unnest libpq does not surely lead multi-row libpq.",
    )
    assert [row.cells for row in sweeps.break_even_grid(sweep).rows] == [
        ("copy libpq", "multi-row libpq", "100"),
        ("unnest libpq", "multi-row libpq", "–"),
    ]


def test_the_fastest_insert_of_a_driver_is_in_the_answer(tmp_path: Path) -> None:
    slower = {"multi-row libpq statement=bound": (10_000.0, 9_000.0)}
    analysis = batches(tmp_path, LOADS | slower)
    (sweep,) = sweeps.CHAPTER.of(analysis)
    assert len(sweep.break_evens) == 4
    assert "unnest libpq does not surely lead multi-row libpq." in analysis.answer.sentences


def test_three_sets_break_even_nowhere(tmp_path: Path) -> None:
    (sweep,) = sweeps.CHAPTER.of(batches(tmp_path, LOADS, sets=3))
    assert sweep.break_evens == ()


def test_reads_have_no_break_even(tmp_path: Path) -> None:
    (sweep,) = sweeps.CHAPTER.of(swept(tmp_path, {"start": QUICK_START, "rows": QUICK_ROWS}))
    assert sweep.break_evens == ()
