"""The coordinates `rows` and `loop`: nothing has them unless a selection names them, and not every point exists."""

from __future__ import annotations

import pytest

from rowpath.cli.plan import everything
from rowpath.model.experiment import Selection
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates, in_words
from rowpath.planning.availability import ineligible_reason, pruned
from rowpath.planning.selection import OWN_WHERE_NAMED, lattice, select, spread
from rowpath.runners.manifest import adapter_of
from rowpath.workloads.workload_file import load_workload

DRIVERS = ("psycopg", "psycopg2", "asyncpg")


def paths(driver: str, **named: str) -> list[AccessPath]:
    wanted = {key: tuple(values.split()) for key, values in named.items()}
    adapter = adapter_of("python", driver)
    return [path for path in lattice(adapter, wanted) if not pruned(adapter, path)]


@pytest.mark.parametrize("driver", DRIVERS)
def test_no_path_has_them_unless_they_are_named(driver: str) -> None:
    adapter = adapter_of("python", driver)
    listed = [path for _adapter, path in select(Selection(select={"language": "python", "driver": driver}))]
    for path in (*listed, *spread(adapter, {}), *lattice(adapter, {}, complete=True)):
        assert not {*OWN_WHERE_NAMED} & path.as_dict().keys()
    named = [selection.select for selection in everything().experiment.paths if selection.select["driver"] == driver]
    assert named and not any({*OWN_WHERE_NAMED} & select.keys() for select in named)


def test_a_probe_tries_none_unless_mine_names_it() -> None:
    query = Phase(name="query", kind="query", sql="SELECT 1")
    found = candidates(Wanted("postgresql", "server", query, languages=("python",)))
    assert found.paths and not any({*OWN_WHERE_NAMED} & planned.path.as_dict().keys() for planned in found.paths)
    words = " ".join(map(in_words, found.paths))
    assert "rows=" not in words and "loop=" not in words
    mine = candidates(Wanted("postgresql", "server", query, languages=("python",), mine="psycopg,rows=dict"))
    (yours,) = [planned for planned in mine.paths if planned.path.id in mine.baselines]
    assert yours.path.get("rows") == "dict"
    assert in_words(yours).endswith("rows=dict")


def test_named_they_are_taken() -> None:
    assert [path.get("rows") for path in paths("psycopg", rows="*")] == ["tuple", "dict", "namedtuple", "object"]
    assert [path.get("rows") for path in paths("psycopg2", rows="dict real-dict record")] == ["dict", "real-dict"]
    assert [path.get("loop") for path in paths("asyncpg", loop="*")] == ["asyncio", "uvloop"]
    assert not lattice(adapter_of("c", "libpq"), {"rows": ("dict",)})


@pytest.mark.parametrize(
    ("driver", "named", "why"),
    [
        ("psycopg", {"loop": "uvloop"}, "only concurrency=tasks has an event loop"),
        ("asyncpg", {"loop": "uvloop", "concurrency": "processes"}, "only concurrency=tasks has an event loop"),
        ("psycopg", {"loop": "uvloop", "concurrency": "tasks", "version": "3.3.8"}, "without uvloop"),
        ("psycopg", {"rows": "dict", "layer": "django"}, "a layer hands over its own objects"),
        ("psycopg", {"concurrency": "tasks", "layer": "django"}, "layers above psycopg have no tasks"),
        ("psycopg", {"concurrency": "tasks", "pool": "psycopg_pool"}, "concurrency=threads"),
        ("psycopg", {"concurrency": "tasks", "fetch": "copy", "statement": "text"}, "whole results"),
        ("asyncpg", {"rows": "dict", "pool": "asyncpg"}, "hands over records"),
    ],
)
def test_what_does_not_exist_says_why(driver: str, named: dict[str, str], why: str) -> None:
    adapter = adapter_of("python", driver)
    (path,) = lattice(adapter, {"engine": ("postgresql",)} | {key: (value,) for key, value in named.items()})
    assert why in pruned(adapter, path)


@pytest.mark.parametrize(("rows", "reads"), [("tuple", True), ("dict", False), ("object", False)])
def test_the_columns_of_an_aggregate_have_no_names_to_read(rows: str, reads: bool) -> None:
    (path,) = paths("psycopg", rows=rows)
    phase = load_workload("aggregate").phase("read")
    reason = ineligible_reason(adapter_of("python", "psycopg"), path, "aggregate.read", phase)
    assert reason == "" if reads else f"rows={rows} reads by name" in reason
