"""Histories over versions and dates: the reference does not change, machines stay apart, changes are said plainly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rowpath.site.contents import Site
from rowpath.site.histories import History, by_how_much, histories, natural
from rowpath.site.read import SiteRun, examine_all
from rowpath.site.standings import standings
from tests.unit import site_factory
from tests.unit.site_factory import DRIVER, MadeRun


def _runs(folder: Path, made: dict[str, MadeRun]) -> list[SiteRun]:
    directories = [site_factory.write(folder / name, each) for name, each in made.items()]
    found = examine_all(directories, None)
    assert [each.problems for each in found] == [()] * len(found)
    return [each.run for each in found if each.run]


def _histories(runs: list[SiteRun], driver: str = "pgjdbc") -> list[History]:
    return [each for each in histories(runs, Site(runs).machines) if each.driver[1] == driver]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[SiteRun]:
    return _runs(tmp_path_factory.mktemp("runs"), site_factory.usual())


def test_a_slower_version_is_found_named_and_measured(usual: list[SiteRun]) -> None:
    on_laptop = [each for each in _histories(usual) if each.machine == "M1"]
    assert {each.where[:2] for each in on_laptop} == {("keyed", "read"), ("scan", "read")}
    for history in on_laptop:
        (change,) = history.changes
        assert change.what == "pgjdbc 42.7.4 → 42.7.5"
        assert history.points[change.at].date == "2025-06-15"
        assert change.low < 1.08 < change.high
        assert change.how_much.startswith("8 % slower (")


def test_no_other_driver_changed_although_the_machine_did(usual: list[SiteRun]) -> None:
    others = [each for each in histories(usual, Site(usual).machines) if each.driver[1] != "pgjdbc"]
    assert len({each.driver for each in others}) > 4
    assert not [each for each in others if each.changes]


def test_machines_have_histories_of_their_own(usual: list[SiteRun]) -> None:
    assert sorted({(each.machine, len(each.points)) for each in _histories(usual)}) == [("M1", 10), ("M2", 2)]


def test_the_reference_is_a_path_of_another_driver_that_kept_its_version(usual: list[SiteRun]) -> None:
    for history in _histories(usual):
        assert history.reference in ("libpq unix 1.0", "libpq tcp 1.0")
    for history in _histories(usual, "libpq"):
        if history.machine == "M2":  # pgjdbc kept its version there
            continue
        assert not history.reference.startswith(("libpq", "pgjdbc"))


def test_where_every_driver_changed_the_reference_reaches_no_engine(tmp_path: Path) -> None:
    names = ["file c", "sqlite c", "sqlite python", "sqlite java", "derby embedded", "libpq unix", "libpq tcp",
             "psycopg tcp", DRIVER]  # fmt: skip
    made = {
        str(month): MadeRun(f"2025-0{month}-01", versions={name: str(month) for name in names}, seed=month)
        for month in (1, 2)
    }
    found = _histories(_runs(tmp_path, made))
    assert {each.reference for each in found} == {"null c"}
    assert {len(each.points) for each in found} == {2}


def test_a_reference_that_few_runs_have_gives_way_to_the_loop_that_reaches_no_engine(usual: list[SiteRun]) -> None:
    laptop = [run for run in usual if run.machine.cpus == 8]

    def only_pgjdbc(run: SiteRun) -> SiteRun:
        kept = [each for each in run.timed if run.paths[each.path_id].get("driver") in ("pgjdbc", "null")]
        return msgspec.structs.replace(run, timed=tuple(kept))

    runs = [run if at < 5 else only_pgjdbc(run) for at, run in enumerate(laptop)]
    found = _histories(runs)
    assert {(each.reference, len(each.points)) for each in found} == {("null c", 10)}
    # With a quarter of the runs left out at most, a path that works on the same engine stays the reference.
    runs = [run if at < 8 else only_pgjdbc(run) for at, run in enumerate(laptop)]
    found = _histories(runs)
    assert {(each.reference[:5], len(each.points), each.left_out) for each in found} == {("libpq", 8, 2)}


def test_versions_stand_in_their_order_even_when_an_old_one_is_measured_later(tmp_path: Path) -> None:
    versions = {"2025-01-01": "42.7.9", "2025-02-01": "42.7.10", "2025-03-01": "42.7.9"}
    made = {date: MadeRun(date, versions={DRIVER: version}, seed=1) for date, version in versions.items()}
    history = _histories(_runs(tmp_path, made))[0]
    assert [(each.version, each.date) for each in history.points] == [
        ("42.7.9", "2025-01-01"),
        ("42.7.9", "2025-03-01"),
        ("42.7.10", "2025-02-01"),
    ]


def test_what_else_changed_stands_beside_the_version(tmp_path: Path) -> None:
    made = {
        name: replace(each, kernel="6.8.0") if name >= "laptop-06" else each
        for name, each in site_factory.usual().items()
        if name.startswith("laptop")
    }
    history = _histories(_runs(tmp_path, made))[0]
    system = "Debian GNU/Linux 12 (bookworm), 6"
    assert [each.what for each in history.changes] == [
        f"pgjdbc 42.7.4 → 42.7.5, with system {system}.1.0 → {system}.8.0"
    ]


def test_a_change_without_a_new_version_says_so(tmp_path: Path) -> None:
    made = {
        name: replace(each, versions={}) for name, each in site_factory.usual().items() if name.startswith("laptop")
    }
    history = _histories(_runs(tmp_path, made))[0]
    assert [each.what for each in history.changes] == [
        "pgjdbc 1.0, 2025-05-15 → 2025-06-15, with no other recorded change"
    ]


def test_other_data_is_another_history(tmp_path: Path, usual: list[SiteRun]) -> None:
    changed = dict.fromkeys(usual[0].data, "other")
    runs = [msgspec.structs.replace(run, data=changed) if at % 2 else run for at, run in enumerate(usual)]
    assert max(len(each.points) for each in _histories(runs)) == 5


def test_a_standing_is_of_the_newest_run_that_ranks_enough(usual: list[SiteRun]) -> None:
    newest = max(usual, key=lambda run: run.started)
    assert {each.run.id for each in standings(usual)} == {newest.id}
    few = tuple(msgspec.structs.replace(phase, bars=phase.bars[:2]) for phase in newest.phases)
    narrow = msgspec.structs.replace(newest, id="narrow", started="2026-01-01", phases=few)
    hasty = msgspec.structs.replace(newest, id="hasty", started="2026-02-01", sets=3)
    assert {each.run.id for each in standings([*usual, narrow, hasty])} == {newest.id}
    assert {each.run.id for each in standings([hasty])} == {"hasty"}


@pytest.mark.parametrize(
    ("ratio", "low", "high", "words"),
    [
        (1.08, 1.06, 1.10, "8 % slower (6–10)"),
        (0.93, 0.91, 0.95, "7 % faster (5–9)"),
        (1.031, 1.024, 1.038, "3.1 % slower (2.4–3.8)"),
        (2.5, 2.4, 2.6, "2.50× the time (2.40–2.60)"),
    ],
)
def test_how_much_is_said_in_per_cent_or_as_a_factor(ratio: float, low: float, high: float, words: str) -> None:
    assert by_how_much(ratio, low, high) == words


def test_versions_are_ordered_by_their_numbers() -> None:
    versions = ["42.7.10", "42.7.9", "42.7.9-rc1", "9.4"]
    assert sorted(versions, key=natural) == ["9.4", "42.7.9", "42.7.9-rc1", "42.7.10"]
