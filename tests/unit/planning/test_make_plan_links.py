"""Paths over an emulated link are compared among themselves: what does not cross it is not the same work."""

from __future__ import annotations

from pathlib import Path

from rowpath.model.experiment import Experiment, Selection
from rowpath.planning.experiment_file import load_workloads
from rowpath.planning.make_plan import make_plan


def test_a_link_parts_comparisons(tmp_path: Path) -> None:
    select: dict[str, str | tuple[str, ...]] = {"engine": "postgresql", "driver": "libpq", "transport": "tcp"}
    paths = (
        Selection(select=select | {"link": ("none", "1ms")}),
        Selection(select={"engine": "sqlite", "driver": "sqlite3"}),
    )
    experiment = Experiment(1, "linked", "Linked", ("keyed.read",), paths)
    plan = make_plan(experiment, load_workloads(experiment), {}, seed=1)
    found = {(each.path.get("engine"), each.path.get("link")): each.comparison for each in plan.paths}
    assert "link=1ms" in found["postgresql", "1ms"]
    assert found["postgresql", "none"] == found["sqlite", "none"]
    assert "link=none" in found["sqlite", "none"]
