"""The coordinates of layers: nothing has them unless a selection names them, and each layer has its own techniques."""

from __future__ import annotations

from typing import Any

import pytest

from rowpath.model.experiment import Selection
from rowpath.model.path import AccessPath
from rowpath.planning.availability import ineligible_reason, pruned, unnumbered_reason
from rowpath.planning.selection import select
from rowpath.runners.manifest import every_adapter
from rowpath.workloads.workload_file import load_workload

FILM = load_workload("films").phase("film")
READ = load_workload("keyed").phase("read")


def paths(**wanted: Any) -> list[tuple[Any, AccessPath]]:
    found = select(Selection(select={"language": "python", **wanted}))
    return [(adapter, path) for adapter, path in found if not pruned(adapter, path)]


def test_no_path_has_a_layer_unless_it_is_named() -> None:
    assert all({"layer", "technique"}.isdisjoint(path.as_dict()) for _adapter, path in paths(driver="psycopg"))


@pytest.mark.parametrize("driver", sorted({adapter.driver for adapter in every_adapter() if adapter.layers}))
def test_a_layer_hands_over_objects_and_a_driver_rows(driver: str) -> None:
    adapter = next(adapter for adapter in every_adapter() if adapter.driver == driver)
    layers = [layer.name for layer in adapter.layers if layer.name != "none"]
    found = select(Selection(select={"language": adapter.language, "driver": driver, "layer": layers}))
    above = [path for adapter, path in found if not pruned(adapter, path)]
    assert {path.layer for path in above} == set(layers)
    for path in above:
        assert ineligible_reason(adapter, path, "films.film", FILM) == ""
        assert ineligible_reason(adapter, path, "keyed.read", READ)
    ((_, rows),) = select(Selection(select={"language": adapter.language, "driver": driver}))[:1]
    assert "a driver rows" in ineligible_reason(adapter, rows, "films.film", FILM)


def test_a_technique_is_planned_only_for_what_is_written_with_it() -> None:
    films = load_workload("films")

    def planned(**wanted: Any) -> dict[str, list[str]]:
        return {
            path.technique: [
                phase.name for phase in films.phases if not ineligible_reason(adapter, path, phase.name, phase)
            ]
            for adapter, path in paths(**wanted)
        }

    techniques = ["queries", "server", "lazy", "join"]
    by_hand = planned(driver="psycopg", layer="none", technique=techniques)
    assert by_hand["queries"] == [phase.name for phase in films.phases]
    assert by_hand["server"] == ["film", "user", "add", "read-modify-write"]
    assert (by_hand["lazy"], by_hand["join"]) == (["film", "user", "add"], ["film", "user"])
    assert planned(driver="sqlite3", layer="none", technique=["server"])["server"] == [
        "film",
        "user",
        "read-modify-write",
    ]
    assert planned(driver="psycopg", layer="django")["none"] == [phase.name for phase in films.phases]


def test_several_clients_insert_no_graph() -> None:
    films = load_workload("films")
    ((_adapter, path),) = paths(driver="psycopg", layer="django", clients="4")
    assert "numbers rows" in unnumbered_reason(path, films, "films.add", films.phase("add"))
    assert not unnumbered_reason(path, films, "films.change", films.phase("change"))


def test_only_a_program_by_hand_has_techniques() -> None:
    by_hand = paths(driver="psycopg", layer="none", technique=["queries", "server"])
    assert [path.technique for _adapter, path in by_hand] == ["queries", "server"]
    assert paths(driver="psycopg", layer="none") == []
    assert paths(driver="psycopg", layer="sqlalchemy-orm", technique="queries") == []
