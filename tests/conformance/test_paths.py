"""Conformance leaves no value of a manifest out, and no two values that shape a statement or its result together."""

from __future__ import annotations

import itertools

import pytest
from tests.conformance.selection import project_paths

from rowpath.checks.conformance.paths import VARIED_ONE_AT_A_TIME, cases, default_paths, phase_name, planned, workloads
from rowpath.engines import ENGINES
from rowpath.engines.base import Versioned
from rowpath.model.path import AccessPath
from rowpath.planning.availability import ineligible_reason, pruned
from rowpath.planning.plan import key_of
from rowpath.planning.selection import OWN_WHERE_NAMED, lattice
from rowpath.runners.manifest import Adapter, every_adapter

ADAPTERS = pytest.mark.parametrize(
    "adapter",
    [each for each in every_adapter() if not each.floor],  # a floor delivers nothing that a case could look at
    ids=lambda each: f"{each.language}-{each.driver}",
)


def existing(adapter: Adapter, keys: tuple[str, ...]) -> list[AccessPath]:
    """Every point of these coordinates that exists."""
    paths = lattice(adapter, dict.fromkeys(keys, ("*",)))
    return [path for path in paths if not pruned(adapter, path)]


def together(paths: list[AccessPath], keys: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {tuple(path.get(key) for key in ("engine", "deployment", *keys)) for path in paths}


@ADAPTERS
def test_every_two_values_that_shape_a_statement_meet(adapter: Adapter) -> None:
    apart = (*VARIED_ONE_AT_A_TIME, *OWN_WHERE_NAMED)
    shaping = tuple(key for key in adapter.coordinates if key not in apart)
    chosen = [each.path for each in planned(adapter, "pairs")]
    points = existing(adapter, shaping)
    for pair in itertools.combinations(shaping, 2):
        assert together(points, pair) <= together(chosen, pair), pair


@ADAPTERS
@pytest.mark.parametrize("reach", ["values", "pairs"])
def test_every_value_that_exists_is_there(adapter: Adapter, reach: str) -> None:
    chosen = [each.path for each in planned(adapter, reach)]  # type: ignore[arg-type]
    assert not [path for path in chosen if pruned(adapter, path)]
    assert len({path.id for path in chosen}) == len(chosen)
    for key in adapter.coordinates:
        found = {path.get(key) for path in chosen}
        values = adapter.coordinates[key]
        # The first value of what is only there where it is named is what every other path does.
        missing = set(values[1:] if key in OWN_WHERE_NAMED else values) - found - {"none"}
        others = tuple(other for other in adapter.coordinates if other != key)
        for value in missing:
            assert not [path for path in existing(adapter, (key, *others)) if path.get(key) == value], (key, value)


def test_fewer_paths_are_chosen_than_exist() -> None:
    pgjdbc = next(each for each in every_adapter() if each.driver == "pgjdbc")
    numbers = [len(planned(pgjdbc, reach)) for reach in ("values", "pairs", "every")]
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[2] / 10


def test_a_coordinate_that_is_asked_for_is_kept() -> None:
    sqlite = next(each for each in every_adapter() if each.driver == "sqlite3")
    chosen = planned(sqlite, "values", {"statement": ("bound",), "clients": ("8",)})
    assert {(each.path.get("statement"), each.path.get("clients")) for each in chosen} == {("bound", "8")}


def test_tls_off_meets_a_server_that_offers_tls() -> None:
    for driver in ("mysql2", "psycopg"):
        adapter = next(each for each in every_adapter() if each.driver == driver)
        plain = [each for each in planned(adapter, "values") if each.path.get("tls") == "off"]
        met = {each.path.get("engine_version"): each.path.get("transport") for each in plain}
        for engine in adapter.engines:
            kind = ENGINES[engine]
            assert isinstance(kind, Versioned)
            assert met[kind.tls_version()] == "tcp"
        assert len({each.name for each in plain}) == len(plain)


def test_a_deployment_that_is_asked_for_is_the_only_one() -> None:
    derby = next(each for each in every_adapter() if each.driver == "derby")
    chosen = planned(derby, "values", {"deployment": ("server",), "statement": ("text",), "clients": ("1",)})
    assert {each.path.get("deployment") for each in chosen} == {"server"}
    assert len({each.path.id for each in chosen}) == len(chosen)


def test_a_default_path_meets_every_case_that_it_can_run() -> None:
    firsts = default_paths(project_paths())
    assert {each.path.get("deployment") for each in firsts} >= {"embedded", "server", "file", "none"}
    for each in firsts:
        for case in cases():
            workload, _, phase = phase_name(case).partition(".")
            reason = ineligible_reason(each.adapter, each.path, phase_name(case), workloads()[workload].phase(phase))
            assert (phase_name(case) in each.phases) == (not reason), (each.name, case.name)


def test_a_path_with_other_clients_reads_and_writes() -> None:
    for each in project_paths():
        if "clients=8" in each.name.split("_") and "scan" not in each.adapter.phases:
            assert {"keyed.read", "keyed.insert"} & set(each.phases), each.name


def test_the_paths_of_an_instance_stand_together() -> None:
    keys = [key for key, _group in itertools.groupby(key_of(each.path) for each in project_paths())]
    assert len(keys) == len(set(keys))
