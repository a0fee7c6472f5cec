"""`rowpath probe` as a user meets it: SQLite with all of its drivers, PostgreSQL with a few, and what it refuses."""

from __future__ import annotations

import json
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import Command, error_form, records, rowpath
from tests.end_to_end.quick_probe import FIRST_TRIES, ONE_SET

ROWS = 3000


@pytest.fixture(name="database", scope="module")
def database_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("probed") / "own é.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE t (a INTEGER NOT NULL, b TEXT NOT NULL, c TEXT)")
    rows = ((number, f"row {number}", None if number % 7 else "x") for number in range(ROWS))
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return file


def test_a_file_is_probed_to_the_end_and_shown_again(database: Path, tmp_path: Path) -> None:
    run, before = tmp_path / "run", database.read_bytes()
    drivers = "--driver=sqlite,sqlite3,sqlite-jdbc"
    done = rowpath(
        "probe", f"sqlite://{database}", "--query", "SELECT a, b, c FROM t", "--budget", "12s", drivers,
        "-o", run, "--export-json", tmp_path / "out.json", "--tables",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("probing sqlite:///")
    assert database.read_bytes() == before
    assert sorted(path.name for path in database.parent.iterdir()) == [database.name]
    assert not (run / "work").exists()

    probe = json.loads((tmp_path / "out.json").read_text())["probe"]
    assert [group["rows"] for group in probe["digest_groups"]] == [ROWS]
    found = {each["language"]: each for each in probe["languages"]}
    assert set(found) == {"c", "python", "java"}
    assert min(each["ratio"] for each in found.values()) == 1.0
    assert all(each["ratio"] > 0 and each["time_ns"] > 0 for each in found.values())
    assert {each["language"] for each in probe["snippets"]} == set(found)
    for each in probe["snippets"]:
        assert (run / each["file"]).read_text(encoding="utf-8") == each["text"]
    steps = {each["step"] for each in probe["tried"]}
    assert "full sets" in steps
    sets = records(run, "set")
    assert all(len(each["path_ids"]) <= 4 for each in sets)
    assert all(each["touch_ok"] for each in records(run, "sample"))

    moved = tmp_path / "moved"
    run.rename(moved)
    shown = rowpath("show", moved, "--tables")
    assert shown.returncode == 0, shown.stderr
    for words in (
        "C: your rows, fastest first",
        "← usual",
        "all paths agree",
        "The usual way in C is sqlite",
        "fastest-c.c",
    ):
        assert words in done.stdout and words in shown.stdout
    page = (moved / "report.html").read_text(encoding="utf-8")
    assert "Everything tried" in page and "sqlite3_step" in page


def test_a_server_is_probed_and_its_password_is_nowhere(postgresql: dict[str, Any], tmp_path: Path) -> None:
    run, secret, table = tmp_path / "run", postgresql["password"], "secret_generator"
    url = f"postgresql://{postgresql['user']}:{secret}@127.0.0.1:{postgresql['port']}/{postgresql['database']}"
    sql = f"SELECT g AS {table}, 'row ' || g AS name FROM generate_series(1, 500) AS g"
    done = rowpath(
        "probe", url, "--query", sql, "--redact-query", "--budget", "60s", "--driver", "libpq,drain",
        "--connections", "3", "-o", run, "--tables", program=FIRST_TRIES,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    everything = (
        done.stdout
        + done.stderr
        + "".join(path.read_text(encoding="utf-8", errors="replace") for path in run.rglob("*") if path.is_file())
    )
    assert secret not in everything
    assert table not in everything, "the query was to be left out"
    proofs = records(run, "counted")
    assert proofs and all(each["round_trips"] >= each["operations"] for each in proofs)
    assert "Predicted time over a slower link" in done.stdout
    assert "#include <libpq-fe.h>" in done.stdout


def test_the_users_present_way_is_measured_in_full_and_comes_first_in_the_verdict(
    postgresql: dict[str, Any], tmp_path: Path
) -> None:
    run, database = tmp_path / "run", postgresql["database"]
    url = f"postgresql://{postgresql['user']}@127.0.0.1:{postgresql['port']}/{database}"
    sql = "SELECT g AS a, 'row ' || g AS b FROM generate_series(1, 2000) AS g"
    done = rowpath(
        "probe", url, "--query", sql, "--budget", "12s", "--driver", "libpq,asyncpg", "--mine",
        "psycopg2,result=cursor:10", "-o", run, "--export-json", tmp_path / "out.json",
        added={"PGPASSWORD": postgresql["password"]},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "until decided, at most 12 s" in done.stderr
    steps = [
        done.stderr.index(words) for words in ("connecting to", "describing the query", "settings\n", "full sets of")
    ]
    assert steps == sorted(steps)

    probe = json.loads((tmp_path / "out.json").read_text())["probe"]
    found = {each["language"]: each for each in probe["languages"]}
    assert set(found) == {"c", "python"}
    mine = found["python"]["baseline"]
    assert (mine["kind"], mine["description"]) == ("yours", "psycopg2 with a server-side cursor of 10")
    assert found["c"]["baseline"] is None
    (saving,) = found["python"]["savings"]
    assert saving["name"] == found["python"]["name"] and saving["share"] > 0.2  # 200 round trips are saved
    assert "asyncpg" in saving["name"]
    in_sets = [path_id for each in records(run, "set") for path_id in set(each["path_ids"])]
    ids = {each["name"]: each["path_id"] for each in records(run, "path")}
    for name in (found["c"]["name"], found["python"]["name"], mine["name"]):
        assert in_sets.count(ids[name]) >= 6, name
    mine_said = "You use psycopg2 with a server-side cursor of 10: "
    (sentences,) = (each for each in done.stdout.split("\n\n") if each.startswith(mine_said))
    assert "Change these lines: fastest-python.py: " in " ".join(sentences.split())


def test_one_execution_that_takes_too_long_is_said_instead_of_guessed(
    postgresql: dict[str, Any], tmp_path: Path
) -> None:
    url = f"postgresql://{postgresql['user']}@127.0.0.1:{postgresql['port']}/{postgresql['database']}"
    done = rowpath(
        "probe", url, "--query", "SELECT 1 AS one, pg_sleep(1.0)::text AS nothing", "--budget", "10s",
        "--driver", "libpq,psycopg", "-o", tmp_path / "run", added={"PGPASSWORD": postgresql["password"]},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "more than a twentieth of the budget" in done.stdout
    assert {each["regime"] for each in records(tmp_path / "run", "sample")} == {"cold"}
    assert not records(tmp_path / "run", "verify")


def test_no_more_rows_than_asked_for_are_read(database: Path, tmp_path: Path) -> None:
    done = rowpath(
        "probe", f"sqlite://{database}", "--table", "t", "--max-rows", "7", "--budget", "60s", "--driver",
        "sqlite,sqlite3", "-o", tmp_path / "run", "--export-json", tmp_path / "out.json", "-q", program=FIRST_TRIES,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    probe = json.loads((tmp_path / "out.json").read_text())["probe"]
    assert [group["rows"] for group in probe["digest_groups"]] == [7]
    assert all("LIMIT 7" in each["text"] for each in probe["snippets"])


def test_values_that_the_engine_changes_are_said(database: Path, tmp_path: Path) -> None:
    sql = "SELECT a, hex(randomblob(4)) AS now FROM t LIMIT 50"
    done = rowpath(
        "probe", f"sqlite://{database}", "--query", sql, "--budget", "5s", "--driver", "sqlite,sqlite3", "-o",
        tmp_path / "run", "-q", program=ONE_SET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = rowpath("show", tmp_path / "run", "--tables").stdout
    assert "now: other values at every execution" in " ".join(shown.split())
    assert "do NOT agree" not in shown
    assert "wrong" not in shown


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((), "no query given"),
        (("--query", "DELETE FROM t"), ""),
        (("--query", "SELECT nothing FROM t"), "nothing"),
        (("--table", "t", "--mine", "psycopg2"), "unknown driver 'psycopg2' in --mine"),
    ],
)
def test_what_cannot_be_probed_is_refused_with_a_hint(
    database: Path, tmp_path: Path, arguments: tuple[str, ...], wanted: str
) -> None:
    done = rowpath("probe", f"sqlite://{database}", *arguments, "-o", tmp_path / "run")
    assert done.returncode == 2, done.stdout + done.stderr
    message, hint = error_form(done.stderr)
    assert wanted in message
    assert hint
    assert not (tmp_path / "run").exists()


def test_an_interruption_keeps_what_was_found(database: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    arguments = ("--query", "SELECT a, b, c FROM t", "--budget", "15s", "--driver", "sqlite", "-o", run)
    with Command("probe", f"sqlite://{database}", *arguments) as command:
        command.hold_when(lambda: records(run, "set"), "a first full set")
        command.signal(signal.SIGINT)
        done = command.end()
    assert done.returncode == 130, done.stderr
    assert error_form(done.stderr) == ("interrupted", f"rowpath show {run}")
    assert [each["outcome"] for each in records(run, "end")] == ["interrupted"]
    assert [each for each in records(run, "probe") if each["tried"]]
    assert rowpath("show", run).returncode == 0
