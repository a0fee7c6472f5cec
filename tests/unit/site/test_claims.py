"""The page of claims: each verdict is of the newest run that decides it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rowpath.analysis.model import ClaimCheck
from rowpath.planning.claim_file import load_claim, names
from rowpath.site.contents import ClaimRow, Site
from rowpath.site.read import SiteRun, examine_all
from tests.unit import site_factory

NAME = "qail-copy"
CLAIM = load_claim(NAME)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SiteRun:
    folder: Path = tmp_path_factory.mktemp("runs")
    site_factory.write(folder / "one", site_factory.MadeRun("2026-01-01", seed=1))
    (one,) = examine_all([folder / "one"], None)
    assert one.run
    return one.run


def row_of(made: SiteRun, *outcomes: str) -> ClaimRow:
    """With a run for each outcome, a day after the other."""
    runs = [
        msgspec.structs.replace(
            made,
            id=f"run-{day}",
            experiment=CLAIM.experiment,
            started=f"2026-01-0{day}T10:00:00+00:00",
            claims=tuple(ClaimCheck(id_, "…", outcome, "1.0×") for id_ in CLAIM.ids),  # type: ignore[arg-type]
        )
        for day, outcome in enumerate(outcomes, 1)
    ]
    rows = Site(runs or [made]).claims
    assert len(rows) == len(names())
    return next(row for row in rows if row.claim == CLAIM)


@pytest.mark.parametrize(
    ("outcomes", "verdict", "day"),
    [
        ((), "not measured", 0),
        (("uncertain",), "uncertain", 1),
        (("uncertain", "uncertain"), "uncertain", 2),
        (("holds", "uncertain"), "holds", 1),
        (("holds", "does not hold"), "does not hold", 2),
    ],
)
def test_a_verdict_is_of_the_newest_run_that_decides(
    made: SiteRun, outcomes: tuple[str, ...], verdict: str, day: int
) -> None:
    row = row_of(made, *outcomes)
    assert row.verdict == verdict
    assert (row.run is None) == (day == 0)
    if row.run:
        assert f"run-{day}" in row.run.href
