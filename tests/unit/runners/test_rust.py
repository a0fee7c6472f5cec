"""What a Rust adapter needs of the machine, and that every version it names is the one that is pinned."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from rowpath.machine import c_compiler
from rowpath.model.availability import Availability
from rowpath.runners import manifest

rust: Any = manifest.toolchain("rust")
FOLDER = Path(manifest.language("rust").folder)


def adapters() -> tuple[manifest.Adapter, ...]:
    return manifest.load_manifest("rust").adapter


def availability(driver: str) -> Availability:
    one = manifest.adapter_of("rust", driver)
    found: Availability = rust.availability(one, one.versions[0])
    return found


def locked(package: str) -> dict[str, dict[str, str]]:
    text = (FOLDER / package / "Cargo.lock").read_text(encoding="utf-8")
    return {crate["name"]: crate for crate in tomllib.loads(text)["package"]}


@pytest.fixture(name="with_rust")
def with_rust_fixture(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(rust, "cargo", lambda: "/usr/bin/cargo")
    monkeypatch.setattr(rust, "rustc_version", lambda: "rustc 1.95.0 (of a test)")
    monkeypatch.setattr(rust.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(c_compiler, "has_header", lambda name: True)
    return monkeypatch


def test_every_driver_is_the_crate_that_its_lock_pins() -> None:
    for one in adapters():
        if crate := one.build.get("crate"):
            entry = locked(one.build.get("package", ""))[crate]
            assert one.versions == (entry["version"],), one.driver
            assert len(entry["checksum"]) == 64


@pytest.mark.parametrize("package", ["", "sqlx"])
def test_every_crate_of_a_lock_has_a_checksum(package: str) -> None:
    assert [name for name, crate in locked(package).items() if "checksum" not in crate] == ["rowpath"]


def test_each_package_says_how_new_rust_must_be(with_rust: pytest.MonkeyPatch) -> None:
    with_rust.setattr(rust, "rustc_version", lambda: "rustc 1.90.0 (of a test)")
    assert availability("postgres").ok
    refused = availability("sqlx-postgres")
    assert not refused.ok
    assert refused.reason == "rustc 1.90.0 (of a test) is too old: Cargo.toml wants 1.94"


def test_the_headers_of_a_c_library_must_be_there(with_rust: pytest.MonkeyPatch) -> None:
    with_rust.setattr(c_compiler, "has_header", lambda name: False)
    refused = availability("postgres")
    assert refused.reason == "the header openssl/ssl.h is missing"
    assert refused.remedy == "apt-get install libssl-dev"
    assert availability("rusqlite").ok


def test_a_library_in_a_jar_takes_maven_and_a_machine_that_it_was_built_for(with_rust: pytest.MonkeyPatch) -> None:
    assert availability("duckdb").ok
    with_rust.setattr(rust.maven, "missing", list)
    with_rust.setattr(rust.shutil, "which", lambda name: None if name == "mvn" else f"/usr/bin/{name}")
    refused = availability("duckdb")
    assert refused.reason == "Maven is missing, org.duckdb:duckdb_jdbc:2.0.0.1 cannot be fetched"
    with_rust.setattr(rust.platform, "machine", lambda: "riscv64")
    assert availability("duckdb").reason == "org.duckdb:duckdb_jdbc:2.0.0.1 has no library for riscv64"


def test_the_program_that_finds_the_library_must_be_there(with_rust: pytest.MonkeyPatch) -> None:
    with_rust.setattr(rust.shutil, "which", lambda name: None if name == "pkg-config" else f"/usr/bin/{name}")
    refused = availability("sqlx-postgres")
    assert (refused.reason, refused.remedy) == ("the program pkg-config is missing", "apt-get install pkg-config")
