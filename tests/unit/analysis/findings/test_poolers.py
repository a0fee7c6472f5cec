"""What becomes of statements behind a pooler, from a made journal: the finding, the ladder, the behaviours."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import pooler_ladders
from tests.unit import journal_factory as factory
from tests.unit.analysis.findings.test_findings import found

BEHIND = "postgresql server c libpq transport=tcp statement=prepared"
PATHS = [
    factory.path("direct", f"{BEHIND} pooler=none pooler_mode=none", {"keyed.read": 20_000}),
    factory.path("session", f"{BEHIND} pooler=pgbouncer pooler_mode=session", {"keyed.read": 30_000}),
    factory.path("transaction", f"{BEHIND} pooler=pgbouncer pooler_mode=transaction", {"keyed.read": 31_000}),
]
ERROR = 'prepared statement "s1" does not exist'


def tried(records: list[factory.Record], stays: bool) -> None:
    path_id = next(one["path_id"] for one in records if one["record"] == "path" and one["name"] == "transaction")
    records.append(
        {
            "record": "pooler", "set": -1, "path_id": path_id, "pooler": "pgbouncer", "version": "1.18.0",
            "statement_stays": stays, "statement_kind": "sql", "statement_code": "26000", "statement_text": ERROR,
            "unprepared": "prepareThreshold=0", "set_stays": False, "set_leaks": True, "cancel_heard": True,
        }
    )  # fmt: skip


@pytest.mark.parametrize("stays", [True, False])
def test_a_prepared_statement_that_does_not_survive_is_found(tmp_path: Path, stays: bool) -> None:
    findings = found(tmp_path, lambda records: tried(records, stays), paths=PATHS)
    assert ("prepared-behind-pooler" in findings) is not stays
    if not stays:
        (finding,) = findings["prepared-behind-pooler"]
        assert ERROR in finding.evidence and "prepareThreshold=0" in finding.cause
        assert "statement=bound" in finding.next_command


def test_one_that_is_prepared_again_is_found(tmp_path: Path) -> None:
    def bend(records: list[factory.Record]) -> None:
        for record in records:
            if record["record"] == "counted":
                record["round_trips"] = record["operations"] * (2 if "mode=session" in record["path_id"] else 1)

    (finding,) = found(tmp_path, bend, paths=PATHS)["prepared-behind-pooler"]
    assert finding.paths == ("session",) and "without the pooler 1" in finding.evidence


def test_the_ladder_has_what_a_pooler_adds_and_its_own_cpu(tmp_path: Path) -> None:
    made = factory.records(factory.Run(paths=PATHS, regimes=("steady",), disturbed_share=0))
    tried(made, stays=True)
    for record in made:
        if record["record"] == "sample" and "mode=session" in record["path_id"]:
            record["pooler_cpu_ns"] = 7_000 * (record["operations"] + record["lead_in_operations"])
    found_here = pooler_ladders.CHAPTER.of(analyse(factory.write(tmp_path, made)))
    (ladder,) = found_here.ladders
    session, transaction = ladder.rungs
    assert ladder.direct_ns == pytest.approx(20_000, rel=0.05) and session.to_direct is not None
    assert session.to_direct.ratio == pytest.approx(1.5, rel=0.05)
    assert session.pooler_cpu_ns == pytest.approx(7_000, rel=0.01) and transaction.pooler_cpu_ns is None
    (behaviour,) = found_here.behaviours
    assert behaviour.set_leaks and behaviour.pooler == "pgbouncer transaction"
