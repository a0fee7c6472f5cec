"""Findings about pools: too few connections, too many, what validation asks, and connections that stay away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import journal_factory as factory
from tests.unit.analysis.findings.test_findings import found

HOW = "postgresql server python psycopg transport=tcp clients=8 profile=tuned"
READ = "keyed.read"
OF_POOLS = {"pool-too-small", "pool-too-large", "validation-round-trip", "pool-leak"}


def pooled(size: int, cost_ns: float, validation: str = "none") -> factory.MadePath:
    how = f"{HOW} pool=some pool_size={size} validation={validation}"
    return factory.path(f"{validation} {size}", how, {READ: cost_ns})


def findings_of(tmp_path: Path, paths: list[factory.MadePath], bend: Any = None) -> dict[str, set[tuple[str, ...]]]:
    findings = found(tmp_path, bend, paths=paths)
    return {name: {finding.paths for finding in each} for name, each in findings.items() if name in OF_POOLS}


def borrowing(share: float) -> Any:
    def bend(records: list[factory.Record]) -> None:
        for record in records:
            if record["record"] == "sample" and "pool_size=2," in record["path_id"]:
                record["clients"] = [{"ns": record["ns"], "operations": 1}] * 8
                record["borrow_ns"] = int(8 * record["ns"] * share)

    return bend


@pytest.mark.parametrize(("share", "expected"), [(0.5, {("none 2", "none 8")}), (0.2, set())])
def test_a_pool_is_too_small_where_clients_wait_and_a_larger_one_is_faster(
    tmp_path: Path, share: float, expected: set[tuple[str, ...]]
) -> None:
    findings = findings_of(tmp_path, [pooled(2, 100_000), pooled(8, 50_000)], borrowing(share))
    assert findings.get("pool-too-small", set()) == expected
    assert "pool-too-large" not in findings


def test_a_pool_is_not_too_small_where_a_larger_one_is_as_fast(tmp_path: Path) -> None:
    assert findings_of(tmp_path, [pooled(2, 100_000), pooled(8, 100_000)], borrowing(0.9)) == {}


def test_a_pool_is_too_large_where_a_smaller_one_is_surely_faster(tmp_path: Path) -> None:
    findings = findings_of(tmp_path, [pooled(4, 50_000), pooled(64, 80_000)])
    assert findings == {"pool-too-large": {("none 64", "none 4")}}


@pytest.mark.parametrize(("trips", "expected"), [(2, {("borrow 4",)}), (1, set())])
def test_validation_is_seen_in_round_trips(tmp_path: Path, trips: int, expected: set[tuple[str, ...]]) -> None:
    def bend(records: list[factory.Record]) -> None:
        for record in records:
            if record["record"] == "counted" and "psycopg" in record["path_id"]:
                each = trips if "validation=borrow" in record["path_id"] else 1
                record["round_trips"] = each * record["operations"]

    findings = findings_of(tmp_path, [pooled(4, 50_000), pooled(4, 50_000, "borrow")], bend)
    assert findings.get("validation-round-trip", set()) == expected


@pytest.mark.parametrize(("in_use", "expected"), [("3", {("none 4",)}), ("0", set())])
def test_a_connection_that_stays_away_is_a_leak(tmp_path: Path, in_use: str, expected: set[tuple[str, ...]]) -> None:
    def bend(records: list[factory.Record]) -> None:
        for record in records:
            if record["record"] == "worker":
                record.setdefault("facts", {})["settings"] = {"pool_in_use": in_use}

    assert findings_of(tmp_path, [pooled(4, 50_000)], bend).get("pool-leak", set()) == expected
