"""Facts about drivers come from the driver's own package, and only from there."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from rowpath.cli import list as listing
from rowpath.runners import driver_facts
from rowpath.runners.manifest import Adapter, every_adapter, toolchain

c: Any = toolchain("c")
python: Any = toolchain("python")
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <groupId>org.example</groupId><artifactId>{artifact}</artifactId><version>1.2</version>{rest}
</project>"""
PARENT = "<parent><groupId>org.example</groupId><artifactId>parent</artifactId><version>1.2</version></parent>"
DEPENDENCIES = """<dependencies>
  <dependency><groupId>${project.groupId}</groupId><artifactId>shared</artifactId></dependency>
  <dependency><groupId>org.other</groupId><artifactId>at-run</artifactId><scope>runtime</scope></dependency>
  <dependency><groupId>org.other</groupId><artifactId>for-tests</artifactId><scope>test</scope></dependency>
  <dependency><groupId>org.other</groupId><artifactId>may-be</artifactId><optional>true</optional></dependency>
</dependencies>"""
LICENCES = "<licenses><license><name>One Licence</name></license><license><name>Another</name></license></licenses>"


def adapter(language: str, **build: object) -> Adapter:
    """An adapter of a driver, with no source."""
    return Adapter(
        driver="example",
        source="sqlite3.py",
        engines=("sqlite",),
        deployments=("embedded",),
        versions=("1.2",),
        phases=("query",),
        coordinates={},
        build=build,
        language=language,
    )


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Adapter:
    """A Java driver in a cache and a home of its own: `example.jar`, dated, its POM to be written by the test."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path / "cache"))
    jar(tmp_path, (2024, 3, 5, 0, 0, 0))
    return adapter("java", jars={"embedded": ["org.example:example:{version}"], "unix": ["org.other:socket:1"]})


def jar(tmp_path: Path, dated: tuple[int, int, int, int, int, int]) -> Path:
    file = tmp_path / "cache" / "downloads" / "java" / "example-1.2.jar"
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w") as archive:
        manifest = (
            "Manifest-Version: 1.0\r\nBundle-License: A very long licence that goes on in th\r\n e next line;x=y\r\n"
        )
        archive.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF", dated), manifest)
    return file


def pom(tmp_path: Path, artifact: str, rest: str) -> None:
    folder = tmp_path / "home" / ".m2" / "repository" / "org" / "example" / artifact / "1.2"
    folder.mkdir(parents=True)
    (folder / f"{artifact}-1.2.pom").write_text(POM.format(artifact=artifact, rest=rest))


def test_a_java_driver_is_described_by_its_pom_and_its_parents(java: Adapter, tmp_path: Path) -> None:
    pom(tmp_path, "example", PARENT + DEPENDENCIES)
    pom(tmp_path, "parent", LICENCES)
    found = driver_facts.facts_of(java, "1.2")
    assert (found.version, found.licence, found.released) == ("1.2", "One Licence or Another", "2024-03-05")
    assert found.dependencies == ("org.example:shared", "org.other:at-run")
    assert found.size_bytes == (tmp_path / "cache/downloads/java/example-1.2.jar").stat().st_size


def test_without_a_pom_the_archive_speaks_and_an_invented_date_does_not(java: Adapter, tmp_path: Path) -> None:
    jar(tmp_path, (1980, 2, 1, 0, 0, 0))
    found = driver_facts.facts_of(java, "1.2")
    assert found.licence == "A very long licence that goes on in the next line"
    assert (found.released, found.dependencies) == ("", None)


def test_what_is_not_fetched_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    fetched = [each for each, _version in driver_facts.drivers() if {"jars", "requirement"} & set(each.build)]
    assert fetched
    for each in fetched:
        assert driver_facts.facts_of(each, each.versions[0]).reason == driver_facts.NOT_FETCHED, each.driver
    assert not list(tmp_path.iterdir()), "looking at facts leaves nothing behind"


@pytest.fixture
def own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drivers' environments stand for this test's own."""
    monkeypatch.setattr(python, "interpreter", lambda _adapter, _version: Path(sys.executable))


@pytest.mark.usefixtures("own_python")
def test_a_python_driver_is_described_by_its_metadata() -> None:
    found = driver_facts.facts_of(adapter("python", requirement="pytest"), "1")
    package = importlib.metadata.distribution("pytest")
    assert (found.version, found.licence, found.released) == (package.version, "MIT", "")
    assert found.size_bytes is not None
    assert found.size_bytes > 100_000
    assert found.dependencies is not None
    assert {"pluggy", "iniconfig"} <= set(found.dependencies)
    assert not {"attrs", "hypothesis"} & set(found.dependencies), "those of an extra that was not asked for"


@pytest.mark.usefixtures("own_python")
def test_a_module_of_pythons_own_is_described_by_python() -> None:
    found = driver_facts.facts_of(adapter("python"), "system")
    assert (found.version, found.licence, found.dependencies) == (platform.python_version(), "Python's own", ())
    assert found.size_bytes


@pytest.mark.usefixtures("own_python")
def test_a_package_that_is_not_there_is_a_reason() -> None:
    found = driver_facts.facts_of(adapter("python", requirement="no-such-package"), "1")
    assert "no-such-package is neither an installed package" in found.reason


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="no Debian")
def test_a_c_library_is_described_by_its_debian_package() -> None:
    sqlite = next(each for each in every_adapter() if (each.language, each.driver) == ("c", "sqlite"))
    if not c.driver_libraries(sqlite, "system"):
        pytest.skip("libsqlite3 is not here")
    found = driver_facts.facts_of(sqlite, "system")
    version = subprocess.run(
        ["dpkg-query", "-W", "-f=${Version}", "libsqlite3-0"], capture_output=True, text=True, check=True
    ).stdout
    assert found.version == version
    assert found.licence == "public-domain"
    assert found.size_bytes is not None
    assert found.size_bytes > 1_000_000
    assert found.dependencies is not None
    assert "libc6" in found.dependencies
    assert found.released >= "2000-01-01"


def test_every_driver_has_its_line() -> None:
    lines = list(listing.drivers())[1:]
    lines = lines[: lines.index("")]  # then those that cannot be here
    named = {" ".join(line.split()[:2]) for line in lines}
    expected = {f"{each.language} {each.driver}" for each in every_adapter() if not each.no_driver}
    assert named == expected
