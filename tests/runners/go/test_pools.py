"""Pools of Go: pgxpool, and database/sql's above its drivers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runners.protocol import pool_cases as cases
from tests.runners.protocol.group_talk import Subject, subject
from tests.runners.protocol.pool_cases import Case
from tests.runners.protocol.test_groups import skip_without

POOLS = {
    "pgx": ("pgxpool", 1),
    "pgx-stdlib": ("database-sql", 3),
    "pq": ("database-sql", 3),
    "go-sql-driver-mysql": ("database-sql", 2),
}  # with the round trips of a statement that is prepared: database/sql's ends with each loan


@pytest.fixture(name="lending", scope="module", params=POOLS)
def lending_fixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    skip_without("go", request.param)
    with subject("go", request.param, tmp_path_factory.mktemp("pools")) as made:
        yield made


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.__name__)
def test_pool(lending: Subject, case: Case) -> None:
    case(lending, POOLS[lending.adapter.driver][0])


def test_round_trips(lending: Subject) -> None:
    pool, prepared = POOLS[lending.adapter.driver]
    trips = {how: cases.round_trips(lending, pool, validation=how) for how in ("none", "borrow")}
    assert trips == {"none": prepared, "borrow": prepared + 1}
    assert cases.round_trips(lending, "none") == 1
    shipped = {"profile": "shipped", "statement": "prepared", "validation": "borrow"}
    assert cases.round_trips(lending, pool, **shipped) == prepared  # its own validation: none after so short a while


def test_a_wrong_validation_is_refused(lending: Subject, tmp_path: Path) -> None:
    pool, _prepared = POOLS[lending.adapter.driver]
    with pytest.raises(cases.RunnerFailure, match="no validation sometimes"):
        cases.round_trips(lending, pool, validation="sometimes")
