"""What a contributed run must satisfy: each requirement refuses a run that lacks just that, and says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rowpath.site.build import build, check
from rowpath.site.read import run_directories
from tests.unit import journal_factory, site_factory
from tests.unit.journal_factory import Record
from tests.unit.site_factory import MadeRun

RUN = MadeRun("2025-01-15", sets=6)
OURS = {"disturbed": "x", "core_users": [{"kind": "ours", "name": "python", "ns": 10}]}


def _first(records: list[Record], kind: str, **having: object) -> Record:
    return next(
        each
        for each in records
        if each["record"] == kind and all(each.get(name) == value for name, value in having.items())
    )


def _all(records: list[Record], kind: str) -> list[Record]:
    return [each for each in records if each["record"] == kind]


def _half_disturbed(records: list[Record]) -> None:
    for at, each in enumerate(_all(records, "sample")):
        each["disturbed"] = "somebody" if at % 10 < 3 else ""


def _all_disturbed(records: list[Record]) -> None:
    for each in _all(records, "sample"):
        each["disturbed"] = "somebody"


def _other_digest(records: list[Record]) -> None:
    """The verification pass of one path called right with other rows of the same number."""
    for at, each in enumerate(_all(records, "verify")[:2]):
        each |= {"set": -1, "workload": "scan", "phase": "read", "ok": True}
        each["digest"] = each["expected"] = f"6071:{at:016x}"


def _unproven(records: list[Record]) -> None:
    for each in _all(records, "verify"):
        each["ok"] = None
    for each in _all(records, "sample"):
        each["touch_ok"] = None


def _silent_driver(records: list[Record]) -> None:
    for each in _all(records, "worker"):
        each["facts"] = {}


def _faster_than_it_was(records: list[Record]) -> None:
    for each in _all(records, "sample"):
        if "driver=pgjdbc" in each["path_id"]:
            each["ns"] //= 2


def _slower_than_it_was(records: list[Record]) -> None:
    for each in _all(records, "sample"):
        if "driver=pgjdbc" in each["path_id"]:
            each["ns"] *= 100
            each["window_ns"] *= 100


BENT: dict[str, tuple[Callable[[list[Record]], object], str]] = {
    "interrupted": (lambda r: _first(r, "end").update(outcome="interrupted"), "it is partial: interrupted"),
    "killed": (lambda r: r.pop(), "it is partial: the journal has no end record"),
    "open set": (lambda r: r.remove(_first(r, "set-end")), "1 of its 6 sets have no end"),
    "no record": (lambda r: r.insert(5, {"record": "nonsense"}), "1 line of its journal cannot be read"),
    "renamed": (
        lambda r: _first(r, "path", name="pgjdbc tcp")["coordinates"].update(version="99"),
        "the coordinates of pgjdbc tcp are not those of its id",
    ),
    "smuggled": (
        lambda r: _first(r, "set").update(path_ids=[]),
        "of its blocks are of a path that their set does not name",
    ),
    "faster": (_faster_than_it_was, "of its blocks are faster than each of their operations"),
    "slower": (_slower_than_it_was, "the blocks of set 0 take"),
    "longer": (lambda r: _first(r, "sample").update(window_ns=5), "1 of its blocks take longer than the window"),
    "negative": (lambda r: _first(r, "sample").update(rows=-1), "1 of its blocks have negative counts"),
    "touch": (
        lambda r: _first(r, "sample").update(touch="00", expected_touch=["aa"], touch_ok=True),
        "1 of its blocks have a touch sum that contradicts their status",
    ),
    "verdict": (lambda r: _first(r, "verify").update(digest="6071:00"), "1 digests are marked right and differ"),
    "digests": (_other_digest, "its paths delivered 2 different digests of scan.read, 6071 rows, all marked right"),
    "unproven": (_unproven, "were not verified"),
    "disturbed": (_half_disturbed, "of its blocks were disturbed, more than 20.0 %"),
    "refused": (_all_disturbed, "the machine was too busy for some of its paths"),
    "ours": (lambda r: _first(r, "sample").update(OURS), "Rowpath itself disturbed 1 of its blocks"),
    "machine": (lambda r: r[0]["environment"].pop("processor"), "it does not state processor"),
    "nonsense": (lambda r: r[0]["environment"].update(cpus="many"), "it cannot be analysed: ValueError"),
    "driver": (_silent_driver, "it does not state the driver's version of file c, sqlite c, sqlite python and"),
    "nameless": (lambda r: r[0]["experiment"].update(name=""), "it names no experiment"),
    "version": (lambda r: r[0].update(schema_version=99), "has schema version 99"),
}  # fmt: skip


def _problems(directory: Path, records: list[Record]) -> str:
    (found,) = check([journal_factory.write(directory, records)])
    return "; ".join(found.problems)


def test_a_sound_run_is_accepted(tmp_path: Path) -> None:
    assert _problems(tmp_path / "run", site_factory.records(RUN)) == ""


@pytest.mark.parametrize("name", BENT)
def test_a_run_that_lacks_one_thing_is_refused_for_it(tmp_path: Path, name: str) -> None:
    bend, reason = BENT[name]
    records = site_factory.records(RUN)
    bend(records)
    assert reason in _problems(tmp_path / "run", records)


def test_a_path_with_wrong_rows_is_a_result_and_not_ranked(tmp_path: Path) -> None:
    records = site_factory.records(RUN)
    for each in _all(records, "verify"):
        if "driver=pgjdbc" in each["path_id"]:
            each |= {"ok": False, "digest": "6070:9f3177aa00c2be01"}
    assert _problems(tmp_path / "run", records) == ""
    build([tmp_path / "run"], tmp_path / "site", with_pages=False)
    page = (tmp_path / "site" / "drivers" / "java-pgjdbc.html").read_text(encoding="utf-8")
    assert "It is not ranked in any run that is shown." in page


def test_one_journal_in_two_directories_counts_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        journal_factory.write(tmp_path / name, site_factory.records(RUN))
    assert sorted(each.problems for each in check([tmp_path])) == [(), ("its journal is that of one",)]


def test_a_run_whose_rows_are_not_those_of_the_others_is_refused(tmp_path: Path) -> None:
    for seed in range(1, 4):
        records = site_factory.records(MadeRun(f"2025-0{seed}-01", seed=seed))
        for each in _all(records, "verify"):
            if each["workload"] == "scan":
                each |= {"set": -1, "digest": f"6071:{seed // 3:016x}", "expected": f"6071:{seed // 3:016x}"}
        journal_factory.write(tmp_path / str(seed), records)
    assert [each.problems for each in check([tmp_path])] == [
        (),
        (),
        ("its rows of scan.read:6071 differ from those of the other runs of the same data",),
    ]


def test_runs_are_found_at_any_depth(tmp_path: Path) -> None:
    for name in ("b/deep/er", "a"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "samples.jsonl").write_text("", encoding="utf-8")
    assert run_directories([tmp_path]) == [tmp_path / "a", tmp_path / "b" / "deep" / "er"]
