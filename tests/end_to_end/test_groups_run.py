"""Readers, writers and a backup at once on real engines; an interruption in the middle of a stage, and going on."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from tests.end_to_end.command import Command, records, rowpath

EXPERIMENT = """\
schema_version = 1
name = "groups"
title = "Readers, writers and a backup at once"
phases = ["library.read", "library.write"]
scale = 0.002

[measure]
sets = 1
max_sets = 1
warm_cap_s = 0.2

[[paths]]
name = "SQLite"
[paths.select]
engine = "sqlite"
language = "c"
driver = "sqlite"
statement = "prepared"
placement = "free"
durability = "none"
processes = "shared"
backup = "vacuum-into"

[[paths]]
name = "PostgreSQL"
[paths.select]
engine = "postgresql"
language = "c"
driver = "libpq"
statement = "prepared"
placement = "free"
durability = "none"
transport = "tcp"
processes = "own"
backup = "dump"

[[client_groups]]
name = "readers"
phase = "library.read"
clients = 2

[[client_groups]]
name = "arrivals"
phase = "library.read"
pacing = "fixed"
rate_per_s = 100.0

[[client_groups]]
name = "writers"
phase = "library.write"

[[client_groups]]
name = "backup"
action = "backup"

[[stages]]
name = "together"
client_groups = ["readers", "arrivals", "writers"]
seconds = 1.0

"""
WITH_BACKUP = """\
[[stages]]
name = "with a backup"
client_groups = ["readers", "writers", "backup"]
seconds = 300.0
until = "backup"
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "groups.toml"
    file.write_text(text)
    return file


def by(found: list[dict[str, Any]], *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(record[key] for key in keys): record for record in found}


def test_readers_writers_and_a_backup(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = rowpath("run", written(tmp_path, EXPERIMENT + WITH_BACKUP), "-o", folder)
    assert done.returncode == 0, done.stderr
    names = {record["path_id"]: record["name"] for record in records(folder, "path")}
    groups = {(names[key[0]], *key[1:]): record for key, record in _groups(folder).items()}
    assert {key[1:] for key in groups if key[0] == "SQLite"} == {key[1:] for key in groups if key[0] == "PostgreSQL"}
    assert len(groups) == 2 * 5
    for (_name, _stage, group), record in groups.items():
        assert record["operations"] > 0
        assert (record["failed"], record["cut"]) == (0, False)
        assert record["touch_ok"] is (None if group == "writers" else True)
        assert record["operations"] == sum(record["service"].values())
    assert all(record["arrivals"] == record["operations"] for key, record in groups.items() if key[2] == "arrivals")
    _assert_seconds_add_up(folder)
    assert [(r["ok"], r["restored"], r["checked"]["tables"]) for r in records(folder, "backup")] == [
        (True, True, 2)
    ] * 2
    found = [(r["when"], r["ok"], r["lost"], r["doubled"]) for r in records(folder, "acknowledged")]
    assert sorted(found) == sorted([("backup", True, 0, 0), ("end", True, 0, 0)] * 2)
    for record in records(folder, "second"):
        served = names[record["path_id"]] == "PostgreSQL"
        assert (record["connections"] is not None) == served
        assert ("server" in record["processes"]) == served
        assert record["processes"]["client"]["cpu_ns"] > 0


def _groups(folder: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    return by(records(folder, "client-group"), "path_id", "stage", "client_group")


def _assert_seconds_add_up(folder: Path) -> None:
    """What was told second by second is what the runners told in the end."""
    for (path_id, stage, group), record in _groups(folder).items():
        seconds = [r for r in records(folder, "second") if (r["path_id"], r["stage"]) == (path_id, stage)]
        told = [r["client_groups"][group] for r in seconds if group in r["client_groups"]]
        assert sum(each["operations"] for each in told) == record["operations"]


def test_an_interruption_keeps_what_was_done_and_the_run_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    text = EXPERIMENT.replace("seconds = 1.0", "seconds = 5.0")
    with Command("run", written(tmp_path, text), "engine=sqlite", "-o", folder) as command:
        command.hold_when(lambda: bool(records(folder, "second")), "second")
        command.signal(signal.SIGINT)
        assert command.end().returncode != 0
    kept = records(folder, "client-group")
    assert {record["client_group"]: record["cut"] for record in kept} == dict.fromkeys(
        ("readers", "arrivals", "writers"), True
    )
    assert all(record["operations"] > 0 for record in kept)
    _assert_seconds_add_up(folder)
    assert not records(folder, "set-end")
    done = rowpath("run", "--resume", folder)
    assert done.returncode == 0, done.stderr
    assert len(records(folder, "set-end")) == 1
    assert [record["cut"] for record in records(folder, "client-group")].count(False) == len(kept)
    assert all(record["ok"] for record in records(folder, "acknowledged"))
