"""An interruption while a stage journals an interval: the next look does not journal it again."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rowpath.execution.mixed_load.stage import Stage


def test_an_interruption_journals_no_interval_twice() -> None:
    journalled: list[Any] = []

    def second(*what: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        journalled.append(what)

    stage = SimpleNamespace(
        members=[], outcome=SimpleNamespace(killed=None), second=second, _second_begin_ns=1, _last=None,
        _interval=lambda now_ns, snapshots: (now_ns, snapshots),
    )  # fmt: skip
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Stage._look(cast(Stage, stage), 5)
    finally:
        signal.signal(signal.SIGINT, before)
    assert journalled == [(5, {})]
    assert (stage._last, stage._second_begin_ns) == ({}, 5), "the next look begins here"
