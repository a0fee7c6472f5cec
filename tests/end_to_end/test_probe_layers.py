"""`rowpath probe --layer`: what layers deliver of a database of the user's own, and the programs that it writes."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import Adapter, adapter_of, toolchain
from tests.end_to_end.command import error_form, records, rowpath
from tests.end_to_end.quick_probe import FIRST_TRIES
from tests.engines.difficult_table import ROWS, TABLE
from tests.engines.insides import psql
from tests.engines.life import reaching

OTHERS = """
CREATE TABLE kept (id int PRIMARY KEY);
CREATE FUNCTION slow_first() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
    IF coalesce(current_setting('first.over', true), '') = '' THEN
        PERFORM pg_sleep(1.2), set_config('first.over', 'yes', false);
    END IF;
    RETURN 1;
END $$;
CREATE FUNCTION writes() RETURNS int LANGUAGE sql AS 'INSERT INTO kept VALUES (1) RETURNING id';
"""
ABOVE_PSYCOPG = ("sqlalchemy-core", "sqlalchemy-orm", "sqlmodel", "django", "peewee")
ABOVE_PGJDBC = ("spring-jdbc", "jdbi", "mybatis", "jooq", "hibernate")


@pytest.fixture(name="database", scope="module")
def database_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("layers") / "own é.db"
    connection = sqlite3.connect(file)
    columns = 'a INTEGER, "B b" TEXT, real REAL, blob BLOB, mixed, "class" TEXT, "pk" INT, PRIMARY KEY (a, "B b")'
    connection.execute(f"CREATE TABLE t ({columns})")
    values = ((n, f"x:{n} 100%", n / 3, b"\0a" if n % 2 else None, n if n % 2 else "text", "é", n) for n in range(ROWS))
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    connection.execute("CREATE TABLE keyless (a INTEGER)")
    connection.commit()
    connection.close()
    return file


@pytest.fixture(name="server", scope="module")
def server_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("layers-server")
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    place = Place(folder / "d", folder / "s", cpus.server_cpus())
    instance: Any = ENGINES["postgresql"].instance("server", "none", place)
    instance.start()
    try:
        psql(instance, TABLE + OTHERS)
        yield instance
    finally:
        instance.stop()


def login(server: Any) -> tuple[str, dict[str, str]]:
    """The server's URL, and the environment with its password."""
    options = server.options(AccessPath.of({"transport": "tcp"}))
    url = f"postgresql://{options['user']}@127.0.0.1:{options['port']}/{options['database']}"
    return url, {"PGPASSWORD": options["password"]}


def interpreter(driver: str, layer: str) -> str:
    """The program that has the layer, as its paths are started."""
    adapter: Adapter = adapter_of("python", driver)
    path = AccessPath.of({"language": "python", "driver": driver, "layer": layer, "technique": "raw"})
    return toolchain("python").command(adapter, adapter.versions[0], path).arguments[0]


def tried(run: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The last word on every path with a layer, by layer and form."""
    found = (each["tried"] for each in records(run, "probe") if each.get("tried"))
    return {(one["path"]["layer"], one["path"]["technique"]): one for one in found if "layer" in one["path"]}


def run_programs(run: Path, driver: str, layers: tuple[str, ...], rows: int, **environment: str) -> None:
    """Every layer's program runs, and reads all rows in both forms."""
    for layer in layers:
        done = subprocess.run(
            [interpreter(driver, layer), str(run / f"layer-{layer}.py")],
            capture_output=True, text=True, env=environment, timeout=60, check=False,
        )  # fmt: skip
        assert done.stdout.split() == [str(rows), "rows", str(rows), "objects"], (layer, done.stderr)


def test_layers_above_a_file_deliver_what_their_driver_does(database: Path, tmp_path: Path) -> None:
    before = database.read_bytes()
    run = tmp_path / "run"
    done = rowpath(
        "probe", database, "--table", "t", "--layer", "sqlalchemy,sqlmodel,django,peewee", "--driver", "sqlite3",
        "--budget", "60s", "-o", run, "--tables", program=FIRST_TRIES,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert database.read_bytes() == before
    found = tried(run)
    assert set(found) == {(layer, form) for layer in ABOVE_PSYCOPG for form in ("raw", "mapped")}
    digests = {each["digest_group"]["digest"] for each in records(run, "probe") if each.get("digest_group")}
    assert len(digests) == 1
    assert {(one["status"], one["digest"], one["rows"]) for one in found.values()} == {("ok", *digests, ROWS)}
    ids = {each["path_id"]: each["coordinates"] for each in records(run, "path")}
    for each in records(run, "set"):  # a layer is only ever measured beside its driver
        members = [ids[path_id] for path_id in each["path_ids"]]
        for member in members:
            bare = {key: value for key, value in member.items() if key not in ("layer", "technique")}
            assert bare in members
    run_programs(run, "sqlite3", ABOVE_PSYCOPG, ROWS)


def test_layers_above_a_server_keep_difficult_values_and_send_one_statement(server: Any, tmp_path: Path) -> None:
    url, secret = login(server)
    run = tmp_path / "run"
    done = rowpath(
        "probe", url, "--table", "Own", "--layer", "sqlalchemy,sqlmodel,django,peewee,tortoise",
        "--driver", "psycopg,asyncpg", "--budget", "3min", "-o", run, added=secret, program=FIRST_TRIES,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = tried(run)
    digests = {each["digest_group"]["digest"] for each in records(run, "probe") if each.get("digest_group")}
    assert len(digests) == 1
    unmapped = found.pop(("tortoise", "mapped"))
    assert (unmapped["status"], "no primary key of several columns" in unmapped["left"]) == ("unsupported", True)
    assert {(one["status"], one["digest"], one["rows"]) for one in found.values()} == {("ok", *digests, 300)}
    coordinates = {each["path_id"]: each["coordinates"] for each in records(run, "path")}
    counted = {
        (path["layer"], path["technique"]): each
        for each in records(run, "counted")
        if "layer" in (path := coordinates[each["path_id"]])
    }
    assert set(counted) == set(found)
    for (layer, form), each in counted.items():
        assert each["statements"] == each["operations"] == 1, (layer, form)
        assert ("SELECT * FROM" in each["sql"][0]) == (form == "raw")
    run_programs(run, "psycopg", ABOVE_PSYCOPG, 300, **secret)
    ended = subprocess.run(
        [interpreter("asyncpg", "tortoise"), str(run / "layer-tortoise.py")],
        capture_output=True, text=True, env=secret, timeout=60, check=False,
    )  # fmt: skip
    assert ended.stdout == "300 rows\n", ended.stderr


def test_layers_above_pgjdbc_stand_beside_it_with_their_programs(server: Any, tmp_path: Path) -> None:
    """What each of them delivers: tests/runners/java/test_own_queries.py."""
    url, secret = login(server)
    run = tmp_path / "run"
    done = rowpath(
        "probe", url, "--table", "Own", "--layer", "mybatis,hibernate", "--driver", "pgjdbc", "--budget", "3min",
        "-o", run, added=secret, program=FIRST_TRIES,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = tried(run)
    digests = {each["digest_group"]["digest"] for each in records(run, "probe") if each.get("digest_group")}
    assert len(digests) == 1
    (unmapped,) = records(run, "dropped")
    assert (unmapped["coordinates"]["layer"], unmapped["reason"].startswith("it maps no tables")) == ("mybatis", True)
    assert set(found) == {("mybatis", "raw"), ("hibernate", "raw"), ("hibernate", "mapped")}
    assert {(one["status"], one["digest"], one["rows"]) for one in found.values()} == {("ok", *digests, ROWS)}, found
    coordinates = {each["path_id"]: each["coordinates"] for each in records(run, "path")}
    counted = [each for each in records(run, "counted") if "layer" in coordinates[each["path_id"]]]
    assert len(counted) == len(found)
    assert all(each["statements"] == each["operations"] == 1 for each in counted)
    assert {file.name for file in run.glob("layer-*")} == {"layer-mybatis.java", "layer-hibernate.java"}


# SQLModel takes texts as SQLAlchemy's ORM does.
@pytest.mark.parametrize(
    ("parameters", "above_psycopg"),
    [
        ((), ("sqlalchemy-core", "sqlalchemy-orm", "django", "peewee")),
        (("--param", "integer:5"), ("sqlalchemy-core", "sqlmodel", "django", "peewee")),
    ],
)
def test_signs_that_layers_read_in_their_own_way_stay_what_they_are(
    server: Any, tmp_path: Path, parameters: tuple[str, ...], above_psycopg: tuple[str, ...]
) -> None:
    url, secret = login(server)
    run, least = tmp_path / "run", "?" if parameters else "5"
    query = f"""SELECT id, 'a :b 50%' AS "odd %s", at::text AS at FROM "Own" WHERE id > {least} AND part LIKE 'p%'"""
    done = rowpath(
        "probe", url, "--query", query, *parameters, "--layer", ",".join((*above_psycopg, "tortoise")),
        "--driver", "psycopg,asyncpg", "--budget", "3min", "-o", run, added=secret, program=FIRST_TRIES,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = tried(run)
    digests = {each["digest_group"]["digest"] for each in records(run, "probe") if each.get("digest_group")}
    assert len(digests) == 1
    assert set(found) == {(layer, "raw") for layer in (*above_psycopg, "tortoise")}
    assert {(one["status"], one["digest"]) for one in found.values()} == {("ok", *digests)}
    for driver, layers in (("psycopg", above_psycopg), ("asyncpg", ("tortoise",))):
        for layer in layers:
            program = [interpreter(driver, layer), str(run / f"layer-{layer}.py")]
            ended = subprocess.run(program, capture_output=True, text=True, env=secret, timeout=60, check=False)
            assert ended.stdout == "295 rows\n", (layer, ended.stderr)


def test_a_first_execution_that_is_slow_for_once_does_not_decide_how_the_query_is_measured(
    server: Any, tmp_path: Path
) -> None:
    url, secret = login(server)
    query = ("--query", "SELECT slow_first() AS id WHERE 1 < ?", "--param", "integer:5")
    words = ("--layer", "peewee", "--driver", "psycopg", "--budget", "20s", "-o", tmp_path / "run")
    done = rowpath("probe", url, *query, *words, added=secret, program=FIRST_TRIES)
    assert done.returncode == 0, done.stderr
    assert "more than a twentieth of the budget" not in done.stdout
    assert {each["regime"] for each in records(tmp_path / "run", "sample")} == {"steady"}
    (of_layer,) = tried(tmp_path / "run").values()
    assert of_layer["status"] == "ok" and of_layer["digest"]


def test_a_layers_session_cannot_write(server: Any, tmp_path: Path) -> None:
    url, secret = login(server)
    run = tmp_path / "run"
    rowpath(
        "probe", url, "--query", "SELECT writes() AS id", "--layer", "sqlalchemy,sqlmodel,django,peewee,tortoise",
        "--driver", "psycopg,asyncpg", "--budget", "3min", "-o", run, added=secret, program=FIRST_TRIES,
    )  # fmt: skip
    found = tried(run)
    assert {layer for layer, _form in found} == {*ABOVE_PSYCOPG, "tortoise"}
    assert all("read-only transaction" in one["left"] for one in found.values()), found
    assert psql(server, "SELECT count(*) FROM kept").split()[-1] == "0"


def test_the_session_of_a_layer_above_pgjdbc_cannot_write(server: Any, tmp_path: Path) -> None:
    url, secret = login(server)
    run = tmp_path / "run"
    rowpath(
        "probe", url, "--query", "SELECT writes() AS id", "--layer", ",".join(ABOVE_PGJDBC), "--driver", "pgjdbc",
        "--budget", "3min", "-o", run, added=secret, program=FIRST_TRIES,
    )  # fmt: skip
    found = tried(run)
    assert {layer for layer, _form in found} == {*ABOVE_PGJDBC}
    assert all("read-only transaction" in one["left"] for one in found.values()), found
    assert psql(server, "SELECT count(*) FROM kept").split()[-1] == "0"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--table", "t", "--layer", "sqlalchmey"], "unknown layer 'sqlalchmey' in --layer"),
        (["--table", "t", "--layer", "mybatis"], "--layer mybatis: it has no path to sqlite here; it stands on pgjdbc"),
        (["--table", "t", "--layer", "tortoise"], "--layer tortoise: it has no path to sqlite here"),
        (["--table", "keyless", "--layer", "django"], "--layer with --table keyless: it has no primary key"),
        (["--table", "t", "--layer", "django", "--max-rows", "5"], "--max-rows 5 only a part"),
    ],
)
def test_what_cannot_be_is_refused_with_the_next_step(
    database: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    done = rowpath("probe", database, *arguments, "--driver", "sqlite3", "-o", tmp_path / "run")
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
    error_form(done.stderr)
    assert not (tmp_path / "run").exists()


def test_without_the_option_no_layer_takes_part(database: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ("--table", "t", "--driver", "sqlite3", "--budget", "5s", "-o", run)
    done = rowpath("probe", database, *words, program=FIRST_TRIES)
    assert done.returncode == 0, done.stderr
    assert not tried(run) and not list(run.glob("layer-*"))
