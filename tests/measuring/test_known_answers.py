"""The short form of `rowpath selftest`: what the instrument must find because it is known."""

from __future__ import annotations

import pytest

from rowpath.checks.selftest import TESTS, run_one
from rowpath.checks.selftest.bench import Verdict
from tests.known_answers import TOO_BUSY, wait_for_a_quiet_moment

ATTEMPTS = 3


@pytest.mark.parametrize("name", TESTS)
def test_known_answer(name: str) -> None:
    missed: dict[str, Verdict] | None = None
    # Neighbours can spoil a figure of an attempt; an instrument that is wrong misses the same one in all of them.
    for attempt in range(ATTEMPTS):
        if attempt:
            wait_for_a_quiet_moment()
        # Of two verdicts on the same thing the missed one stays.
        ordered = sorted(run_one(name, full=False), key=lambda verdict: verdict.passed is False)
        verdicts = {verdict.what: verdict for verdict in ordered}
        assert verdicts
        missed = still_missed(missed, verdicts)
        if not missed:
            break
    assert not missed, "\n".join(f"{each.what}: {each.figure} (bar: {each.bar})" for each in missed.values())
    if unknown := [verdict.busy for verdict in verdicts.values() if verdict.busy]:
        pytest.skip(f"{TOO_BUSY}{unknown[0]}")


def still_missed(before: dict[str, Verdict] | None, verdicts: dict[str, Verdict]) -> dict[str, Verdict]:
    """What this attempt missed; after the first only what every attempt missed, or no longer judged at all."""
    missed = {what: verdict for what, verdict in verdicts.items() if verdict.passed is False}
    if before is None:
        return missed
    return {
        what: missed.get(what, verdict) for what, verdict in before.items() if what in missed or what not in verdicts
    }


def test_only_what_every_attempt_misses_counts() -> None:
    right, wrong = (Verdict(passed, "", "") for passed in (True, False))
    first = still_missed(None, {"a": wrong, "b": wrong, "c": wrong, "d": right})
    assert list(first) == ["a", "b", "c"]
    # b is right now, c has no verdict, d was right before.
    assert list(still_missed(first, {"a": wrong, "b": right, "d": wrong})) == ["a", "c"]
