"""The short form of `rowpath selftest`: what the instrument must find because it is known."""

from __future__ import annotations

import pytest

from rowpath.selftest import TESTS, run_one


@pytest.mark.parametrize("name", TESTS)
def test_known_answer(name: str) -> None:
    missed = []
    # A neighbour of the machine can spoil one attempt; an instrument that is wrong misses both.
    for _attempt in range(2):
        verdicts = run_one(name, full=False)
        assert verdicts
        missed = [verdict for verdict in verdicts if verdict.passed is False]
        if not missed:
            break
    assert not missed, "\n".join(f"{verdict.what}: {verdict.figure} (bar: {verdict.bar})" for verdict in missed)
