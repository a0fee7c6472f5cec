"""`rowpath faults`: real drivers, broken in the middle of their work; the matrix, the page, and what is refused."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from rowpath.faults.kinds import FAULTS
from tests.end_to_end.command import Command, called, error_form, rowpath

PLAIN = ("--fault", "reset", "--fault", "cut", "--fault", "8", "-q", "-o")


def cells(directory: Path) -> dict[tuple[str, str], dict[str, object]]:
    lines = (directory / "faults.jsonl").read_text().splitlines()
    return {(cell["fault"], cell["work"]): cell for cell in map(json.loads, lines)}


@pytest.mark.parametrize("driver", ["psycopg2", "pymysql", "h2"])
def test_a_driver_meets_what_breaks_a_connection(driver: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = [driver, "engine=mariadb"] if driver == "pymysql" else [driver]
    done = rowpath("faults", *words, *PLAIN, run)
    assert done.returncode == 0 and done.stderr == ""
    seen = cells(run)
    assert set(seen) == {("4", work) for work in ("scan", "read", "write", "transaction")} | {
        ("7", "scan"),
        ("8", "scan"),
    }
    assert {cell["end"] for cell in seen.values()} == {"error"}
    assert all(cell["first_row_ns"] for cell in seen.values())
    assert seen["8", "scan"]["connection"] == "usable"  # an error of the server's breaks nothing
    assert seen["4", "write"]["acknowledged"] == 0 and seen["4", "write"]["stored"] == 1  # only the answer was lost
    assert seen["4", "transaction"]["stored"] == 0
    assert seen["4", "read"]["leaked_descriptors"] < 10
    page = (run / "report.html").read_text()
    assert page.count("<details id=") == len(seen)
    assert f"rowpath faults driver={driver} " in page
    assert "In a transaction" in done.stdout
    again = rowpath("faults", *words, *PLAIN[:-1], "--resume", run)
    assert again.returncode == 0 and cells(run) == seen


def test_an_interrupted_matrix_keeps_its_cells_and_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ("faults", "psycopg2", "--fault", "reset", "--fault", "silence", "-q")
    with Command(*words, "-o", run) as command:
        command.wait_until(lambda: (run / "faults.jsonl").is_file() and cells(run), "a cell")
        second = called("faults", "psycopg2", "--resume", str(run))
        assert second.returncode == 2 and f"{run} is in use by another run" in error_form(second.stderr)[0]
        assert (run / "work").is_dir()  # of the first, which goes on
        command.signal(signal.SIGTERM)
        done = command.end()
    assert done.returncode == 130
    assert f"hint: rowpath faults --resume {run}" in done.stderr
    assert (run / "report.html").is_file() and not (run / "work").exists()
    before = cells(run)
    again = rowpath("faults", "psycopg2", "--fault", "reset", "-q", "--resume", run)
    assert again.returncode == 0
    assert before.items() <= cells(run).items()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["psycopg2", "--fault", "15"], "unknown fault '15'"),
        (["psycopgg2"], "unknown driver 'psycopgg2'"),
        (["engine=sqlite"], "no driver of a server is engine=sqlite"),
        (["tls=on"], "unknown option 'tls' of faults"),
        (["--resume", "nowhere"], "nowhere has no faults.jsonl"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], said: str) -> None:
    done = called("faults", *words)
    assert done.returncode == 2
    assert said in done.stderr
    error_form(done.stderr)


def test_a_plan_names_a_cell_a_line() -> None:
    done = called("faults", "pgx", "--plan")
    assert done.returncode == 0 and done.stderr == ""
    assert sum(" silence, read" in line for line in done.stdout.splitlines()) >= 1
    assert all(any(f" {fault.number} {fault.name}, " in line for fault in FAULTS) for line in done.stdout.splitlines())
