"""How long the loop waited for a core, from two looks at its clocks."""

from __future__ import annotations

from rowpath.machine.counters.cpu import LoopClocks, foreign_wait_ns

MS = 1_000_000


def test_a_wait_for_our_own_threads_is_nobody_elses() -> None:
    before = LoopClocks({7: (5 * MS, 1 * MS)}, others_cpu_ns=3 * MS, processes_cpu_ns=0)
    after = LoopClocks({7: (9 * MS, 4 * MS)}, others_cpu_ns=4 * MS, processes_cpu_ns=MS // 2)
    assert foreign_wait_ns(before, after) == 3 * MS - MS - MS // 2


def test_of_several_threads_the_busiest_is_the_loop() -> None:
    idle, loop, new = (0, 90 * MS), (50 * MS, 2 * MS), (1 * MS, 8 * MS)
    before = LoopClocks({1: (0, 0), 2: (0, 0)}, others_cpu_ns=0, processes_cpu_ns=0)
    after = LoopClocks({1: idle, 2: loop, 3: new}, others_cpu_ns=0, processes_cpu_ns=0)
    assert foreign_wait_ns(before, after) == 2 * MS - 1 * MS
