"""Findings that real drivers give cause for: each is provoked through the whole program, beside a path without it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis, Finding
from rowpath.cli.plan import checked_plan
from rowpath.engines import ENGINES
from rowpath.execution.run import run_plan
from rowpath.machine import processes
from rowpath.model.experiment import Experiment, Measure, Selection
from rowpath.model.progress import Silent
from rowpath.planning.experiment_file import ExperimentFile, load_workloads
from rowpath.runners.manifest import load_manifest
from rowpath.runners.toolchains import java

Select = dict[str, str | tuple[str, ...]]
LIBPQ: Select = {"engine": "postgresql", "driver": "libpq", "transport": "tcp"}
PSYCOPG: Select = {"engine": "postgresql", "driver": "psycopg", "transport": "tcp"}
PGJDBC: Select = {"engine": "postgresql", "driver": "pgjdbc", "transport": "tcp"}
LIBMARIADBD: Select = {"engine": "mariadb", "driver": "libmariadbd", "storage": "innodb", "durability": "none"}
SQLITE: Select = {"engine": "sqlite", "driver": "sqlite", "durability": "full"}

# A result of about 5 MB of payload, and a small one of the same table.
LARGE = """
name = "large"
title = "A result that is worth holding against memory"

[tables.hits]
rows = 120000
generator = "hits"
primary_key = ["REQTS"]
columns = [
  { name = "REQTYPE", type = "char", length = 10 },
  { name = "REQFILE", type = "char", length = 80 },
  { name = "BROWSER", type = "char", length = 10 },
  { name = "REQTS", type = "timestamp" },
  { name = "REQSIZE", type = "integer" },
]

[[phases]]
name = "all"
kind = "query"
sql = "SELECT REQTYPE, REQFILE, BROWSER, REQTS, REQSIZE FROM hits"
table = "hits"
scan = true
rows_per_operation = 120000
truth = "whole-table"

[[phases]]
name = "first"
kind = "query"
sql = "SELECT REQTYPE, REQFILE, BROWSER, REQTS, REQSIZE FROM hits ORDER BY REQTS LIMIT 100"
table = "hits"
rows_per_operation = 100
truth = "first-rows"
"""


@pytest.fixture(autouse=True)
def own_cores() -> Iterator[None]:
    """A run pins its controller; the tests after it shall not be."""
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


def needs(*selections: Select) -> None:
    """Skip where one of the engines is missing."""
    for selection in selections:
        here = ENGINES[str(selection["engine"])].availability()
        if not here.ok:
            pytest.skip(here.reason)


def measured(tmp_path: Path, phases: list[str], *selections: Select, files: tuple[str, ...] = ()) -> Analysis:
    """A short run of these paths; none of them may have failed."""
    needs(*selections)
    measure = Measure(sets=2, max_sets=0, rounds=6, regimes=("steady",), warm_cap_s=0.3)
    chosen = tuple(Selection(select=dict(selection)) for selection in selections)
    experiment = Experiment(1, "provoked", "Provoked", tuple(phases), chosen, workload_files=files, measure=measure)
    plan = checked_plan(ExperimentFile(experiment, load_workloads(experiment)), {}, extended=True, seed=7)
    assert len(plan.paths) >= len(selections), plan.dropped
    outcome = run_plan(plan, directory=tmp_path / "run", progress=Silent(), timeout_s=60.0)
    analysis = analyse(outcome.directory.path)
    assert not [finding for finding in analysis.findings if finding.id in ("failed-operations", "missing-path")]
    return analysis


def told(analysis: Analysis, rule: str) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in analysis.findings if finding.id == rule]


def blamed(analysis: Analysis, rule: str) -> str:
    """The names of the paths that a rule's findings name, as one text."""
    return " ".join(name for finding in told(analysis, rule) for name in finding.paths)


def large(tmp_path: Path) -> tuple[str, ...]:
    """The file of the workload with the large result."""
    file = tmp_path / "large.toml"
    file.write_text(LARGE, encoding="utf-8")
    return (str(file),)


def test_fetch_size_ignored(tmp_path: Path) -> None:
    selection = PGJDBC | {"statement": "prepared", "result": ("fetch-size:1000", "cursor:1000")}
    analysis = measured(tmp_path, ["scan.read"], selection)
    names = blamed(analysis, "fetch-size-ignored")
    assert "fetch-size:1000" in names
    assert "cursor" not in names


def test_result_buffered_whole(tmp_path: Path) -> None:
    selection = LIBPQ | {"statement": "prepared", "result": ("whole", "single-row")}
    analysis = measured(tmp_path, ["large.first", "large.all"], selection, files=large(tmp_path))
    names = blamed(analysis, "result-buffered-whole")
    assert "whole" in names
    assert "single-row" not in names


def test_implicit_transaction(tmp_path: Path) -> None:
    analysis = measured(tmp_path, ["keyed.read"], PSYCOPG | {"profile": ("shipped", "tuned")})
    (finding,) = told(analysis, "implicit-transaction")
    assert "shipped" in finding.paths[0]
    assert "3 round trips and 1 commits per operation" in finding.evidence


@pytest.mark.parametrize("selection", [LIBPQ, PSYCOPG, PGJDBC], ids=["libpq", "psycopg", "pgjdbc"])
def test_what_is_prepared_each_time_is_counted(tmp_path: Path, selection: Select) -> None:
    analysis = measured(tmp_path, ["keyed.read"], selection | {"statement": ("prepared", "bound", "text")})
    sent = {r.path["statement"]: r.median for r in analysis.results if r.metric == "texts_sent"}
    assert sent == {"prepared": 0, "bound": 1, "text": 1}
    (finding,) = told(analysis, "prepared-each-time")
    assert "20 times in 20 operations" in finding.evidence
    assert "×" in finding.text


def test_delayed_acknowledgement(tmp_path: Path) -> None:
    selection: Select = {"engine": "null", "language": "c", "driver": "ping", "transport": "tcp", "writes": ("1", "2")}
    analysis = measured(tmp_path, ["null.nothing"], selection)
    (finding,) = told(analysis, "delayed-acknowledgement")
    assert "2" in finding.paths[0]
    assert "ms an operation" in finding.evidence


# A disk whose syncs take 3 ms more than this machine's do, for every process of a run.
SLOW_SYNCS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static int slowly(const char *name, int file) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    usleep(3000);
    return next(file);
}
int fsync(int file) { return slowly("fsync", file); }
int fdatasync(int file) { return slowly("fdatasync", file); }
"""


@pytest.fixture
def slow_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every sync slow: in the controller, which measures what one costs, and in what it starts."""
    source, library = tmp_path / "slow_syncs.c", tmp_path / "slow_syncs.so"
    source.write_text(SLOW_SYNCS)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    usual, really = processes.environment_for, os.fdatasync

    def environment_for(added: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        environment = usual(added)
        others = environment.get("LD_PRELOAD")
        return environment | {"LD_PRELOAD": f"{others}:{library}" if others else str(library)}

    def fdatasync(file: int) -> None:
        time.sleep(0.003)
        really(file)

    monkeypatch.setattr(processes, "environment_for", environment_for)
    monkeypatch.setattr(os, "fdatasync", fdatasync)


@pytest.mark.usefixtures("slow_disk")
def test_sync_bound_writes(tmp_path: Path) -> None:
    analysis = measured(tmp_path, ["keyed.insert"], SQLITE | {"statement": "prepared", "durability": ("full", "none")})
    (finding,) = told(analysis, "sync-bound-writes")
    assert "full" in finding.paths[0]
    assert "an operation at" in finding.evidence


def test_collector_pauses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result held whole in a heap that has little room beside it."""
    large_heap = [option for option in java.JVM_OPTIONS if not option.startswith(("-Xms", "-Xmx"))]
    monkeypatch.setattr(java, "JVM_OPTIONS", (*large_heap, "-Xms28m", "-Xmx28m"))
    selection = PGJDBC | {"statement": "prepared", "result": "whole"}
    analysis = measured(tmp_path, ["scan.read"], selection)
    (finding,) = told(analysis, "collector-pauses")
    assert "collections" in finding.evidence


def test_confounded_version(tmp_path: Path) -> None:
    if not any(adapter.driver == "sqlite-jdbc" for adapter in load_manifest("java").adapter):
        pytest.skip("there is no such driver")
    analysis = measured(tmp_path, ["keyed.read"], SQLITE, SQLITE | {"driver": "sqlite-jdbc"})
    (finding,) = told(analysis, "confounded-version")
    assert "sqlite-jdbc" in finding.paths[0]
    assert len({ranking.comparison for ranking in analysis.rankings if ranking.phase == "read"}) == 2


def test_unrequested_tls(tmp_path: Path) -> None:
    """libpq takes TLS where the server offers it."""
    selection = PSYCOPG | {"statement": "prepared", "tls": ("default", "off", "on")}
    analysis = measured(tmp_path, ["keyed.read"], selection)
    (finding,) = told(analysis, "unrequested-tls")
    assert finding.severity == "warning"
    assert "default" in finding.paths[0]
    texts = {r.path["tls"] for r in analysis.results if r.metric == "texts_sent"}
    assert texts == {"off"}, "what is encrypted cannot be counted"


def test_main_thread_stack(tmp_path: Path) -> None:
    selection = LIBMARIADBD | {"statement": "prepared", "result": "whole", "thread": ("worker", "main")}
    analysis = measured(tmp_path, ["keyed.read"], selection)
    (finding,) = told(analysis, "main-thread-stack")
    assert "main" in finding.paths[0]
    assert "worker" in finding.paths[1]
    calls = {r.path["thread"]: r.median for r in analysis.results if r.metric == "system_calls"}
    assert calls["main"] is not None
    assert calls["worker"] is not None
    assert calls["main"] > calls["worker"] + 4
