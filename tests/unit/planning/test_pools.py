"""The coordinates of pools: nothing has them unless a selection names them, and sizes are free."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from rowpath.errors import UsageError
from rowpath.model.experiment import Selection
from rowpath.model.path import AccessPath
from rowpath.planning.availability import ineligible_reason, pruned
from rowpath.planning.selection import check_coordinates, lattice, select
from rowpath.runners.manifest import Adapter, Pool, adapter_of
from rowpath.workloads.workload_file import load_workload

TO_PSYCOPG = {"psycopg": ("postgresql",)}
ASKS = Pool("asks", "pools/asks.py", TO_PSYCOPG, validations=("none", "borrow"))
TRUSTS = Pool("trusts", "pools/trusts.py", TO_PSYCOPG)


def with_pools() -> Adapter:
    return replace(adapter_of("python", "psycopg"), pools=(ASKS, TRUSTS))


def paths(**wanted: tuple[str, ...]) -> list[AccessPath]:
    adapter = with_pools()
    return [path for path in lattice(adapter, wanted) if not pruned(adapter, path)]


def values(found: list[AccessPath]) -> list[tuple[str, ...]]:
    return [tuple(map(path.get, ("pool", "pool_size", "validation"))) for path in found]


def test_no_path_has_a_pool_unless_it_is_named() -> None:
    found = select(Selection(select={"language": "python", "driver": "psycopg"}))
    assert found
    assert all({"pool", "pool_size", "validation"}.isdisjoint(path.as_dict()) for _adapter, path in found)


def test_a_pool_is_taken_with_each_size_and_each_validation() -> None:
    named: dict[str, Any] = {"pool": ("none", "asks", "trusts"), "pool_size": ("1", "64"), "validation": ("borrow",)}
    assert values(paths(**named)) == [("none", "none", "none"), ("asks", "1", "borrow"), ("asks", "64", "borrow")]
    assert values(paths(pool=("trusts",))) == [("trusts", "10", "none")]
    assert len(paths(pool=("*",), pool_size=("3",), validation=("*",))) == 4


def test_connections_are_those_of_the_pool() -> None:
    lent, own = paths(pool=("asks", "none"), pool_size=("4",), clients=("96",))
    assert [(path.clients, path.connections, path.pooled) for path in (lent, own)] == [(96, 4, True), (96, 96, False)]


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ({"pool": ("trusts", "asks"), "validation": ("borrow",)}, "pool=trusts has no validation=borrow"),
        ({"pool": ("asks",), "clients": ("8",), "concurrency": ("processes",)}, "concurrency=threads"),
        ({"pool": ("asks",), "pipeline": ("10",)}, "nothing is pipelined"),
    ],
)
def test_what_a_pool_cannot_do_has_a_reason(named: dict[str, tuple[str, ...]], why: str) -> None:
    adapter = with_pools()
    assert any(why in pruned(adapter, path) for path in lattice(adapter, named))


def test_only_queries_and_single_writes_are_done_on_a_borrowed_connection() -> None:
    (path,) = paths(pool=("asks",))
    keyed = load_workload("keyed")
    assert ineligible_reason(with_pools(), path, "keyed.read", keyed.phase("read")) == ""
    connect = replace(keyed.phase("read"), kind="connect")
    assert "a pool's connection" in ineligible_reason(with_pools(), path, "keyed.connect", connect)


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("pool", "hikari-cp", "unknown pool 'hikari-cp'"),
        ("pool_size", "many", "invalid pool_size 'many'"),
        ("pool_size", "0", "invalid pool_size '0'"),
        ("validation", "always", "unknown validation 'always'"),
    ],
)
def test_an_unknown_value_is_named(key: str, value: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        check_coordinates({key: (value,)})
