"""Paths over an emulated link: compared among themselves, estimated with their bytes, refused beyond its buffers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment, Selection
from rowpath.planning.estimate import estimate_s
from rowpath.planning.experiment_file import load_workloads
from rowpath.planning.make_plan import make_plan
from rowpath.planning.selection import check_coordinates


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


@pytest.mark.parametrize(
    "link", ["none", "1ms", "0.5ms", "25ms@100mbit", "0ms@2.5gbit", "1000ms@0.1mbit", "3000ms@56kbit"]
)
def test_a_link_is_a_time_with_or_without_a_rate(link: str) -> None:
    check_coordinates({"link": (link,)})


@pytest.mark.parametrize(
    "link",
    ["5", "ms", "5 ms", "1s", "@100mbit", "1ms@", "1ms@100", "1ms@100mb", "1ms@0mbit", "1ms@0.0gbit", "1ms@1e3mbit"],
)
def test_anything_else_is_refused(link: str) -> None:
    with pytest.raises(UsageError, match=f"^invalid link '{link}': expected a round-trip time such as 1ms$"):
        check_coordinates({"link": (link,)})


def test_a_link_that_holds_more_than_its_buffers_is_refused_with_the_figure() -> None:
    check_coordinates({"link": ("1200ms@200mbit",)})
    with pytest.raises(UsageError) as told:
        check_coordinates({"link": ("1400ms@200mbit",)})
    assert str(told.value) == (
        "link '1400ms@200mbit' holds 16.9 MiB in each direction (delay × rate, and what queues before it): "
        "its buffers hold 16.0 MiB"
    )


def test_the_estimate_knows_what_a_rate_makes_of_a_whole_table() -> None:
    def seconds(link: str) -> float:
        select = {"engine": "postgresql", "driver": "libpq", "transport": "tcp", "link": link}
        experiment = Experiment(1, "linked", "Linked", ("scan.read",), (Selection(select=select),))
        return estimate_s(make_plan(experiment, load_workloads(experiment), {}, seed=1))

    near, far = seconds("1ms"), seconds("1ms@1mbit")
    assert far > near + 60  # 0.5 MB take four seconds, in each of many blocks
