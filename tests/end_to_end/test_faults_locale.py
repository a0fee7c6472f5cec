"""A locale whose decimal mark is a comma: the same digests, and points in every export."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.runners.manifest import availability, load_manifest
from rowpath.workloads.workload_file import load_workload
from tests.end_to_end.command import SQLITE_C, SQLITE_PYTHON, called, records, rowpath, write_experiment

NAME = "de_DE"
SOURCE = """comment_char %
escape_char /
LC_CTYPE
copy "POSIX"
END LC_CTYPE
LC_NUMERIC
decimal_point ","
thousands_sep "."
grouping 3;3
END LC_NUMERIC
"""


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with that locale, made here because few machines have one installed."""
    if shutil.which("localedef") is None:
        pytest.skip("there is no localedef to make a locale with")
    folder = tmp_path_factory.mktemp("locale")
    (folder / "source").write_text(SOURCE)
    subprocess.run(["localedef", "-c", "-i", folder / "source", folder / NAME], check=False, capture_output=True)
    added = {"LOCPATH": str(folder), "LC_ALL": NAME, "LANG": NAME, "LC_NUMERIC": NAME}
    printf = shutil.which("printf")
    assert printf
    said = subprocess.run([printf, "%.1f", "1,5"], env=os.environ | added, capture_output=True, text=True, check=False)
    assert said.stdout == "1,5", "the locale is in effect"
    return added


def test_a_run(tmp_path: Path, german: dict[str, str]) -> None:
    java = next(a for a in load_manifest("java").adapter if "file" in a.engines)
    paths = [SQLITE_C, SQLITE_PYTHON, 'engine = "file", language = "c"']
    if availability(java, java.versions[0]).ok:
        paths.append('engine = "file", language = "java"')
    if ENGINES["postgresql"].availability().ok:
        paths.append('engine = "postgresql", language = "c", driver = "libpq", format = "text"')
    phases = [f"types.{phase.name}" for phase in load_workload("types").phases if phase.kind == "query"]
    experiment = write_experiment(tmp_path, paths, sets=1, rounds=2, warm_cap_s=0.05, phases=["scan.read", *phases])
    run = tmp_path / "run"
    exports = {form: tmp_path / f"r.{form}" for form in ("json", "csv", "markdown")}
    options = [word for form, file in exports.items() for word in (f"--export-{form}", file)]
    done = rowpath("run", experiment, "-o", run, "--gate", *options, added=german)
    assert done.returncode == 0, done.stdout + done.stderr
    verified = records(run, "verify")
    assert verified and all(record["ok"] for record in verified)
    assert {record["path_id"] for record in verified} == {record["path_id"] for record in records(run, "path")}
    assert len(paths) <= len({record["path_id"] for record in verified})
    timed = [r for r in json.loads(exports["json"].read_text())["results"] if r["metric"] == "time" and r["median"]]
    with exports["csv"].open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["metric"] == "time" and row["median"]]
    assert [float(row["median"]) for row in rows] == [result["median"] for result in timed]
    assert timed
    for form, file in exports.items():
        plain = called("show", run, f"--export-{form}", "-")
        assert plain.stdout == file.read_text(encoding="utf-8"), "the same in every locale"
    for words in ((), ("--tables",)):
        shown = rowpath("show", run, *words, added=german)
        assert shown.returncode == 0, shown.stderr
