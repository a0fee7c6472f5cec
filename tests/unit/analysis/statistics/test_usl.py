"""The Universal Scalability Law: exact rates give their parameters back, too little gives none, a peak stays within."""

from __future__ import annotations

import math

import pytest

from rowpath.analysis.statistics.usl import ClientsCurve, fit, law

CLIENTS = (1, 2, 3, 4, 6, 8)


def rates(curve: ClientsCurve, clients: tuple[int, ...] = CLIENTS) -> dict[int, float]:
    return {n: curve.rate(n) for n in clients}


@pytest.mark.parametrize(
    "curve",
    [ClientsCurve(1e6, 0.05, 0.01), ClientsCurve(70, 0.4, 0.0), ClientsCurve(3e5, 0.0, 0.02), ClientsCurve(5, 0, 0)],
)
def test_exact_rates_give_the_parameters_back(curve: ClientsCurve) -> None:
    found = fit(rates(curve))
    assert found.rate_of_one == pytest.approx(curve.rate_of_one)
    assert found.contention == pytest.approx(curve.contention, abs=1e-6)
    assert found.coherence == pytest.approx(curve.coherence, abs=1e-6)


def test_more_than_linear_is_told_as_it_is_and_not_held_at_nought() -> None:
    assert fit(rates(ClientsCurve(100, -0.02, 0.0))).contention == pytest.approx(-0.02, abs=1e-6)


def test_five_numbers_of_clients_are_too_few_for_a_law() -> None:
    assert law([rates(ClientsCurve(100, 0.1, 0.01), CLIENTS[:5])] * 6) is None
    assert law([]) is None
    # A level that one set lacks is no level.
    assert law([rates(ClientsCurve(100, 0.1, 0.01)), rates(ClientsCurve(100, 0.1, 0.01), CLIENTS[:5])]) is None


def test_a_peak_is_told_only_within_what_was_measured() -> None:
    speeds = (0.99, 1.0, 1.01, 1.0, 1.0, 1.0)

    def of(coherence: float) -> float | None:
        found = law([rates(ClientsCurve(1000 * speed, 0.05, coherence)) for speed in speeds])
        assert found is not None
        return found.peak

    inside = of(0.03)
    assert inside == pytest.approx(math.sqrt(0.95 / 0.03), rel=1e-3)
    assert inside is not None
    assert inside < 8
    assert of(0.001) is None  # at 31 clients, and eight were measured
    assert of(0.0) is None


def test_one_set_has_no_interval_and_knows_nothing() -> None:
    found = law([rates(ClientsCurve(1000, 0.2, 0.01))])
    assert found is not None
    assert found.contention.low is None
    assert not found.contention.known
    assert found.peak is None
