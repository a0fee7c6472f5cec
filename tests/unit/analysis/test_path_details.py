"""What a row of a ranking opens to: versions, settings, the nearest neighbour, the command for one path."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis
from tests.unit import journal_factory as factory

FACTS = {
    "driver_version": "3.40.1",
    "engine_version": "3.40.1",
    "runtime": "CPython 3.11",
    "build": "",
    "libraries": {"libpq": "18.4"},
    "settings": {"fetch_size": 0, "autocommit": "on"},
}


def _analysed(directory: Path, command: list[str]) -> Analysis:
    records: list[dict[str, Any]] = []
    for record in factory.records(factory.Run()):
        if record["record"] == "run":
            record["command"] = command
        records.append(record)
        if record["record"] == "worker":
            facts = {"record": "facts", "set": record["set"], "path_id": record["path_id"], "facts": FACTS}
            records.append(facts)
    return analyse(factory.write(directory, records))


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    command = ["rowpath", "run", "tour", "-M", "prepared,text", "--scale", "0.1", "-o", "x", "--export-json=y"]
    return _analysed(tmp_path_factory.mktemp("run"), [*command, "placement=same,split"])


def test_versions_and_settings_are_those_that_the_worker_reported(usual: Analysis) -> None:
    for each in usual.path_details:
        assert each.versions == {"driver": "3.40.1", "engine": "3.40.1", "runtime": "CPython 3.11", "libpq": "18.4"}
        assert each.settings == {"fetch_size": "0", "autocommit": "on"}


def test_the_command_selects_that_path_and_no_other_and_keeps_the_options(usual: Analysis) -> None:
    paths = {each.path_id: dict(word.split("=", 1) for word in each.path_id.split(",")) for each in usual.path_details}
    contenders = [each for each in usual.path_details if paths[each.path_id]["engine"] != "null"]
    assert len(contenders) == 11
    for each in contenders:
        words = shlex.split(each.command)
        assert words[:5] == ["rowpath", "run", "tour", "--scale", "0.1"]
        filters = dict(word.split("=") for word in words[5:])
        assert filters["placement"] == paths[each.path_id]["placement"]  # it was named in the run's own command
        selected = [
            other.name
            for other in contenders
            if all(paths[other.path_id].get(key) == value for key, value in filters.items())
        ]
        assert selected == [each.name]


def test_the_neighbour_is_the_path_most_alike_with_the_ratio_to_it(usual: Analysis) -> None:
    names = usual.names
    found = {
        names[each.path_id]: each
        for each in usual.neighbours
        if (each.workload, each.regime) == ("keyed", "steady") and "placement=same" in each.path_id
    }
    assert names[found["libpq unix"].other_id] == "libpq tcp"
    assert names[found["sqlite python"].other_id] == "sqlite c"
    against = found["sqlite python"].against
    assert against is not None and against.low is not None and against.high is not None
    assert against.low <= 8_900 / 5_700 <= against.high


def test_every_block_has_its_cost(usual: Analysis) -> None:
    order = usual.diagnostics["order"]
    assert order and all(each["cost_ns"] > 0 for each in order)
