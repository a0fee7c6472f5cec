"""The world in which orders are tried."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

import pytest

from rowpath.execution import instances, prepared_phases, worker
from rowpath.machine.counters import noise, syncs, system_calls
from rowpath.runners.manifest import Command
from rowpath.runners.process import Runner as RealRunner
from rowpath.workloads import generators
from rowpath.workloads.expected import Expected
from tests.order.order_world import RIGHT, Engine, Runner, World


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Engines, runners and expected rows that only note what they are asked for."""
    made = World()
    engines = {name: Engine(made, name) for name in ("sqlite", "postgresql")}
    for module in (instances, prepared_phases, worker):
        monkeypatch.setattr(module, "ENGINES", engines)
    monkeypatch.setattr(worker, "command", lambda _adapter, _version, path: Command((path.label,)))
    started = classmethod(
        lambda _cls, command, *_rest, **_more: (made.runner_type or Runner)(made, command.arguments[0])
    )
    monkeypatch.setattr(RealRunner, "start", started)
    monkeypatch.setattr(Expected, "verify_digest", lambda *_arguments: RIGHT)
    monkeypatch.setattr(Expected, "after_digest", lambda *_arguments: RIGHT)
    for counter in (syncs, system_calls):
        monkeypatch.setattr(counter, "probe", lambda: "unavailable: not of interest here")
    _without_what_takes_time(monkeypatch)
    affinity = os.sched_getaffinity(0)
    yield made
    os.sched_setaffinity(0, affinity)


def _without_what_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """No order depends on these: the fake runners read no parameter file, and no test reads noise or a sync's cost."""
    parameter_rows = generators.parameter_rows

    def few(*arguments: Any) -> Any:
        columns, rows = parameter_rows(*arguments)
        return columns, itertools.islice(rows, 20)

    monkeypatch.setattr(generators, "parameter_rows", few)
    monkeypatch.setattr(noise, "spin", lambda _cpu=None: (0, 0.0))
    monkeypatch.setattr(syncs, "COST_SYNCS", 1)
