"""The coordinate `tls`: which server a path with it meets, and why one cannot have it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Versioned, versions
from rowpath.engines.postgresql import ENGINE
from rowpath.errors import EnvironmentMissing
from rowpath.machine import certificates, postgresql_programs
from rowpath.model.experiment import Selection
from rowpath.model.path import AccessPath
from rowpath.planning.availability import unavailable
from rowpath.planning.plan import key_of
from rowpath.planning.selection import select

WHEEL, WITH_TLS = postgresql_programs.VERSION, postgresql_programs.VERSION_TLS


@pytest.fixture(autouse=True)
def _none_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROWPATH_POSTGRESQL", raising=False)


def versions_of(**wanted: str | tuple[str, ...]) -> set[tuple[str, str]]:
    """(tls, engine_version) of the paths that psycopg has for a selection."""
    found = select(Selection(select={"driver": "psycopg", "transport": "tcp", **wanted}))
    return {(path.get("tls"), path.get("engine_version")) for _adapter, path in found}


def test_postgresql_has_two_versions_and_the_others_one() -> None:
    assert isinstance(ENGINE, Versioned)
    assert versions(ENGINES["postgresql"]) == (WHEEL, WITH_TLS)
    assert versions(ENGINES["sqlite"]) == (sqlite3.sqlite_version,)


def test_without_a_word_on_tls_the_wheel_serves() -> None:
    assert versions_of() == {("off", WHEEL)}
    assert versions_of(tls="off") == {("off", WHEEL)}


def test_asking_for_tls_chooses_one_server_for_all_its_paths() -> None:
    assert versions_of(tls="on") == {("on", WITH_TLS)}
    assert versions_of(tls=("off", "on")) == {("off", WITH_TLS), ("on", WITH_TLS)}
    assert versions_of(tls="default") == {("default", WITH_TLS)}


def test_a_version_that_was_named_stays() -> None:
    assert versions_of(tls="on", engine_version=WHEEL) == {("on", WHEEL)}
    ((adapter, path),) = select(
        Selection(select={"driver": "psycopg", "transport": "tcp", "tls": "on", "engine_version": WHEEL})
    )
    if not ENGINE.availability().ok:
        pytest.skip(ENGINE.availability().reason)
    reason, remedy = unavailable(adapter, path)
    assert reason == f"{ENGINE.availability().what} was built without TLS"
    assert remedy == f"engine_version={WITH_TLS}"


@pytest.mark.parametrize("engine", ["mariadb", "mysql"])
def test_the_mysql_family_has_the_same_server_with_a_certificate(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROWPATH_MYSQL_URL", raising=False)
    kind = ENGINES[engine]
    assert isinstance(kind, Versioned)
    plain, encrypts = kind.versions()
    assert (encrypts, kind.tls_version()) == (f"{plain}-tls", f"{plain}-tls")
    for wanted, expected in (("off", plain), ("on", encrypts)):
        where = {"engine": engine, "language": "node", "driver": "mysql2", "transport": "tcp"}
        ((_adapter, path),) = select(Selection(select={**where, "tls": wanted}))
        assert path.get("engine_version") == expected
    if not kind.availability_of(plain, "off").ok:
        pytest.skip(kind.availability_of(plain, "off").reason)
    refused = kind.availability_of(plain, "on")
    assert (refused.ok, refused.remedy) == (False, f"engine_version={encrypts}")
    monkeypatch.setattr(certificates, "problem", lambda: "no openssl")
    assert kind.availability_of(encrypts, "off").remedy == certificates.INSTALL
    assert kind.availability_of(plain, "off").ok


def test_a_library_in_the_clients_process_meets_no_server_with_tls() -> None:
    found = select(Selection(select={"driver": "libmariadbd", "engine_version": "*"}))
    assert {path.get("engine_version") for _adapter, path in found} == {ENGINES["mariadb"].version()}


def test_the_shipped_profile_alone_does_not_change_the_server() -> None:
    assert {version for _tls, version in versions_of(profile="shipped")} == {WHEEL}


def test_both_servers_live_in_one_run() -> None:
    def key(**coordinates: str) -> tuple[str, ...]:
        return key_of(
            AccessPath.of({"engine": "postgresql", "deployment": "server", "durability": "full"} | coordinates)
        )

    assert key(engine_version=WHEEL) != key(engine_version=WITH_TLS)
    assert key(engine_version="none") == key(engine_version=WHEEL)
    own, system = (
        AccessPath.of({"engine": "sqlite", "deployment": "embedded", "durability": "full", "engine_version": version})
        for version in ("own", sqlite3.sqlite_version)
    )
    assert key_of(own) == key_of(system)


def test_a_server_that_was_named_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    if not ENGINE.availability_of(WITH_TLS, "on").ok:
        pytest.skip(ENGINE.availability_of(WITH_TLS, "on").reason)
    wheel = postgresql_programs.install()
    monkeypatch.setenv("ROWPATH_POSTGRESQL", str(postgresql_programs.install_tls()))
    assert ENGINE.versions() == ("18.4",)
    assert ENGINE.tls_version() == "18.4"
    assert ENGINE.availability_of("18.4", "on").ok
    monkeypatch.setenv("ROWPATH_POSTGRESQL", str(wheel))
    assert ENGINE.tls_version() == ""
    assert ENGINE.availability_of("18.4", "on").remedy == "unset ROWPATH_POSTGRESQL"


def test_without_openssl_tls_is_unavailable_and_the_rest_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not ENGINE.availability_of(WITH_TLS, "on").ok:
        pytest.skip(ENGINE.availability_of(WITH_TLS, "on").reason)
    postgresql_programs.install_tls()
    monkeypatch.setattr("rowpath.machine.certificates.shutil.which", lambda _name: None)
    assert ENGINE.availability_of(WITH_TLS, "on").remedy == certificates.INSTALL
    assert ENGINE.availability_of(WITH_TLS, "off").ok
    with pytest.raises(EnvironmentMissing, match="openssl"):
        certificates.make(tmp_path, None)
