"""`rowpath probe` with queries and tables as people have them, on PostgreSQL and DuckDB."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from tests.end_to_end.command import error_form, rowpath
from tests.end_to_end.quick_probe import FIRST_TRIES, ONE_SET
from tests.engines.insides import psql
from tests.engines.life import reaching

ROWS = 500
MAKE_TABLES = f"""
CREATE TABLE "User" (id int PRIMARY KEY, email text NOT NULL);
INSERT INTO "User" SELECT g, 'it''s ' || g FROM generate_series(1, {ROWS}) AS g;
CREATE TABLE shop (id int PRIMARY KEY, insert int, "use" boolean);
INSERT INTO shop SELECT g, g, true FROM generate_series(1, {ROWS}) AS g;
"""


@pytest.fixture(name="url", scope="module")
def url_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """The URL of a private PostgreSQL with those tables, and its password as a variable."""
    folder = tmp_path_factory.mktemp("texts")
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    place = Place(folder / "d", folder / "s", cpus.server_cpus())
    instance: Any = ENGINES["postgresql"].instance("server", "none", place)
    instance.start()
    try:
        psql(instance, MAKE_TABLES)
        login = instance.options(AccessPath.of({"transport": "tcp"}))
        where = f"{login['host']}:{login['port']}/{login['database']}"
        yield f"postgresql://{login['user']}@{where}", {"ROWPATH_PROBE_PASSWORD": login["password"]}
    finally:
        instance.stop()


def rows(
    url: tuple[str, dict[str, str]], folder: Path, drivers: str, *arguments: str | Path, program: tuple[str, ...]
) -> dict[str, int]:
    """How many rows the paths of each language delivered; none failed or delivered another number."""
    out = folder / "out.json"
    budget = "60s" if program is FIRST_TRIES else "10s"  # further settings are tried as long as there is time
    words = ("--budget", budget, f"--driver={drivers}", "-o", folder / "run", "--export-json", out)
    done = rowpath("probe", url[0], *arguments, *words, added=url[1], cwd=folder, program=program)
    assert done.returncode == 0, done.stderr
    tried = json.loads(out.read_text())["probe"]["tried"]
    assert not [each for each in tried if each["status"] in ("failed", "wrong")]
    found = {(each["path"]["language"], each["rows"]) for each in tried if each["rows"] is not None}
    assert len(found) == len(dict(found))
    return dict(found)


@pytest.mark.parametrize("name", ["User", '"User"', "public.User", "Shop"])
def test_a_table_is_found_by_its_name_or_as_the_engine_folds_it(url: Any, name: str, tmp_path: Path) -> None:
    found = rows(url, tmp_path, "psycopg,libpq", "--table", name, program=FIRST_TRIES)
    assert found == dict.fromkeys(("python", "c"), ROWS)


def test_a_table_that_is_not_there_is_never_another(url: Any, tmp_path: Path) -> None:
    for name in ("Current_user", "shop s", "user"):
        done = rowpath("probe", url[0], "--table", name, "-o", tmp_path / "run", added=url[1])
        assert done.returncode == 2, done.stdout
        assert f'relation "{name}" does not exist' in error_form(done.stderr)[0]


def test_a_query_file_of_windows_with_comments_and_named_parameters(url: Any, tmp_path: Path) -> None:
    (tmp_path / "keys.csv").write_text("id:int\n7\n8\n")
    text = "-- the customer's last\r\nSELECT id, insert /* don't ? */ FROM shop\r\n"
    text += "WHERE '5%%' <> ':a' AND use AND id = %(id)s OR id = %(id)s + 0; -- nightly ?\r\n"
    (tmp_path / "q.sql").write_text(text, encoding="utf-8-sig", newline="")
    drivers, languages = "psycopg,libpq,pgjdbc,pg", ("python", "c", "java", "node")
    query = ("--query-file", "q.sql", "--params", "keys.csv")
    assert rows(url, tmp_path, drivers, *query, program=ONE_SET) == dict.fromkeys(languages, 2)
    assert "%" not in (tmp_path / "run" / "fastest-node.mjs").read_text().partition("'5%'")[2]


def test_a_query_of_over_a_megabyte_reaches_each_language(url: Any, tmp_path: Path) -> None:
    text = f"SELECT id, length('{'x' * (1 << 20)}') AS n FROM shop"
    (tmp_path / "q.sql").write_text(text)
    drivers = "psycopg,libpq,pgjdbc,pgx,pg,tokio-postgres,ado-psqlodbc"
    languages = ("python", "c", "java", "go", "node", "rust", "csharp")
    found = rows(url, tmp_path, drivers, "--query-file", "q.sql", program=FIRST_TRIES)
    assert found == dict.fromkeys(languages, ROWS)
    shown = rowpath("show", tmp_path / "run", "--tables")
    assert max(map(len, shown.stdout.splitlines())) < 30_000
    assert text in (tmp_path / "run" / "fastest-go.go").read_text()


def test_relative_files_of_a_view_count_from_where_the_user_is(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("id,name\n1,a\n2,b\n3,c\n")
    python: Any = manifest.toolchain("python")
    adapter = next(each for each in manifest.every_adapter() if (each.language, each.driver) == ("python", "duckdb"))
    python.build([(adapter, adapter.versions[0])])
    make = "import duckdb; duckdb.connect('own.duckdb').execute(\"CREATE VIEW raw AS SELECT * FROM 'raw.csv'\")"
    subprocess.run([python.interpreter(adapter, adapter.versions[0]), "-c", make], cwd=tmp_path, check=True)
    own = (str(tmp_path / "own.duckdb"), {})
    chosen = ("--language", "python,java")  # Rust's driver is called like Python's
    found = rows(own, tmp_path, "duckdb,duckdb_jdbc", *chosen, "--table", "raw", program=FIRST_TRIES)
    assert found == dict.fromkeys(("python", "java"), 3)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "raw.csv").write_text("id\n1\n")
    by_name = ("--query", "SELECT * FROM read_csv('raw.csv')", "--in-place")
    words = ("duckdb,duckdb_jdbc", *chosen, *by_name)
    found = rows(("../own.duckdb", {}), tmp_path / "there", *words, program=FIRST_TRIES)
    assert found == dict.fromkeys(("python", "java"), 1)
