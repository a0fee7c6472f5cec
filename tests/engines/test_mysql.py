"""Fetching MySQL's server: pinned, whole or not at all. What its servers do is in test_mariadb.py."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rowpath.engines import mysql
from rowpath.engines.mariadb import programs as mariadb_programs
from rowpath.engines.mysql import ENGINE
from rowpath.machine import maven

pytestmark = pytest.mark.skipif(
    bool(maven.missing([mysql.ARTEFACT])), reason="its artefact was not fetched: rowpath engine fetch mysql"
)


@pytest.fixture(name="cache")
def cache_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without MySQL, to which the artefact need not be fetched again."""
    monkeypatch.setattr(mysql, "cache_dir", lambda: tmp_path)
    monkeypatch.delenv("ROWPATH_MYSQL_URL", raising=False)
    return tmp_path


def test_the_artefact_is_pinned() -> None:
    assert mysql.ARTEFACT in maven.pinned()
    size = maven.jar(mysql.ARTEFACT).stat().st_size
    assert ENGINE.size_text == f"{round(size / 1e6)} MB"


def test_what_was_fetched_is_what_was_promised(cache: Path) -> None:
    assert not ENGINE.fetched()
    said = ENGINE.fetch()
    assert ENGINE.fetched()
    assert said == f"MySQL 8.0.15, GPL-2.0, in {cache}/mysql-8.0.15"
    assert ENGINE.fetch() == said
    server = cache / "mysql-8.0.15" / "bin" / "mysqld"
    if ENGINE.availability().ok:
        asked = [server, "--no-defaults", "--version"]
        assert "8.0.15" in subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        assert mariadb_programs.version(server) == "8.0.15"
    assert not (cache / "mysql-8.0.15" / "bin").stat().st_mode & 0o022, "nobody else may replace it"


def test_what_was_cut_short_is_not_there(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpack = mysql.unpack

    def cut_short(target: Path) -> None:
        unpack(target)
        raise KeyboardInterrupt

    monkeypatch.setattr(mysql, "unpack", cut_short)
    with pytest.raises(KeyboardInterrupt):
        ENGINE.fetch()
    assert not ENGINE.fetched()
    assert [each.name for each in cache.iterdir()] == ["mysql-8.0.15.lock"]


def test_a_client_is_needed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ENGINE.fetch()
    if not ENGINE.availability().ok:
        pytest.skip(ENGINE.availability().reason)
    monkeypatch.setattr(mariadb_programs, "SEARCHED", ())
    monkeypatch.setenv("PATH", str(cache))
    here = ENGINE.availability()
    assert here.reason == "MariaDB's client mariadb, which loads the tables, is missing"
    assert here.remedy == "apt-get install --no-install-recommends mariadb-client"
