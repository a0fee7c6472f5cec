"""An interruption while a stage journals an interval: the next look does not journal it again."""

from __future__ import annotations

import os
import signal

import pytest

from rowpath.engines.null import NullInstance
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.mixed_load.stage import Stage
from rowpath.journal.mixed_load_records import SecondRecord
from rowpath.model.experiment import StageTable
from rowpath.model.path import AccessPath
from rowpath.model.progress import StageSecond
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import adapter_of
from tests.unit.insides import begin_interval, end_interval, interval_begin_ns


def test_an_interruption_journals_no_interval_twice() -> None:
    journalled: list[int] = []

    def second(record: SecondRecord, _second: StageSecond) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        journalled.append(record.ns)

    table = StageTable(name="idle", client_groups=(), seconds=1.0)
    planned = PlannedPath(AccessPath.of({"processes": "own"}), adapter_of("c", "null"), (), "idle")
    none = Processes(planned, NullInstance(), {}, log=print, timeout_s=1.0)  # one for each group: no group, no process
    stage = Stage(table, [], [], none, None, zero_ns=0, timeout_s=1.0, second=second)
    begin_interval(stage, 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            end_interval(stage, 5)
    finally:
        signal.signal(signal.SIGINT, before)
    assert journalled == [4]
    assert interval_begin_ns(stage) == 5, "the next look begins here"
