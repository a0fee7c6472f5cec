"""psycopg's implementations: each is what it is requested to be, in an environment that has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.postgresql import Postgresql
from rowpath.model.path import AccessPath
from rowpath.planning.availability import pruned
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from tests.runners.python.engines import postgresql_fixture  # noqa: F401
from tests.runners.python.talk import ADAPTERS, Talk, start_fixture  # noqa: F401
from tests.runners.python.test_adapters import SOME_WORKLOADS, check_every_phase

python: Any = toolchain("python")
PSYCOPG = ADAPTERS["psycopg"]
COMPILED = "3.3.8"


def path_of(implementation: str, version: str) -> AccessPath:
    return AccessPath.of({"driver": "psycopg", "implementation": implementation, "version": version})


@pytest.mark.parametrize(("implementation", "version"), [("binary", "3.3.9"), ("python", "3.3.9"), ("c", COMPILED)])
def test_each_is_read_back_from_the_module(
    start: Callable[..., Talk], postgresql: dict[str, Any], implementation: str, version: str
) -> None:
    here = python.availability(PSYCOPG, version, path_of(implementation, version))
    if not here.ok:
        pytest.skip(here.reason)
    talk = start("psycopg", implementation=implementation, version=version)
    options = {**postgresql, "transport": "unix", "statement": "prepared"}
    other = "c" if implementation == "python" else "python"
    with pytest.raises(RunnerFailure, match=f"imported as {implementation}, not as {other}") as caught:
        talk.open(**options, implementation=other)
    assert caught.value.kind == "unsupported"
    talk.open(**options, implementation=implementation)
    check_every_phase(talk, Postgresql(), SOME_WORKLOADS)
    facts = talk.facts()
    assert facts.driver_version == version
    assert facts.libraries["implementation"] == implementation
    assert int(facts.libraries["libpq"]) >= 100000
    mapped = Path(f"/proc/{talk.runner.pid}/maps").read_text()
    assert ("psycopg_binary" in mapped, "psycopg_c" in mapped) == (implementation == "binary", implementation == "c")


def test_the_compiled_one_has_an_environment_of_its_own_and_is_pinned() -> None:
    assert "psycopg-c" in pruned(PSYCOPG, path_of("c", "3.3.9"))
    assert not pruned(PSYCOPG, path_of("c", COMPILED))
    (compiled,) = python.variants_of(PSYCOPG, path_of("c", COMPILED))
    assert python.is_compiled(compiled)
    assert python.own_requirement(compiled, COMPILED) == ""  # from compiled.lock
    assert python.environment_of(compiled, COMPILED) != python.environment_of(PSYCOPG, COMPILED)
    (pure,) = python.variants_of(PSYCOPG, path_of("python", "3.3.9"))
    assert python.environment_of(pure, "3.3.9") == python.environment_of(PSYCOPG, "3.3.9")


def test_what_is_missing_is_said_with_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.setattr(python, "system_library", lambda _name: None)
    here = python.availability(PSYCOPG, "3.3.9", path_of("python", "3.3.9"))
    assert (here.ok, here.remedy) == (False, "apt-get install libpq5")
    assert python.availability(PSYCOPG, "3.3.9", path_of("binary", "3.3.9")).ok
    monkeypatch.setenv("PATH", str(tmp_path))
    here = python.availability(PSYCOPG, COMPILED, path_of("c", COMPILED))
    assert "pg_config" in here.reason
    assert here.remedy == "apt-get install gcc libpq-dev python3-dev"
