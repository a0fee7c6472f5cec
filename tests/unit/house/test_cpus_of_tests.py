"""A test that leaves this process fewer CPUs takes them from no test after it."""

from __future__ import annotations

from pathlib import Path

from tests.unit.house.test_left_out import suite

TESTS = """
import os

EVERY = os.sched_getaffinity(0)

def test_that_leaves_one():
    os.sched_setaffinity(0, {min(EVERY)})

def test_after_it():
    assert os.sched_getaffinity(0) == EVERY
"""


def test_every_test_begins_with_all_cpus(tmp_path: Path) -> None:
    code, told = suite(tmp_path, text=TESTS)
    assert code == 0, told
