"""Findings of what takes time: each is provoked through the whole program, beside a path without it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from rowpath.analysis.answer_model import Finding
from rowpath.analysis.model import Analysis
from rowpath.machine import jvm, processes
from tests.provoked import LIBMARIADBD, PGJDBC, SQLITE, Select, measured, told


def one(analysis: Analysis, rule: str) -> Finding:
    """The only finding of a rule; without it the test fails by an assertion, which a busy machine excuses."""
    found = told(analysis, rule)
    assert len(found) == 1, f"{len(found)} findings {rule}"
    return found[0]


def test_delayed_acknowledgement(tmp_path: Path) -> None:
    selection: Select = {"engine": "null", "language": "c", "driver": "ping", "transport": "tcp", "writes": ("1", "2")}
    analysis = measured(tmp_path, ["null.nothing"], selection)
    finding = one(analysis, "delayed-acknowledgement")
    assert "2" in finding.paths[0]
    assert "ms an operation" in finding.evidence
    assert "lacks TCP_NODELAY" in finding.cause


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
    finding = one(analysis, "sync-bound-writes")
    assert "full" in finding.paths[0]
    assert "an operation at" in finding.evidence


def test_collector_pauses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result held whole in a heap that has little room beside it."""
    large_heap = [option for option in jvm.OPTIONS if not option.startswith(("-Xms", "-Xmx"))]
    monkeypatch.setattr(jvm, "OPTIONS", (*large_heap, "-Xms28m", "-Xmx28m"))
    selection = PGJDBC | {"statement": "prepared", "result": "whole"}
    analysis = measured(tmp_path, ["scan.read"], selection)
    finding = one(analysis, "collector-pauses")
    assert "collections" in finding.evidence


def test_main_thread_stack(tmp_path: Path) -> None:
    selection = LIBMARIADBD | {"statement": "prepared", "result": "whole", "thread": ("worker", "main")}
    # The interval of two sets is twelve standard errors wide: a machine whose speed changes would decide.
    analysis = measured(tmp_path, ["keyed.read"], selection, sets=5)
    finding = one(analysis, "main-thread-stack")
    assert "main" in finding.paths[0]
    assert "worker" in finding.paths[1]
    calls = {r.path["thread"]: r.median for r in analysis.results if r.metric == "system_calls"}
    assert calls["main"] is not None
    assert calls["worker"] is not None
    assert calls["main"] > calls["worker"] + 4
