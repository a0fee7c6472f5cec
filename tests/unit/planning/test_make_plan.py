from __future__ import annotations

import pytest

from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment, Selection
from rowpath.planning.availability import most_round_trips, pruned
from rowpath.planning.estimate import estimate_s
from rowpath.planning.experiment_file import load_experiment, load_workloads
from rowpath.planning.make_plan import SET_LIMIT, make_plan
from rowpath.planning.plan import Plan, block_order
from rowpath.planning.selection import check_coordinates, lattice
from rowpath.runners.manifest import every_adapter

Select = dict[str, str | tuple[str, ...]]


def planned(*selects: Select, phases: tuple[str, ...] = ("scan.read",), **filters: str) -> Plan:
    experiment = Experiment(1, "t", "t", phases, tuple(Selection(select=select) for select in selects))
    wanted = {key: tuple(value.split(",")) for key, value in filters.items()}
    return make_plan(experiment, load_workloads(experiment), wanted, seed=1)


def test_a_coordinate_left_out_takes_the_first_value() -> None:
    (path,) = planned({"driver": "sqlite3"}).paths
    assert path.path.get("statement") == "prepared"
    assert path.path.get("placement") == "same"
    assert path.path.get("profile") == "tuned"


def test_a_star_takes_every_value_and_a_list_those_named() -> None:
    assert {p.path.get("statement") for p in planned({"driver": "sqlite3", "statement": "*"}).paths} == {
        "prepared",
        "bound",
        "text",
    }
    some = planned({"driver": "sqlite3", "statement": ("text", "bound")})
    assert [p.path.get("statement") for p in some.paths] == ["text", "bound"]


def test_the_shipped_profile_takes_the_drivers_own_defaults() -> None:
    (path,) = planned({"driver": "psycopg", "profile": "shipped"}).paths
    for key, value in path.adapter.shipped.items():
        assert path.path.get(key) == value
    (path,) = planned({"driver": "pgjdbc", "profile": "shipped", "version": "42.7.14"}).paths
    assert path.path.get("format") == path.adapter.shipped["format"] == "binary"


def test_an_adapter_limits_storage_and_durability_to_what_its_build_has() -> None:
    (path,) = planned({"driver": "duckdb-go"}).paths
    assert (path.path.get("storage"), path.path.get("durability")) == ("v1.5.0", "full")
    (other,) = planned({"language": "python", "driver": "duckdb"}).paths
    assert other.path.get("storage") == "latest"
    with pytest.raises(UsageError, match="durability must be full"):
        planned({"driver": "duckdb-go", "durability": "none"})


def test_points_that_do_not_exist_are_pruned_with_their_reason() -> None:
    plan = planned({"driver": "libpq", "statement": "text", "format": "binary"}, {"driver": "sqlite3"})
    assert [p.path.get("driver") for p in plan.paths] == ["sqlite3"]
    (dropped,) = plan.dropped
    assert "text only" in dropped.reason


def test_a_filter_keeps_and_opens() -> None:
    tour, loaded = load_experiment("tour")
    split = make_plan(tour, loaded, {"placement": ("split",)}, seed=1)
    assert {p.path.get("placement") for p in split.paths} == {"split"}
    only = make_plan(tour, loaded, {"engine": ("sqlite",)}, seed=1)
    assert {p.path.get("engine") for p in only.paths} == {"sqlite"}
    text = make_plan(tour, loaded, {"statement": ("text",)}, seed=1)
    assert {p.path.get("statement") for p in text.paths} == {"text", "none"}
    assert {p.path.get("engine") for p in text.paths if p.path.get("statement") == "none"} == {"null"}


def test_names_are_unique_and_say_what_varies() -> None:
    plan = planned({"engine": "postgresql", "driver": "*", "statement": "*", "result": "*", "format": "*"})
    names = [p.name for p in plan.paths]
    assert len(set(names)) == len(names)
    assert all(p.path.get("driver") in p.name for p in plan.paths)


def test_a_big_comparison_is_split_into_sets_that_share_two_anchors() -> None:
    plan = planned(
        {"engine": "postgresql", "driver": "*", "statement": "*", "result": "*", "format": "*", "transport": "*"},
        {"engine": "null", "language": "c", "driver": "null"},
        phases=("scan.read", "null.nothing"),
    )
    assert len(plan.paths) > SET_LIMIT
    assert all(len(group) <= SET_LIMIT for group in plan.batches)
    assert len(plan.anchors) == 2
    for group in plan.batches:
        assert set(plan.anchors) <= {p.path.id for p in group}
    everyone = [p.path.id for group in plan.batches for p in group if p.path.id not in plan.anchors]
    assert sorted(everyone) == sorted(p.path.id for p in plan.paths if p.path.id not in plan.anchors)


def test_a_confounded_build_is_a_comparison_of_its_own() -> None:
    plan = planned({"engine": "sqlite", "language": "*"})
    by_driver = {p.path.get("driver"): p.comparison for p in plan.paths}
    assert by_driver["sqlite"] == by_driver["sqlite3"]
    assert by_driver["sqlite-jdbc"] != by_driver["sqlite"]


def test_what_stands_in_for_an_engine_is_never_ranked_with_a_real_one() -> None:
    plan = planned({"engine": "ibmi-stand-in"}, {"engine": "sqlite", "language": "java"})
    label = ENGINES["ibmi-stand-in"].stands_in
    assert {label in p.comparison for p in plan.paths if p.path.engine == "ibmi-stand-in"} == {True}
    assert {label in p.comparison for p in plan.paths if p.path.engine == "sqlite"} == {False}


def test_a_manifest_declares_the_round_trips_of_derbys_client_only_with_a_server() -> None:
    plan = planned({"language": "java", "driver": "derby", "deployment": "*"}, {"driver": "pgjdbc"})
    declared = {
        (p.path.get("driver"), p.path.get("deployment")): most_round_trips(p.adapter, p.path) for p in plan.paths
    }
    assert declared == {("derby", "embedded"): 0, ("derby", "server"): 2, ("pgjdbc", "server"): 0}


def test_a_version_set_apart_is_a_comparison_of_its_own_beside_another_one_only() -> None:
    plain: Select = {"driver": "duckdb", "language": "python"}
    served: Select = {"driver": "duckdb-quack"}
    plan = planned(plain, {**plain, "version": "1.5.5"}, served, {"driver": "sqlite3"})
    by_version = {p.path.engine_version: p.comparison for p in plan.paths}
    assert "duckdb 1.5.5" in by_version["1.5.5"]
    assert "duckdb" not in by_version["2.0.0"]
    alone = planned({**plain, "version": "1.5.5"}, served, {"driver": "sqlite3"})
    assert not any("duckdb" in p.comparison for p in alone.paths)


def test_the_version_of_a_driver_that_is_the_engine_is_the_engine_s() -> None:
    for named in ("version", "engine_version"):
        (path,) = planned({"driver": "duckdb", "language": "python", named: "1.5.5"}).paths
        assert path.path.engine_version == path.path.version == "1.5.5"
    (path,) = planned({"engine": "duckdb", "deployment": "server"}).paths
    assert (path.path.get("driver"), path.path.engine_version) == ("duckdb-quack", "1.5.5")
    both: Select = {"driver": "duckdb", "language": "python", "version": "1.5.5", "engine_version": "2.0.0"}
    assert "the engine is in the driver" in planned(both, {"driver": "sqlite3"}).dropped[0].reason


def test_different_durabilities_and_placements_are_never_one_comparison() -> None:
    plan = planned({"driver": "sqlite3", "durability": ("full", "none"), "placement": ("same", "split")})
    assert len({p.comparison for p in plan.paths}) == len(plan.paths) == 4


def test_a_file_serves_scans_only_and_says_why_not_the_rest() -> None:
    plan = planned({"engine": "file", "language": "c"}, phases=("scan.read", "keyed.read"))
    (path,) = plan.paths
    assert path.phases == ("scan.read",)
    ((_, phase, reason),) = plan.ineligible
    assert phase == "keyed.read"
    assert "no index" in reason


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ({"engin": ("sqlite",)}, "engine"),
        ({"engine": ("sqllite",)}, "sqlite"),
        ({"placement": ("spilt",)}, "split"),
    ],
)
def test_a_wrong_coordinate_suggests_the_nearest(wanted: dict[str, tuple[str, ...]], hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_coordinates(wanted)
    assert f"'{hint}'" in caught.value.hint


@pytest.mark.parametrize(
    ("select", "said", "hint"),
    [
        (
            {"engine": "sqlite", "driver": "sqlite", "processes": "own"},
            "processes must be shared",
            "processes = 's",
        ),
        (
            {"engine": "sqlite", "backup": "api,dump"},
            "backup must be vacuum-into or api",
            "backup = 'vacuum-into'",
        ),
        ({"engine": "mysql", "backup": "mariadb-dump"}, "these paths have no backup", "remove backup"),
        ({"engine": "h2", "driver": "sqlite"}, "engine must be sqlite", "engine = 'sqlite'"),
    ],
)
def test_a_selection_that_nothing_matches_says_which_value_is_wrong(select: Select, said: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        planned(select)
    assert raised.value.message.endswith(said)
    assert raised.value.hint.startswith(hint)


def test_the_order_of_blocks_is_random_but_seeded() -> None:
    orders = {tuple(block_order(1, f"place {number}", 8)) for number in range(20)}
    assert len(orders) > 15
    assert all(sorted(order) == list(range(8)) for order in orders)
    assert block_order(1, "a", 8) == block_order(1, "a", 8)
    assert block_order(1, "a", 8) != block_order(2, "a", 8)


def test_every_adapter_has_a_path_that_exists() -> None:
    for adapter in every_adapter():
        assert any(not pruned(adapter, path) for path in lattice(adapter, {})), adapter.driver


def test_more_takes_longer() -> None:
    small = planned({"driver": "sqlite3"})
    large = planned({"driver": "sqlite3"}, {"driver": "psycopg"}, {"engine": "derby", "deployment": "*"})
    assert 0 < estimate_s(small) < estimate_s(large)


def test_the_estimate_knows_what_whole_tables_take() -> None:
    small, large, sums = (
        estimate_s(planned({"driver": "psycopg"}, phases=(f"tpch.{phase}",)))
        for phase in ("customer", "orders", "orders-aggregate")
    )
    assert large > 3 * small, "ten times the rows"
    assert sums < large / 3, "one row leaves the server"
    parted: Select = {"driver": "psycopg", "clients": "1", "ranges": "bounds"}
    assert estimate_s(planned(parted, phases=("tpch.orders-ranges",))) == pytest.approx(large)


def test_a_batch_beyond_the_parameters_of_a_statement_is_left_out_of_multi_row_only() -> None:
    """PostgreSQL's protocol counts parameters in 16 bits; an array is one, whatever is in it."""
    experiment, workloads = load_experiment("published-timescale-ingest")
    plan = make_plan(experiment, workloads, {"driver": ("libpq",), "link": ("none",)}, seed=1)
    workload = workloads["load-sizes"]
    width = len(workload.tables["readings"].columns)
    every = {f"load-sizes.{phase.name}" for phase in workload.phases}
    fitting = {f"load-sizes.{phase.name}" for phase in workload.phases if phase.rows_per_operation * width < 1 << 16}
    assert fitting < every
    by_way: dict[str, list[set[str]]] = {}
    for planned in plan.paths:
        by_way.setdefault(planned.path.get("bulk"), []).append(set(planned.phases))
    assert by_way == {"multi-row": [fitting] * 2, "unnest": [every] * 2, "copy": [every], "copy-binary": [every]}


def test_rows_are_stored_from_arrays_only_where_it_is_named() -> None:
    ways = [adapter.coordinates["bulk"] for adapter in every_adapter() if "bulk" in adapter.coordinates]
    assert len([way for way in ways if "unnest" in way]) == 5
    assert not [way for way in ways if way[0] == "unnest"]
