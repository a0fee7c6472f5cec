"""Full sets of a probe: the user's own database is measured, never started, stopped, loaded or copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from rowpath.execution import run
from rowpath.journal.writer import Journal, RunDirectory
from rowpath.model.progress import Silent
from rowpath.own_database.access import Access
from rowpath.own_database.candidates import NAME, Candidates
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.session import Session
from rowpath.own_database.throttled_worker import Budget, work_of
from rowpath.planning.plan import PlannedPath
from rowpath.probe.full_sets import FullSetsBudget
from rowpath.probe.run import ProbeRun
from rowpath.scrubber import Scrubber
from tests.order.order_world import Instance, World, journal_of, planned

SETS = 3
TOUCHING = ("up", "down", "load", "copy", "settle", "commits")


class FakeAccess:
    """An open access to a database that is not ours."""

    session = Session()
    table = ""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance


def full_sets(world: World, folder: Path, members: tuple[PlannedPath, ...], instance: Instance) -> list[dict[str, Any]]:
    """The journal of some full sets of these paths, one batch each."""
    directory = RunDirectory(folder / "run")
    directory.create()
    scrubber = Scrubber()
    journal = Journal(directory, scrubber)
    budget = Budget(60.0)
    probe_run = ProbeRun(
        access=cast(Access, FakeAccess(instance)),
        sql="SELECT 1",
        candidates=Candidates(members, (), ()),
        budget=budget,
        options=ProbeOptions("mine"),
        directory=directory,
        journal=journal,
        scrubber=scrubber,
        progress=Silent(),
        seed=1,
    )
    work = work_of("SELECT 1", ())
    made = probe_run.full_sets(work, [(each,) for each in members], FullSetsBudget(len(members), SETS, 2))
    assert made.run_sets(SETS, budget) == SETS
    journal.close()
    return journal_of(folder)


@pytest.mark.parametrize(("engine", "deployment"), [("postgresql", "server"), ("sqlite", "embedded")])
@pytest.mark.parametrize("answers", [True, False])
def test_nothing_of_a_probed_database_is_renewed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, deployment: str, answers: bool
) -> None:
    """Also not where it seems to be gone: a server of the run's own would be started again."""
    monkeypatch.setattr(run, "lines_of_code", lambda *_arguments: (1, 1))
    instance = Instance(world, engine, deployment)
    instance.up = answers
    members = tuple(planned(label, engine, deployment, (NAME,)) for label in "ab")
    records = full_sets(world, tmp_path, members, instance)
    assert len([record for record in records if record["record"] == "set-end"]) == SETS * len(members)
    assert len(world.happened("start")) == SETS * len(members), "each set has workers of its own"
    assert [event for event in world.events if event[0] in TOUCHING] == []
