"""What the measurement of memory in a long stage reads from a journal whose every byte is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench import groups_memory
from bench.figure import Figure

from rowpath.analysis.client_groups import stage_runs
from rowpath.errors import RowpathError, UsageError
from rowpath.journal import reader
from tests.unit import groups_factory as groups
from tests.unit import journal_factory as factory
from tests.unit.groups_factory import S

MIB = 1 << 20
PATHS = [
    factory.path(groups_memory.MONITORS, "derby embedded java derby placement=free", {}),
    factory.path("SQLite, C", "sqlite embedded c sqlite placement=free", {}),
]


def written(directory: Path, per_minute: dict[str, float], seconds: int = 600, kept: int = 600) -> Path:
    """A journal in which each kind grows by so many MiB a minute from the second half on, and by 7 once before it."""
    made = factory.records(
        factory.Run(paths=PATHS, sets=0, experiment={"name": "m", "client_groups": [{"name": "readers"}]})
    )
    end = made.pop()
    for number, path in enumerate(PATHS):
        at = {"set": 0, "path_id": path.path_id, "stage": "at work"}
        zero = (1 + 1000 * number) * S
        asked = [{"client_group": "readers", "phase": groups.READ}]
        made.append({"record": "stage", **at, "at_ns": zero, "seconds": seconds, "client_groups": asked})
        for second in range(1, kept + 1):
            client = _process(100 if second > 30 else 93, per_minute, max(0, second - seconds // 2) / 60)
            processes = {"client": client, "controller": _process(40, {}, 0.0)}
            told = {"readers": {"operations": 50}}
            made.append(
                {
                    "record": "second",
                    **at,
                    "at_ns": zero + second * S,
                    "ns": S,
                    "client_groups": told,
                    "processes": processes,
                }
            )
    return factory.write(directory, [*made, end])


def _process(anonymous_mib: float, per_minute: dict[str, float], minutes: float) -> dict[str, float]:
    base = {"memory_bytes": anonymous_mib, "file_bytes": 8.0, "shared_bytes": 2.0}
    return {name: (mib + per_minute.get(name, 0.0) * minutes) * MIB for name, mib in base.items()}


def figures(*arguments: Any, how: str = "", **options: Any) -> dict[str, Figure]:
    return {one.name: one for one in groups_memory.figures(written(*arguments, **options), how)}


def test_bytes_at_each_minute_and_their_growth_by_kind(tmp_path: Path) -> None:
    journal = reader.read(written(tmp_path, {"memory_bytes": 2.0, "shared_bytes": 0.5}))
    run = next(one for one in stage_runs(journal) if one.record.path_id == PATHS[1].path_id)
    client = groups_memory.held_by(run)["client"]
    assert [client.at_minute(minute) / MIB for minute in (0.5, 1, 3, 5, 10)] == pytest.approx(
        [103, 110, 110, 110, 122.5]
    )
    assert client.growth() * 60 / MIB == pytest.approx([2.0, 0.0, 0.5], abs=0.01)
    assert groups_memory.held_by(run)["controller"].growth() == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_what_is_flat_is_met_and_what_grows_is_not(tmp_path: Path) -> None:
    flat = figures(tmp_path / "flat", {"memory_bytes": 0.1})["memory, SQLite, C: client"]
    assert flat.met is True
    assert "103.0" not in flat.value
    assert "110.0, 110.0, 110.0, 110.5 MiB after 1, 3, 5, 10 min" in flat.value
    assert "+0.100 MiB/min (+0.100 anonymous, +0.000 of files, +0.000 shared); 50 operations/s" in flat.value
    for kind in ("memory_bytes", "file_bytes", "shared_bytes"):
        growing = figures(tmp_path / kind, {kind: 0.5})
        assert growing["memory, SQLite, C: client"].met is False, kind
        assert growing["memory, SQLite, C: controller"].met is True, kind


def test_the_jvm_with_all_its_monitors_has_no_bar_and_the_one_that_gives_them_back_has(tmp_path: Path) -> None:
    name = f"memory, {groups_memory.MONITORS}"
    assert figures(tmp_path / "1", {"memory_bytes": 9.0})[f"{name}: client"].met is None
    assert figures(tmp_path / "2", {"memory_bytes": 9.0}, how=" x")[f"{name} x: client"].met is False


def test_a_shorter_stage_is_shown_without_a_verdict(tmp_path: Path) -> None:
    found = figures(tmp_path, {"memory_bytes": 9.0}, seconds=120, kept=120)["memory, SQLite, C: client"]
    assert found.met is None
    assert "MiB after 1 min, in the end" in found.value


def test_a_path_that_broke_off_is_no_figure(tmp_path: Path) -> None:
    with pytest.raises(RowpathError, match=groups_memory.MONITORS):
        figures(tmp_path, {}, kept=100)


@pytest.mark.parametrize("text", ["soon", "-1", "9", "601", "nan", "inf"])
def test_a_length_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(groups_memory.SHORTER, text)
    with pytest.raises(UsageError, match=text):
        groups_memory.stage_s()


def test_the_length_is_ten_minutes_or_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(groups_memory.SHORTER, raising=False)
    assert groups_memory.stage_s() == 600
    monkeypatch.setenv(groups_memory.SHORTER, "30")
    assert groups_memory.stage_s() == 30
