"""The short form of `rowpath selftest`: what the instrument must find because it is known."""

from __future__ import annotations

import time

import pytest

from rowpath.checks.selftest import TESTS, run_one
from rowpath.checks.selftest.bench import Verdict
from rowpath.machine.counters.other_programs import OtherPrograms
from tests.conftest import TOO_BUSY

ATTEMPTS = 3
PAUSE_S = 45  # neighbours of the machine come and go in minutes
PAUSES_S = 2 * PAUSE_S  # of all tests together: a machine that is busy for longer stays so
LONG_S = 120  # on a machine that stays busy for so long a further attempt is as busy
LOOK_S = 3  # no longer where none is seen: then waiting changes nothing


@pytest.fixture(scope="module")
def pauses() -> list[float]:
    """How long the tests before waited for neighbours, in seconds."""
    return []


def wait_for_neighbours(pauses: list[float]) -> None:
    """Return once nobody else, the hypervisor included, uses a core; after PAUSE_S, or PAUSES_S of all, at most."""
    begun = time.monotonic()
    longest_s = min(PAUSE_S, PAUSES_S - sum(pauses))
    while time.monotonic() - begun < longest_s:
        others = OtherPrograms()
        time.sleep(LOOK_S)
        if not others.busy():
            break
    pauses.append(time.monotonic() - begun)


@pytest.mark.parametrize("name", TESTS)
def test_known_answer(name: str, pauses: list[float]) -> None:
    begun = time.monotonic()
    missed: dict[str, Verdict] | None = None
    # Neighbours can spoil a figure of an attempt; an instrument that is wrong misses the same one in all of them.
    for attempt in range(ATTEMPTS):
        if attempt:
            wait_for_neighbours(pauses)
        # Of two verdicts on the same thing the missed one stays.
        ordered = sorted(run_one(name, full=False), key=lambda verdict: verdict.passed is False)
        verdicts = {verdict.what: verdict for verdict in ordered}
        assert verdicts
        missed = still_missed(missed, verdicts)
        unknown = [verdict.busy for verdict in verdicts.values() if verdict.busy]
        stays_busy = time.monotonic() - begun > LONG_S or sum(pauses) >= PAUSES_S
        if not missed and (not unknown or stays_busy):
            break
    if unknown and not missed:
        pytest.skip(f"{TOO_BUSY}{unknown[0]}")
    assert not missed, "\n".join(f"{each.what}: {each.figure} (bar: {each.bar})" for each in missed.values())


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
