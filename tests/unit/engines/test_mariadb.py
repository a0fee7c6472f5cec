"""MariaDB's and MySQL's dialect, their messages and what they say of themselves; starts no server."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import CountsStatements, Fetchable, Place, Stored
from rowpath.engines.mariadb import ENGINE, programs, settings
from rowpath.engines.mariadb.server import MariadbServer
from rowpath.model.workload import Column, Table
from rowpath.workloads.workload_file import load_workload


def table(*columns: Column, **rest: object) -> Table:
    return Table(columns, 1, "types", **rest)  # type: ignore[arg-type]


def test_a_table_of_ascii_takes_one_byte_a_character() -> None:
    made = ENGINE.create("mydata2", load_workload("keyed").tables["mydata2"])
    assert made == (
        "CREATE TABLE mydata2 (KEY1 CHAR(10) NOT NULL, DATA1 CHAR(30) NOT NULL, PRIMARY KEY (KEY1))"
        " CHARACTER SET latin1 COLLATE latin1_bin"
    )


def test_what_the_engine_numbers_is_a_key() -> None:
    number = Column("c1", "integer", bits=64)
    assert ENGINE.create("t", table(number, identity="c1")) == (
        "CREATE TABLE t (c1 BIGINT AUTO_INCREMENT NOT NULL, PRIMARY KEY (c1))"
    )


@pytest.mark.parametrize(
    ("column", "spelt"),
    [
        (Column("c", "char", length=255), "CHAR(255) NOT NULL"),
        (Column("c", "char", length=256), "VARCHAR(256) NOT NULL"),
        (Column("c", "binary", length=256, nullable=True), "VARBINARY(256) NULL"),
        (Column("c", "binary", nullable=True), "LONGBLOB NULL"),
        (Column("c", "binary", length=100_000), "LONGBLOB NOT NULL"),
        (Column("c", "float32", nullable=True), "DOUBLE NULL"),
        (Column("c", "timestamp"), "DATETIME(6) NOT NULL"),
        (Column("c", "integer", bits=16), "SMALLINT NOT NULL"),
        (Column("c", "decimal", precision=31, scale=5), "DECIMAL(31,5) NOT NULL"),
    ],
)
def test_columns(column: Column, spelt: str) -> None:
    assert ENGINE.create("t", table(column)) == f"CREATE TABLE t (c {spelt})"


def test_types_that_would_not_be_exact_are_refused_with_the_reason() -> None:
    assert "1970 to 2038" in ENGINE.supports("timestamptz")
    assert ENGINE.supports("array") == "MariaDB: there is no array type"
    assert ENGINE.supports("uuid") == ENGINE.supports("integer") == ""
    assert ENGINES["mysql"].supports("interval").startswith("MySQL: ")


def test_values_whose_text_is_not_the_columns_are_turned() -> None:
    some = table(Column("id", "integer"), Column("b", "boolean"), Column("x", "binary", length=8))
    statement = ENGINE.fill("t", some, Path("/a b/it's \\ here.tbl"))
    assert statement.startswith(r"LOAD DATA LOCAL INFILE '/a b/it''s \\ here.tbl' INTO TABLE t ")
    assert statement.endswith("(id, @b, @x) SET b = @b = 't', x = UNHEX(SUBSTRING(@x, 3))")


def test_what_durability_each_storage_has() -> None:
    assert isinstance(ENGINE, Stored)
    assert ENGINE.storages == ("innodb", "myisam", "aria")
    assert ENGINE.durabilities_of("innodb") == ENGINE.durabilities_of("aria") == ("full", "none")
    assert ENGINE.durabilities_of("myisam") == ("none",)
    full, none = (settings.settings("mariadb", "aria", each) for each in ("full", "none"))
    assert settings.first_statements("aria", "full") == []
    assert settings.first_statements("aria", "none") == ["SET GLOBAL aria_group_commit = 'soft'"]
    assert [each["innodb-flush-log-at-trx-commit"] for each in (full, none)] == ["1", "0"]


def test_programs_that_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(programs, "SEARCHED", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    here = ENGINE.availability()
    assert not here.ok
    assert here.reason == "MariaDB's program mariadbd is missing"
    assert here.remedy == "apt-get install --no-install-recommends mariadb-server"
    assert ENGINE.version() == "unknown"


def test_programs_in_a_folder_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_MARIADB", str(tmp_path))
    here = ENGINE.availability()
    assert here.reason == f"there is no mariadbd in {tmp_path} (ROWPATH_MARIADB)"
    assert here.remedy == "unset ROWPATH_MARIADB"
    for name in ("mariadbd", "mariadb-install-db", "mariadb"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\necho 'mariadbd  Ver 11.4.2-MariaDB for Linux on x86_64'\n")
        program.chmod(0o755)
    assert ENGINE.availability().what == f"MariaDB 11.4.2 in {tmp_path} (named by ROWPATH_MARIADB)"
    assert ENGINE.programs().server == tmp_path / "bin" / "mariadbd"
    assert f"--basedir={tmp_path}" in ENGINE.programs().arguments


def test_why_a_server_did_not_start_is_the_first_error_of_its_log() -> None:
    log = "2026-01-01 0:00:00 0 [Note] hello\n2026-01-01 0:00:00 0 [ERROR] InnoDB: no\n2026 0 [ERROR] Aborting\n"
    assert settings.reason_in(log) == "InnoDB: no"
    assert settings.reason_in("cannot execute\n\n") == "cannot execute"
    assert settings.reason_in("") == "nothing"


def test_mysql_is_fetched_on_request_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.delenv("ROWPATH_MYSQL_URL", raising=False)
    engine = ENGINES["mysql"]
    assert isinstance(engine, Fetchable)
    assert not engine.fetched()
    assert (engine.licence, engine.size_text) == ("GPL-2.0", "34 MB")
    here = engine.availability()
    assert here.reason == "not fetched: MySQL 8 server, GPL-2.0, 34 MB"
    assert here.remedy == "rowpath engine fetch mysql"
    assert isinstance(engine, Stored)
    assert engine.storages == ("innodb", "myisam")


def test_a_server_counts_statements(tmp_path: Path) -> None:
    if not ENGINE.availability().ok:
        pytest.skip(ENGINE.availability().reason)
    server = ENGINE.instance("server", "none", Place(tmp_path, tmp_path, ()))
    assert isinstance(server, MariadbServer)
    assert isinstance(server, CountsStatements)
