"""A phase, and each proof of what it wrote, is found on another host by its name."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from rowpath.execution.prepared_phases import PhaseCache
from rowpath.hosts.host_run import HostRun
from rowpath.workloads.workload_file import at_scale, load_workload


def test_every_proof_has_a_name_of_its_own(tmp_path: Path) -> None:
    films = at_scale(load_workload("films"), 0.002)
    made = PhaseCache(tmp_path).prepared_workload(films, "sqlite")
    run: Any = SimpleNamespace(
        plan=SimpleNamespace(workloads={"films": films}),
        context=SimpleNamespace(phase_cache=SimpleNamespace(path_work=lambda *_of: made)),
    )
    worker: Any = SimpleNamespace(planned=SimpleNamespace(path=None), instance=None)
    works = [work for each in made.phases.values() for work in (each, *each.proofs)]
    assert {work.phase.table for work in made.phases["films.add"].proofs} == {
        "films_added",
        "directors_added",
        "actors_added",
    }
    assert len({work.name for work in works}) == len(works)
    for work in works:
        assert HostRun.work_of(cast(HostRun, run), worker, work.name) == work
