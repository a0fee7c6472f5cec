"""A server that others run shares the client's core where the kernel puts it there: it is no neighbour."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.model.path import AccessPath
from tests.end_to_end.command import records, rowpath
from tests.runners.c.talk import started

AS_IT_IS = (sys.executable, "-m", "rowpath")  # blocks are judged
SQL = "SELECT g, 'row ' || g AS name FROM generate_series(1, 5000) AS g"


@pytest.mark.parametrize(("engine", "process"), [("postgresql", "postgres"), ("mariadb", "mariadbd")])
def test_its_processes_disturb_no_block(engine: str, process: str, tmp_path: Path) -> None:
    availability = ENGINES[engine].availability()
    if not availability.ok:
        pytest.skip(availability.reason)
    sql = SQL if engine == "postgresql" else "SELECT seq, CONCAT('row ', seq) AS name FROM seq_1_to_5000"
    with started(engine) as instance:
        options = instance.options(AccessPath.of({"engine": engine, "transport": "tcp"}))
        url = f"{engine}://{options['user']}@127.0.0.1:{options['port']}/{options['database']}"
        added = {
            "PGPASSWORD": options["password"],
            "MYSQL_PWD": options["password"],
            "MARIADB_PWD": options["password"],
        }
        words = ("probe", url, "--query", sql, "--language", "c", "--budget", "12s", "-o", tmp_path / "run")
        done = rowpath(*words, added=added, program=AS_IT_IS)
    assert done.returncode == 0, done.stderr
    samples = [record for record in records(tmp_path / "run", "sample") if record["regime"] == "steady"]
    assert len(samples) > 10
    assert sum(bool(sample["core_users"]) for sample in samples) < len(samples) / 2
    named = {user["name"] for sample in samples for user in sample["core_users"]}
    assert not {name for name in named if name.startswith(process)}
