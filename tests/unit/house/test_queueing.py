"""The series that known answers of queueing rest on, against what is known otherwise."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.queueing import mean_waiting, simulated_waiting


@pytest.mark.parametrize("load", [0.1, 0.5, 0.79])
def test_one_server_waits_as_pollaczek_and_khinchin_say(load: float) -> None:
    assert mean_waiting(load, 1) == pytest.approx(load / (2 * (1 - load)), rel=1e-9)


@pytest.mark.parametrize("servers", [1, 2, 4, 8])
def test_the_series_is_what_a_simulation_shows(servers: int) -> None:
    load = 0.6 * servers
    drawn = random.Random(servers)
    dues = itertools.accumulate(drawn.expovariate(load) for _ in range(400_000))
    assert simulated_waiting(dues, 1.0, servers) == pytest.approx(mean_waiting(load, servers), rel=0.05)


def test_a_simulation_by_hand() -> None:
    assert simulated_waiting([0.0, 0.0, 1.0, 1.5], 2.0, 2) == pytest.approx((0 + 0 + 1 + 0.5) / 4)


@pytest.mark.parametrize("load", [0.0, 2.0, 3.0])
def test_a_queue_that_grows_for_ever_has_no_mean(load: float) -> None:
    with pytest.raises(ValueError, match="for 2 servers"):
        mean_waiting(load, 2)
