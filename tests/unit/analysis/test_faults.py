"""What cells of a matrix of faults mean."""

from __future__ import annotations

from typing import Any

import pytest

from rowpath.analysis.faults import findings, shown
from rowpath.model.fault import Cell

SECOND_NS = 1_000_000_000


def cell(**fields: Any) -> Cell:
    base = {"path_id": "p", "path": "c libpq", "language": "c", "driver": "libpq", "engine": "postgresql"}
    return Cell(**base | {"fault": "3", "work": "scan", "end": "error", "end_ns": 2 * SECOND_NS} | fields)


@pytest.mark.parametrize(
    ("fields", "words", "grade"),
    [
        ({}, "2.00 s error", "good"),
        ({"end_ns": 20 * SECOND_NS}, "20.0 s error", "slow"),
        ({"connection": "broken"}, "2.00 s error", "slow"),
        ({"end": "whole"}, "2.00 s whole", "good"),
        ({"end": "truncated"}, "2.00 s cut, taken for whole", "bad"),
        ({"end": "no end", "end_ns": None}, "no end", "bad"),
        ({"end": "ended"}, "2.00 s process ended", "bad"),
        ({"end": "stopped"}, "2.00 s stopped", "good"),
        ({"end": "stopped", "server_goes_on": True}, "2.00 s stopped", "bad"),
        ({"end": "not heard"}, "not heard", "bad"),
        ({"acknowledged": 1, "stored": 0}, "2.00 s lost", "bad"),
        ({"acknowledged": 1, "stored": 2}, "2.00 s done twice", "bad"),
        ({"acknowledged": 0, "stored": 1}, "2.00 s error", "good"),  # the answer was lost, not the write
        ({"end": "not applicable"}, "–", "none"),
    ],
)
def test_a_cell_in_short(fields: dict[str, Any], words: str, grade: str) -> None:
    assert shown(cell(**fields)) == (words, grade)


@pytest.mark.parametrize(
    ("fields", "finding"),
    [
        ({}, []),
        ({"end": "truncated"}, ["truncated-without-error"]),
        ({"end": "no end", "end_ns": None}, ["no-end"]),
        ({"end": "not heard"}, ["cancel-not-heard"]),
        ({"end": "stopped", "server_goes_on": True}, ["cancel-not-heard"]),
        ({"acknowledged": 1, "stored": 0}, ["acknowledged-lost"]),
        ({"acknowledged": 0, "stored": 2}, ["retries-a-write"]),
        ({"leaked_descriptors": 100, "leaked_threads": 0}, ["leaks-on-fault"]),
        ({"leaked_descriptors": 1, "leaked_threads": 0}, []),
    ],
)
def test_each_finding_needs_what_it_names(fields: dict[str, Any], finding: list[str]) -> None:
    assert [one.id for one in findings([cell(**fields)])] == finding


def test_a_finding_names_the_setting_that_cures_it() -> None:
    hanging, cured = cell(end="no end", end_ns=None), cell(settings="tcp_user_timeout=3000")
    assert findings([hanging, cured])[0].statement.endswith("; cured by tcp_user_timeout=3000 (3)")
    assert "cured" not in findings([hanging, cell(settings="keepalives=1", end="no end")])[0].statement
