"""Rows into a data frame by pandas and polars, through each driver below, against the controller's expected rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.engines import ENGINES
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase, result_columns
from rowpath.planning.availability import pruned
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import workload_file
from tests.runners.python.engines import postgresql_fixture, sqlite_file_fixture, sqlite_loaded_fixture  # noqa: F401
from tests.runners.python.talk import ADAPTERS, Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401
from tests.runners.python.test_adapters import check_every_phase

python: Any = toolchain("python")
TWICE = ("polars-database", "postgresql")  # two columns called `min`, which polars takes none of
PATHS = [
    (driver, engine, through)
    for driver, engine in itertools.product(("pandas", "polars-database"), ("postgresql", "sqlite"))
    for through in ADAPTERS[driver].coordinates["through"]
    if not pruned(ADAPTERS[driver], AccessPath.of({"engine": engine, "through": through, "statement": "text"}))
]


@pytest.mark.parametrize(("driver", "engine", "through"), PATHS)
def test_frames_hold_the_rows(
    kept: Callable[..., Talk],
    postgresql: dict[str, Any],
    sqlite_file: Path,
    driver: str,
    engine: str,
    through: str,
) -> None:
    talk = kept(driver)
    place = postgresql if engine == "postgresql" else {"path": str(sqlite_file)}
    options = {**place, "engine": engine, "through": through, "statement": "text", "transport": "unix", "tls": "off"}
    talk.open(**options)
    check_every_phase(talk, ENGINES[engine], ("scan",))
    facts = talk.facts()
    assert facts.driver_version == ADAPTERS[driver].versions[0]
    assert any(name.startswith("driver ") for name in facts.libraries)
    assert ("sqlalchemy" in facts.libraries) == (through == "sqlalchemy")
    scan = workload_file.load_workload("scan")
    verified = talk.verify(talk.prepare(scan, scan.phases[0]))
    assert verified.converted == (["REQTS"] if engine == "sqlite" else [])
    with pytest.raises(RunnerFailure) as caught:
        talk.verify(talk.prepare(scan, scan.phases[0], "SELECT * FROM nowhere"))
    assert caught.value.kind == "sql"
    assert "password" not in postgresql or str(postgresql["password"]) not in caught.value.text
    talk.open(**options)
    if (driver, engine) != TWICE:
        check_every_phase(talk, ENGINES[engine], ("aggregate",))
    elif through != "connectorx":  # which says it in words of its own
        aggregate = workload_file.load_workload("aggregate")
        with pytest.raises(RunnerFailure, match=r"'min'.* more than o") as caught:
            talk.verify(talk.prepare(aggregate, aggregate.phases[0]))
        assert caught.value.kind == "sql"


def test_pandas_says_what_it_would_change(kept: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    types = workload_file.load_workload("types")
    talk = kept("pandas")
    talk.open(**postgresql, engine="postgresql", through="psycopg", statement="bound", transport="unix")
    phase = types.phases[0]
    whole = talk.verify(talk.prepare(types, phase, workload_file.sql_for(types, phase, ENGINES["postgresql"])))
    assert dict(zip((c.name for c in result_columns(types, phase)), whole.delivered, strict=True))["c_big"] == "float64"
    assert not any(column.foreign for column in whole.columns)
    columns = [msgspec.to_builtins(c) for c in result_columns(types, phase) if c.name != "c_big"]
    names = ", ".join(column["name"] for column in columns)
    name = talk.prepare(types, phase, f"SELECT {names} FROM types", columns=columns)
    assert talk.verify(name).rows == 6
    # Nothing but the one column is changed: the other values are the generator's.
    plain = Phase(name="plain", kind="query", sql=f"SELECT {names} FROM types")
    other = kept("psycopg")
    other.open(**postgresql, statement="bound", transport="unix")
    assert other.verify(other.prepare(types, plain, columns=columns)).digest == talk.verify(name).digest


def test_pandas_changes_no_other_drivers_environment() -> None:
    """pyarrow imports numpy where it finds it: the drivers that share an environment are to go on without."""
    shared = [each for each in ADAPTERS.values() if not each.build.get("apart")]
    assert not any(
        name in python.packages_of(each, each.versions[0]) for each in shared for name in ("numpy", "pandas")
    )
    pandas, psycopg = ADAPTERS["pandas"], ADAPTERS["psycopg"]
    apart = python.environment_of(pandas, pandas.versions[0])
    assert apart != python.environment_of(psycopg, psycopg.versions[0])
