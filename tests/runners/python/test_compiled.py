"""Python drivers that are compiled here: what is missing is said, and one that fails stops no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rowpath.errors import EnvironmentMissing
from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from rowpath.runners.manifest import toolchain
from tests.runners.python.talk import ADAPTERS

python: Any = toolchain("python")
DRIVER = ADAPTERS["mysqlclient"]
VERSION = DRIVER.versions[0]


@pytest.fixture(name="cache")
def cache_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    return tmp_path


def test_what_compiling_lacks_is_said_with_the_packages(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(cache))
    here = python.availability(DRIVER, VERSION)
    assert not here.ok
    assert "no wheel" in here.reason
    assert "mariadb_config" in here.reason
    assert here.remedy == "apt-get install gcc libmariadb-dev python3-dev"
    assert python.availability(ADAPTERS["pymysql"], ADAPTERS["pymysql"].versions[0]).ok


def test_every_compiled_driver_is_locked_with_what_compiles_it() -> None:
    compiled = [adapter for adapter in ADAPTERS.values() if python.is_compiled(adapter)]
    assert {adapter.driver for adapter in compiled} == {"mysqlclient", "mariadb"}
    text = (Path(manifest.language("python").folder) / python.COMPILED_LOCK).read_text()
    for adapter in compiled:
        for name in (f"{adapter.build['requirement']}=={adapter.versions[0]} ", *adapter.build["tools"]):
            assert f"\n{name}" in text


def test_a_driver_that_does_not_compile_stops_no_other(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacking := python.compiler_lacking(DRIVER):
        pytest.skip(lacking)
    broken = {"MYSQLCLIENT_CFLAGS": "-I/nowhere", "MYSQLCLIENT_LDFLAGS": "-lnowhere"}
    monkeypatch.setattr(python, "library_flags", lambda _adapter: broken)
    path = AccessPath.of({"driver": DRIVER.driver})
    python.build([(DRIVER, VERSION)])
    here = python.availability(DRIVER, VERSION)
    assert not here.ok
    assert "pip could not install" in here.reason
    with pytest.raises(EnvironmentMissing, match="pip could not install") as refused:
        python.command(DRIVER, VERSION, path)
    assert "rm -r " in refused.value.hint
    assert str(cache) in refused.value.hint
    python.command(ADAPTERS["pymysql"], ADAPTERS["pymysql"].versions[0], path)
    monkeypatch.undo()
    monkeypatch.setenv("ROWPATH_CACHE", str(cache))
    assert python.interpreter(DRIVER, VERSION) is None
