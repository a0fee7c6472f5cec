"""Every command that a document shows is run, or is in `NOT_RUN` of tests/documents.py with the reason.

A command is *run* when a test executes it as the document has it, in one of four ways:

- whole: it ends with 0, or with 1 where the page says that it may;
- to its first measurement: what would measure, start, fetch or join hosts ends the command instead, or `--plan` does;
  all before it has been done (files read, paths selected, the plan made, availability asked);
- by make: `make -n` expands the recipe of the target;
- by another test, or by continuous integration: `ELSEWHERE` names the file, and what of the command stands in it.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow
import pytest
from pyarrow import parquet

from rowpath.cli import arguments
from rowpath.errors import EnvironmentMissing
from rowpath.hosts import hosts_file
from rowpath.planning.experiment_file import load_experiment
from rowpath.runners import manifest
from tests import fakes
from tests.documents import DOCS, ELSEWHERE, NOT_RUN, ROOT, Shown, commands, not_run
from tests.end_to_end.command import called, rowpath
from tests.script import script
from tests.unit import journal_factory, site_factory
from tests.unit.insides import forget_manifests

COMMANDS = commands()
RUNNABLE = [shown for shown in COMMANDS if not shown.is_name and not not_run(shown) and shown.words[0] != "make"]
# What measures, starts, fetches or joins, as the command's module knows it.
FIRST_MEASUREMENTS = (
    "checks.conformance.report.run",
    "checks.selftest.run",
    "cli.compare.run_plan",
    "cli.engine.fetch",
    "cli.engine.by_hand.read",
    "cli.engine._started",
    "cli.explain.explained",
    "cli.faults.measure",
    "cli.hosts.joined",
    "cli.setup.build",
    "cli.tape.RecordingProxy",
    "cli.tape.ReplayServer",
    "cli.verify.run_plan",
    "execution.run.build_for",
    "execution.run.resume",
    "execution.run.run_plan",
    "explain.own_query.connected",
    "hosts.cluster.down",
    "hosts.cluster.up",
    "hosts.setup.fetch",
    "hosts.setup.require",
    "probe.command.connected",
    "probe.from_host.probe",
)
GATES = ("--fail-on", "--check")  # then 1 is an answer
RUNNERS = ROOT / "runners"
# What pins a driver, by its language's own program.
OF_LANGUAGES = {
    "go": ("go", ("go.mod", "go.sum")),
    "cargo": ("rust", ("Cargo.toml", "Cargo.lock")),
    "npm": ("node", ("package.json", "package-lock.json")),
}
JOURNAL_NAMES = (
    "DIR", "BASE", "HEAD", "before", "after", "before-1", "before-2", "after-1", "after-2", "first", "records",
)  # fmt: skip


class Reached(BaseException):
    """A command has come to its first measurement."""


def reached(*_words: object, **_options: object) -> Any:
    """In place of what measures."""
    raise Reached


COSTS = {"keyed.read": 24_000.0, "scan.read": 8.8e6}


def of_versions(folder: Path, **versions: tuple[str, str]) -> list[Any]:
    """A run that measured two versions of each driver in the same sets; a file of the folder by its whole path."""
    named = [
        (driver, str(folder / each) if (folder / each).exists() else each)
        for driver, both in versions.items()
        for each in both
    ]
    paths = [
        journal_factory.path(f"{driver} {each}", f"postgresql server java {driver} transport=tcp version={each}", COSTS)
        for driver, each in named
    ]
    return journal_factory.records(journal_factory.Run(paths=paths))


def write_explained(directory: Path) -> None:
    """A run of `tour` as it is, of which two paths remain."""
    tour, workloads = load_experiment("tour")
    words = {"SQLite C": "sqlite embedded c sqlite", "PostgreSQL Python TCP": "postgresql server python psycopg"}
    paths = [journal_factory.path(name, coordinates, COSTS) for name, coordinates in words.items()]
    made = journal_factory.records(journal_factory.Run(paths=paths))
    head = {"experiment": tour, "workloads": workloads, "options": {"filters": {}, "extended": False}}
    directory.mkdir(parents=True)
    (directory / "samples.jsonl").write_bytes(msgspec.json.Encoder().encode_lines([made[0] | head, *made[1:]]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages call the reader's own: runs, databases, files, hosts."""
    folder = tmp_path_factory.mktemp("documents")
    texts = {"keys.csv": "id:int\n1\n", "q.sql": "SELECT 1", "acme.jar": ""}
    texts |= {"build/mine.jar": "", "build/libs/postgresql.jar": "", "psycopg/__init__.py": ""}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    made = journal_factory.records(journal_factory.Run())
    for name in JOURNAL_NAMES:
        journal_factory.write(folder / name, made)
    journal_factory.write(folder / "run", of_versions(folder, pgjdbc=("42.7.8", "build/mine.jar")))
    two = of_versions(folder, pgjdbc=("42.7.8", "build/libs/postgresql.jar"), psycopg=("3.3.9", "psycopg"))
    journal_factory.write(folder / "both", two)
    write_explained(folder / "rowpath-runs" / "tour-20261125-113526")
    (folder / "DIR" / "faults.jsonl").touch()
    for name in ("my-run", "runs/one", "more/run-7"):
        journal_factory.write(folder / name, site_factory.records(site_factory.MadeRun("2026-11-01")))
    claim = journal_factory.Run(experiment={"name": "published-imdbench"})
    journal_factory.write(
        folder / "rowpath-runs" / "claim-imdbench-asyncpg-20261128-101500", journal_factory.records(claim)
    )
    with sqlite3.connect(folder / "own.db") as database:
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, day TEXT)")
    parquet.write_table(pyarrow.table({"id": [1, 2]}), folder / "orders.parquet")
    for name in ("slow.tape", "psycopg.tape", "FILE"):
        shutil.copy(ROOT / "tests" / "tapes" / "postgresql.tape", folder / name)
    for file in DOCS.rglob("*.toml"):
        shutil.copy(file, folder)
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("experiments.md", "engines.md"))
    shown = re.findall(r"```toml\n(# (my-[a-z]+\.toml)\n.*?)```", pages, re.DOTALL)
    for text, name in shown:
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "hosts.toml").write_text(hosts_file.EXAMPLE, encoding="utf-8")
    authority = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for name in ("ca.crt", "ca.pem"):
        subprocess.run([*authority, "-subj", "/CN=a", "-keyout", "/dev/null", "-out", folder / name],
                       check=True, capture_output=True)  # fmt: skip
    return folder


@pytest.fixture(name="ends_early")
def ends_early_fixture(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in FIRST_MEASUREMENTS:
        module, _, function = f"rowpath.{name}".rpartition(".")
        owner: Any = importlib.import_module(module) if "by_hand" not in module else by_hand(module)
        assert callable(getattr(owner, function)), name
        monkeypatch.setattr(owner, function, reached)
    monkeypatch.setattr("bench.__main__.figures_of", reached)
    yield
    forget_manifests()


def by_hand(module: str) -> object:
    """A module as another one knows it."""
    first, _, last = module.rpartition(".")
    return getattr(importlib.import_module(first), last)


@pytest.mark.parametrize("shown", RUNNABLE, ids=lambda shown: " ".join(shown.words)[:120])
@pytest.mark.usefixtures("ends_early")
def test_it_is_run(shown: Shown, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(shown.words)
    if shown.text in ELSEWHERE or text in ELSEWHERE:
        file, words = ELSEWHERE.get(shown.text) or ELSEWHERE[text]
        assert words in (ROOT / file).read_text(encoding="utf-8")
    elif shown.words[0] == "rowpath":
        rowpath_runs(shown, folder)
    elif shown.words[:3] == ["python", "-m", "bench"]:
        with pytest.raises(Reached):
            importlib.import_module("bench.__main__").main(shown.words[3:])
    elif shown.words[0] == "scripts/docs_results.py":
        results = script("docs_results")
        monkeypatch.setattr(results, "measured", reached)
        monkeypatch.setattr(sys, "argv", [shown.words[0], *(str(ROOT / page) for page in shown.words[1:])])
        with pytest.raises(Reached):
            results.main()
    elif shown.words[0] == "git":
        subprocess.run(["git", "clone", "--quiet", ROOT, folder / shown.words[-1]], check=True)
    elif shown.words[0] in OF_LANGUAGES:
        pin_a_driver(shown.words, folder)
    elif shown.words[0] in ("python", "export"):
        words = [sys.executable, *shown.words[1:]] if shown.words[0] == "python" else ["sh", "-euc", shown.text]
        subprocess.run(words, env={"PYTHONPATH": str(ROOT / "src")}, check=True, capture_output=True)
    else:
        assert os.access(ROOT / shown.words[0], os.X_OK), f"{shown.words[0]} is nothing that runs"


def pin_a_driver(words: list[str], folder: Path) -> None:
    """The language's own command, in a copy of what pins the runner's packages, with one that is pinned already."""
    program, (language, files) = words[0], OF_LANGUAGES[words[0]]
    copy = folder / "pins" / program
    (copy / "src").mkdir(parents=True, exist_ok=True)
    (copy / "src" / "main.rs").touch()
    for file in files:
        shutil.copy(RUNNERS / language / file, copy)
    if shutil.which(program) is None:
        raise EnvironmentMissing(f"no {program} on PATH", "sudo scripts/install-packages.sh")
    pinned = re.search(rf"^\s+{re.escape(words[-1])} (v\S+)", (RUNNERS / "go" / "go.mod").read_text(), re.MULTILINE)
    words = [*words[:-1], f"{words[-1]}@{pinned[1]}"] if program == "go" and pinned else words
    added = {"GOFLAGS": "-mod=mod", "npm_config_prefer_offline": "true"}
    done = subprocess.run(words, cwd=copy, env=os.environ | added, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def rowpath_runs(shown: Shown, folder: Path) -> None:
    """Run it whole, or to its first measurement. Errors: EnvironmentMissing for what this machine lacks."""
    words = shown.words[1:]
    if words[:3] == ["adapter", "new", "toy"]:
        manifest.add_external(fakes.TOY_LANGUAGE)
    if words[:2] == ["adapter", "new"]:  # a directory of adapters has one language
        words += ["--into", f"adapters-{words[2]}"]
    try:
        # A tape stands in for an engine of the whole process, which has planned without it before.
        done = rowpath(*words, "--plan", cwd=folder) if "--tape" in words else called(*words, cwd=folder)
    except Reached:
        return
    if done.returncode == EnvironmentMissing.exit_code:
        raise EnvironmentMissing(done.stderr.strip(), "")
    right = (0, 1) if any(gate in shown.words for gate in GATES) else (0,)
    assert done.returncode in right, done.stdout + done.stderr


@pytest.mark.parametrize("target", sorted({shown.words[1] for shown in COMMANDS if shown.words[0] == "make"}))
def test_make_expands_it(target: str) -> None:
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.strip(), done.stderr


def test_what_only_names_a_command_names_one_that_there_is() -> None:
    for shown in (shown for shown in COMMANDS if shown.is_name):
        assert shown.words[1] in arguments.COMMANDS, shown


def test_what_no_test_runs_is_listed_with_its_reason() -> None:
    found = {not_run(shown) for shown in COMMANDS if not_run(shown)}
    assert found == set(NOT_RUN), "an entry that no page shows"


def test_no_command_is_of_no_kind(record_property: Callable[[str, object], None]) -> None:
    kinds: dict[str, list[Shown]] = {"run": RUNNABLE, "by make": [], "a name": [], "not run": [], "no test runs it": []}
    for shown in COMMANDS:
        kind = "a name" if shown.is_name else "not run" if not_run(shown) else ""
        kind = kind or ("by make" if shown.words[0] == "make" else "" if shown in RUNNABLE else "no test runs it")
        kinds.setdefault(kind, []).append(shown)
    for kind, of_kind in kinds.items():
        record_property(kind, len(of_kind))
    assert kinds["no test runs it"] == []
    assert len(RUNNABLE) > 120
