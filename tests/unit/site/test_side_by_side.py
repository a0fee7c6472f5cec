"""Machines side by side: only ratios, only what is the same on both, each from a run that has both paths."""

from __future__ import annotations

import msgspec
import pytest

from rowpath.site.contents import Site
from rowpath.site.read import SiteRun, examine_all
from rowpath.site.standings import SideBySide, side_by_side
from tests.unit import site_factory


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[SiteRun]:
    found = examine_all(site_factory.write_usual(tmp_path_factory.mktemp("runs")), None)
    return [each.run for each in found if each.run]


def _tables(runs: list[SiteRun]) -> dict[str, SideBySide]:
    return {each.where[0]: each for each in side_by_side(runs, Site(runs).machines)}


def test_one_machine_is_twice_as_fast_and_its_ratios_are_the_same(runs: list[SiteRun]) -> None:
    tables = _tables(runs)
    assert set(tables) == {"keyed", "scan"}
    for table in tables.values():
        assert table.machines == ("M1", "M2")
        assert len(table.rows) > 6
        for _name, cells in table.rows:
            laptop, server = cells
            assert laptop is not None
            assert server is not None
            assert laptop.ratio == pytest.approx(server.ratio, rel=0.08)
            assert laptop.run.machine != server.run.machine


def test_the_fastest_path_is_the_reference_and_the_others_follow(runs: list[SiteRun]) -> None:
    table = _tables(runs)["keyed"]
    assert table.reference == table.rows[0][0] == "sqlite c 1.0"
    ratios = [cells[0].ratio for _name, cells in table.rows if cells[0]]
    assert ratios[0] == 1
    assert ratios == sorted(ratios)


def test_a_version_is_compared_with_the_same_version_in_the_newest_run_that_has_it(runs: list[SiteRun]) -> None:
    rows = dict(_tables(runs)["keyed"].rows)
    assert "pgjdbc tcp 42.7.5" not in rows  # only one of the machines has it
    assert [cell.run.date for cell in rows["pgjdbc tcp 42.7.4"] if cell] == ["2025-05-15", "2025-09-20"]
    assert [cell.run.date for cell in rows["libpq tcp 1.0"] if cell] == ["2025-10-15", "2025-09-20"]


def test_other_data_and_single_machines_stand_beside_nothing(runs: list[SiteRun]) -> None:
    assert _tables([run for run in runs if run.machine.cpus == 8]) == {}
    other = [
        msgspec.structs.replace(run, data=dict.fromkeys(run.data, "other")) if run.machine.cpus == 8 else run
        for run in runs
    ]
    assert _tables(other) == {}
