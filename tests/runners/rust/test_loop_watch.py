"""How long tokio's event loop was blocked, as tasks of client groups note it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rowpath.model import histogram
from tests.runners.protocol.group_talk import Group, subject


def test_tasks_note_how_long_their_event_loop_was_blocked(tmp_path: Path) -> None:
    """A task that takes many rows at once keeps the others of its loop waiting: every one at work sees it."""
    with (
        subject("rust", "tokio-postgres", tmp_path, transport="unix") as found,
        found.talk(clients=3, result="whole") as talk,
    ):
        talk.make_ledger(3)
        talk.prepare_read([1, 2, 3])
        talk.prepare_query("SELECT g AS id, g AS n FROM generate_series(1, ?::integer) g", [400_000])
        quiet = Group("read", "quiet", 2, pacing="fixed", rate_per_s=50.0, operations=3)
        with talk.groups(quiet, Group("large", operations=2)) as working:
            working.begin()
            working.wait_until_done()
            assert working.end()["group"].operations == 2
            seen = {name: working.shared_counters.snapshot(name, 0) for name in ("quiet", "group")}
        longest = histogram.highest_of(int(np.flatnonzero(seen["group"].service)[-1]))
        # The driver lets the loop run on between the rows that come; what came is taken in one go.
        assert longest / 30 < seen["group"].blocked_ns <= longest
        assert seen["quiet"].blocked_ns > 0
