"""Analysis stays linear in paths and in sets: its calls and the records it reads are counted, not timed."""

from __future__ import annotations

import cProfile
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from rowpath.analysis.analyse import analyse
from rowpath.journal.reader import Records
from tests.unit import growing_journal, journal_factory

PATHS, SETS = 34, 3
MOST = 1.1  # the calls that a further record costs, in the larger step over the smaller one; of all pairs it is 2


class _Counted(list[Any]):
    """A list of which each item read is a step of a generator, so that a plain scan is counted too."""

    @override
    def __iter__(self) -> Iterator[Any]:
        for each in super().__iter__():  # noqa: UP028 - `yield from` may read on without a step
            yield each


@pytest.mark.parametrize(
    ("what", "sizes"),
    [
        ("paths", [(times * PATHS, SETS) for times in (1, 2, 4)]),
        ("sets", [(PATHS, times * SETS) for times in (1, 2, 4)]),
    ],
)
def test_a_further_record_costs_as_many_calls_in_a_large_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, sizes: list[tuple[int, int]]
) -> None:
    every = Records.all
    monkeypatch.setattr(Records, "all", lambda self, kind: _Counted(every(self, kind)))
    first = journal_factory.write(tmp_path / "first", growing_journal.records(PATHS, SETS))
    analyse(first)  # imports and caches
    records, calls = [], []
    for paths, sets in sizes:
        made = growing_journal.records(paths, sets)
        records.append(len(made))
        calls.append(_calls(journal_factory.write(tmp_path / f"{paths}-{sets}", made)))
    each = [(calls[at + 1] - calls[at]) / (records[at + 1] - records[at]) for at in (0, 1)]
    assert each[1] / each[0] <= MOST, f"calls of a further record by {what}: {each[0]:.1f}, then {each[1]:.1f}"


def _calls(run: Path) -> int:
    """How many functions of Python an analysis calls; each step of a generator is one."""
    before, counting = sys.getprofile(), cProfile.Profile(builtins=False)  # counts in C: a tenth of a callback's time
    counting.enable()
    try:
        analyse(run)
    finally:
        counting.disable()
        sys.setprofile(before)
    return sum(entry.callcount for entry in counting.getstats())
