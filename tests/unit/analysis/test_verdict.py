"""Sentences of the verdict that must not say more than was shown."""

from __future__ import annotations

from pathlib import Path

from rowpath.analysis.analyse import analyse
from tests.unit import journal_factory
from tests.unit.journal_factory import Run


def test_one_set_shows_no_order_and_no_tie(tmp_path: Path) -> None:
    paths = [
        journal_factory.path("quick", "sqlite embedded c sqlite", {"keyed.read": 10_000}),
        journal_factory.path("slow", "sqlite embedded python sqlite3", {"keyed.read": 50_000}),
    ]
    run = Run(paths=paths, sets=1, rounds=5, regimes=("steady",), disturbed_share=0)
    verdict = analyse(journal_factory.write(tmp_path, journal_factory.records(run))).verdict
    (sentence,) = [each for each in verdict if "no order is shown among quick and slow: " in each]
    low, high = sentence.removesuffix(".").rpartition(": ")[2].split(" to ")
    assert float(high.split()[0]) > 4 * float(low.split()[0])
    assert not any(" tie" in each for each in verdict)
    assert not any(" takes " in each for each in verdict), "a ratio of one set has no interval"
    assert any(each.startswith("Provisional: one set, and claims need 6; ") for each in verdict)
