"""The bench `pools`: its programs know nothing of the runner, and when its bars are met."""

from __future__ import annotations

import math
import re

import pytest
from bench import pools
from bench.hand_written_program import SOURCES
from bench.pools import Couple

from rowpath.analysis.statistics.intervals import Interval
from rowpath.errors import UsageError
from rowpath.runners.manifest import adapter_of

SLOW_NS, QUICK_NS, CLOCK_NS = 10_000.0, 100.0, 50.0


def between(low: float, high: float) -> Interval:
    return Interval((math.log(low) + math.log(high)) / 2, math.log(low), math.log(high), 0.01, 4, 5)


def couples(*loan_and_difference: tuple[float, float]) -> list[Couple]:
    return [
        Couple(0.0, 100_000.0, loan_ns + CLOCK_NS, longer_ns, CLOCK_NS) for loan_ns, longer_ns in loan_and_difference
    ]


def test_every_program_is_there_for_a_pool_that_lends_its_drivers_connections() -> None:
    for (language, pool), (driver, source, _placeholder) in pools.PROGRAMS.items():
        assert pool in {each.name for each in adapter_of(language, driver).pools}
        assert (SOURCES / source).is_file()


@pytest.mark.parametrize("source", ["pools/Reads.java", *(source for _, source, _ in pools.PROGRAMS.values())])
def test_a_program_uses_nothing_of_the_runner(source: str) -> None:
    text = (SOURCES / source).read_text(encoding="utf-8")
    assert not re.search(r"\b(?:rowpath|core|families|adapters)[./]", text)


@pytest.mark.parametrize(
    ("low", "high", "loan_ns", "met"),
    [
        (1.02, 1.09, SLOW_NS, True),
        (1.06, 1.09, SLOW_NS, False),  # it does not reach the bar
        (0.9, 1.1, SLOW_NS, False),  # ±1,000 ns: it is too wide
        (0.9, 1.1, QUICK_NS, True),  # ±10 ns
        (1.06, 1.1, QUICK_NS, False),
        (0.7, 1.3, QUICK_NS, False),
    ],
)
def test_an_interval_reaches_the_bar_and_is_narrow(low: float, high: float, loan_ns: float, met: bool) -> None:
    assert pools.is_met(between(low, high), loan_ns) == met


@pytest.mark.parametrize(
    ("measured", "agreed"),
    [
        (couples((500, 480), (510, 520), (490, 500)), True),
        (couples((500, 680), (510, 690), (490, 670)), False),
        (couples((500, 320), (510, 330), (490, 310)), False),
        (couples((500, 5000)), None),
    ],
)
def test_the_difference_agrees_when_its_interval_holds_what_was_timed(
    measured: list[Couple], agreed: bool | None
) -> None:
    assert pools.agree(measured) is agreed


def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "CHOSEN", ("java", "hikari"))
    with pytest.raises(UsageError, match="unknown pool 'hikari'"):
        next(pools.measure(None))  # type: ignore[arg-type]
