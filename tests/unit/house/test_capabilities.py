"""What is kept of the conformance suite's runs covers every adapter, and is compared with what the suite sees."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from rowpath.checks.conformance.checks import is_eligible
from rowpath.checks.conformance.paths import cases
from rowpath.runners.driver_facts import drivers
from tests.conformance import plugin
from tests.conformance.selection import project_paths

capabilities = plugin.capabilities
KEPT = capabilities.kept()
PSYCOPG = "python psycopg server"


def differences(change: tuple[str, str, list[str]], whole: tuple[str, ...] = ()) -> list[str]:
    """What a run says of psycopg that saw one column otherwise."""
    section, column, words = change
    seen = {PSYCOPG: copy.deepcopy(KEPT["adapters"][PSYCOPG])}
    seen[PSYCOPG][section][column] = words
    found: dict[str, list[str]] = capabilities.differences(KEPT["adapters"], seen, whole)
    return found.get(PSYCOPG, [])


def test_what_is_kept_is_of_adapters_that_there_are() -> None:
    assert set(KEPT["adapters"]) <= set(plugin.paths_of_adapters())


def test_every_case_that_an_adapter_can_meet_is_kept() -> None:
    for adapter, paths in plugin.paths_of_adapters().items():
        eligible = {case.name for path in paths for case in cases() if is_eligible(case, path)}
        kept = KEPT["adapters"].get(adapter, {"checks": {}})["checks"]
        assert eligible == set(kept), adapter


def test_each_driver_has_its_facts() -> None:
    known = {row[0] for row in KEPT["facts"]}
    assert {f"{adapter.language} {adapter.driver}" for adapter, _version in drivers()} <= known


def test_a_run_that_sees_what_is_kept_differs_in_nothing() -> None:
    assert capabilities.differences(KEPT["adapters"], KEPT["adapters"], KEPT["adapters"]) == {}


def test_what_is_seen_otherwise_is_named() -> None:
    where = f"Behaviours of drivers, {PSYCOPG}, cancellation honoured"
    changed = ("behaviours", "cancellation honoured", ["no"])
    assert differences(changed) == [f"{where}: no was seen"]
    assert differences(changed, whole=(PSYCOPG,)) == [f"{where}: no was seen", f"{where}: yes was not seen"]


def test_what_is_no_longer_seen_is_named_where_the_adapter_was_met_whole() -> None:
    changed = ("checks", "types", list[str]())
    assert differences(changed) == []
    assert differences(changed, whole=(PSYCOPG,)) == [f"Cases of the suite, {PSYCOPG}, types: yes was not seen"]


def test_an_adapter_that_is_seen_otherwise_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "DIFFERENCES", {"python psycopg server": ["a line"]})
    assert plugin.differs("python psycopg postgresql")
    assert not plugin.differs("python psycopg2 postgresql")


def test_an_adapter_is_whole_when_every_case_was_met_on_every_path() -> None:
    paths = plugin.paths_of_adapters()[PSYCOPG]
    observed = {
        path.name: {"adapter": PSYCOPG, "checks": {case.name: "yes" for case in cases() if is_eligible(case, path)}}
        for path in paths
    }
    assert plugin.whole_adapters(observed) == [PSYCOPG]
    observed[paths[-1].name]["checks"].popitem()
    assert plugin.whole_adapters(observed) == []
    assert plugin.whole_adapters({}) == []
    assert len(project_paths()) > len(paths)


def test_a_summary_says_what_the_paths_of_an_adapter_came_to() -> None:
    empty = {"behaviours": {}, "types": {}, "syncs": {}}
    types = {"delivered": [("c_int", "int"), ("c_json", ""), ("c_date", "str")], "converted": ["c_date"]}
    seen = capabilities.summary(
        {
            "one": {"adapter": "c toy", "checks": {"insert": "yes"}, **empty, "syncs": {"full": 21, "none": 0}},
            "two": {"adapter": "c toy", "checks": {"insert": "not with bulk"}, **empty, "types": types},
        }
    )
    assert seen == {
        "c toy": {
            "checks": {"insert": ["not with bulk", "yes"]},
            "behaviours": {},
            "types": {"c_int": ["int"], "c_json": ["no name"], "c_date": ["*str*"]},
            "syncs": {"full": ["at least one each"], "none": ["0"]},
        }
    }


def test_what_a_run_saw_replaces_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities, "KEPT", tmp_path / "capabilities.json")
    capabilities.keep({"b": {}, "gone": {}}, ["b", "gone"], [["driver"]])
    capabilities.keep({"a": {}}, ["a", "b"], [["another"]])
    kept = json.loads((tmp_path / "capabilities.json").read_text())
    assert list(kept["adapters"]) == ["a", "b"]
    assert kept["facts"] == [["another"]]
