"""A maintainer's build beside a release: `--version RELEASE,FILE`, where the language can take a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rowpath.cli.main import main
from rowpath.machine.directories import digest
from rowpath.model.path import AccessPath
from rowpath.planning.make_plan import short_names
from rowpath.runners.manifest import Adapter, adapter_of, availability, toolchain
from tests.runners.java.insides import java_artefacts

python: Any = toolchain("python")


def here(language: str, driver: str, version: str) -> str:
    """Why that version cannot be measured; empty when it can."""
    return availability(adapter_of(language, driver), version).reason


@pytest.mark.parametrize(
    ("language", "driver"), [("java", "pgjdbc"), ("python", "psycopg"), ("c", "libpq"), ("c", "psqlodbc")]
)
def test_a_file_that_is_not_there(language: str, driver: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    reason = here(language, driver, str(gone))
    assert reason in (f"no file {gone}", f"the ODBC driver {gone} is missing", "no C compiler (cc)")


@pytest.mark.parametrize(
    ("language", "driver"), [("c", "sqlite"), ("python", "sqlite3"), ("java", "file"), ("csharp", "mono-data-sqlite")]
)
def test_a_driver_that_takes_no_file_says_so(language: str, driver: str, tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    reason = here(language, driver, str(tmp_path / "mine"))
    assert reason.endswith("and takes no file") or "mcs" in reason


def test_a_version_that_a_driver_does_not_have_is_not_measured_under_its_name() -> None:
    assert here("c", "sqlite", "3.99") == "c sqlite has no version '3.99' and takes no file"
    assert here("c", "libpq", "99") == "c libpq has no version '99'"


def test_a_libpq_needs_the_name_that_the_loader_looks_for(tmp_path: Path) -> None:
    mine = tmp_path / "libpq.so"
    mine.touch()
    assert here("c", "libpq", str(mine)) == f"no libpq.so.5 in {tmp_path}"
    (tmp_path / "libpq.so.5").symlink_to(mine)
    assert here("c", "libpq", str(mine)) == ""


def test_a_jar_stands_in_for_the_drivers_own_and_leaves_the_rest() -> None:

    needed = java_artefacts(adapter_of("java", "pgjdbc"), "/build/pgjdbc.jar")
    assert needed and not any("org.postgresql" in one for one in needed)


def test_a_wheel_that_was_built_again_gets_an_environment_of_its_own(tmp_path: Path) -> None:
    adapter: Adapter = adapter_of("python", "psycopg")
    first, second = tmp_path / "a", tmp_path / "b"
    for folder, text in ((first, "1"), (second, "2")):
        folder.mkdir()
        (folder / "driver.py").write_text(text)
    names = {python.environment_of(adapter, version).name for version in ("3.3.9", str(first), str(second))}
    assert len(names) == 3
    assert python.own_requirement(adapter, str(first)) == f"psycopg[binary] @ {first.as_uri()}"


def test_a_path_is_named_by_its_file() -> None:
    paths = [
        AccessPath.of({"engine": "postgresql", "language": "java", "driver": "pgjdbc", "version": version})
        for version in ("42.7.14", "/home/me/build/pgjdbc-mine.jar")
    ]
    names = short_names([(path, "") for path in paths])
    assert list(names.values()) == ["postgresql java pgjdbc 42.7.14", "postgresql java pgjdbc pgjdbc-mine.jar"]


def test_both_versions_are_in_one_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "mine.jar").touch()
    monkeypatch.chdir(tmp_path)
    assert main(["run", "tour", "--driver", "pgjdbc", "--version", "42.7.14,./mine.jar", "--plan"]) == 0
    text = capsys.readouterr().out
    assert "PostgreSQL Java TCP 42.7.14:" in text and "PostgreSQL Java TCP mine.jar:" in text


def test_a_missing_build_stops_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = tmp_path / "gone.jar"
    assert main(["run", "tour", "--driver", "pgjdbc", "--version", f"42.7.14,{gone}", "--plan"]) == 3
    assert f"error: no file {gone}" in capsys.readouterr().err


def test_a_fingerprint_is_of_what_a_folder_holds(tmp_path: Path) -> None:
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    for folder, text in ((one, "x"), (two, "x"), (other, "y")):
        (folder / "__pycache__").mkdir(parents=True)
        (folder / "driver.py").write_text(text)
        (folder / "__pycache__" / "driver.pyc").write_text(folder.name)
    assert digest(one) == digest(two) != digest(other)
