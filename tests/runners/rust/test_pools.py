"""Pools of Rust: r2d2 above blocking drivers, deadpool and bb8 above tokio-postgres, sqlx's own above its drivers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rowpath.workloads import codec
from tests.runners.protocol import pool_cases as cases
from tests.runners.protocol.group_talk import Subject, subject
from tests.runners.protocol.pool_cases import Case
from tests.runners.protocol.test_groups import skip_without
from tests.waiting import until

TRIPS = {
    ("postgres", "r2d2"): (1, 2),
    ("mysql", "r2d2"): (2, 3),
    ("tokio-postgres", "deadpool"): (1, 1),
    ("tokio-postgres", "bb8"): (1, 2),
    ("sqlx-postgres", "sqlx"): (2, 3),
    ("sqlx-mysql", "sqlx"): (2, 3),
}  # without validation: two where the pool pings what comes back; as shipped


@pytest.fixture(name="lending", scope="module", params=TRIPS, ids="-".join)
def lending_fixture(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Subject, str]]:
    driver, pool = request.param
    skip_without("rust", driver)
    with subject("rust", driver, tmp_path_factory.mktemp("pools")) as made:
        yield made, pool


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.__name__)
def test_pool(lending: tuple[Subject, str], case: Case) -> None:
    if case is cases.never_more and lending[1] == "bb8":
        cases.never_more(*lending, pause_ns=1_000_000)  # else who has returned a connection takes it again, for ever
    else:
        case(*lending)


def test_round_trips(lending: tuple[Subject, str]) -> None:
    trusted, shipped = TRIPS[lending[0].adapter.driver, lending[1]]
    one = 1 / cases.ROWS  # sqlx pings in a task of its own: the last of a sample may be in the next one
    trips = {how: cases.round_trips(*lending, validation=how) for how in ("none", "borrow")}
    assert trips == pytest.approx({"none": trusted, "borrow": trusted + 1}, abs=one)
    assert cases.round_trips(lending[0], "none") == 1
    as_shipped = cases.round_trips(*lending, profile="shipped", statement="prepared", validation="borrow")
    assert as_shipped == pytest.approx(shipped, abs=one)


def test_a_wrong_validation_is_refused(lending: tuple[Subject, str]) -> None:
    with pytest.raises(cases.RunnerFailure, match="no validation sometimes"):
        cases.round_trips(*lending, validation="sometimes")


def test_phases_are_prepared_again(lending: tuple[Subject, str]) -> None:
    """A phase of the same name replaces the former one on every connection."""
    with cases.lent(*lending) as talk:
        talk.make_ledger(cases.ROWS)
        talk.prepare_read(range(1, cases.ROWS + 1))
        before = talk.sample("read", operations=cases.ROWS, first=0)
        talk.prepare_query("SELECT id, n + 1 FROM ledger WHERE id = ?", range(1, cases.ROWS + 1), "read")
        after = talk.sample("read", operations=cases.ROWS, first=0)
        assert (before.failed, after.failed) == (0, 0)
        assert before.touch != after.touch


OTHERS = {
    "postgresql": "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    "mariadb": "SELECT id FROM information_schema.processlist WHERE id <> connection_id() AND command <> 'Daemon'",
}
END = {"postgresql": "SELECT pg_terminate_backend({})", "mariadb": "KILL {}"}


def test_a_lost_connection_is_replaced(lending: tuple[Subject, str]) -> None:
    """With one in its place, on which the phase is prepared; an operation that met the lost one fails."""
    engine = lending[0].path.engine
    with lending[0].talk() as watcher, cases.lent(*lending) as talk:
        talk.make_ledger(cases.ROWS)
        talk.prepare_read(range(1, cases.ROWS + 1))
        _reply, rows = watcher.kept(lending[0].folder / "others", OTHERS[engine], cases.COUNT)
        for row in rows:
            watcher.run(END[engine].format(codec.decode_row(row, cases.COUNT)[0]))
        assert len(rows) == cases.SIZE
        until(lambda: cases.connections(watcher) == 0, "end of the connections")
        assert talk.sample("read", operations=3 * cases.ROWS, first=0).failed <= cases.SIZE
        assert talk.sample("read", operations=3 * cases.ROWS, first=0).failed == 0
        until(lambda: cases.in_use(talk) == ("0", str(cases.SIZE)), "connections in their place")
