"""A run through layers that write: one that forgets a child is wrong, by the table that shows it, and is not ranked."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.checks.selftest import bench as benches
from rowpath.journal.records import CountedRecord, FailureRecord, VerifyRecord
from rowpath.runners.manifest import build

FORGETFUL = '''"""A cheat: the cast that it adds has one member too few."""

from layers import sqlalchemy_orm as honest

cast_of = honest.cast_of
honest.cast_of = lambda person: cast_of(person)[:-1]
Adapter = honest.Adapter
'''
TABLES = 3  # that a graph is written to


def test_a_layer_that_forgets_a_child_is_not_ranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "layers").mkdir()
    (tmp_path / "layers" / "forgetful.py").write_text(FORGETFUL)
    monkeypatch.setattr(benches, "CHEATS", tmp_path)
    bench = benches.Bench(tmp_path)
    try:
        where = {"durability": "full", "profile": "tuned"}
        by_hand, honest = (
            bench.path("python", "sqlite3", "films.add", name=name, layer=layer, technique=technique, **where)
            for name, layer, technique in (("by hand", "none", "queries"), ("honest", "sqlalchemy-orm", "none"))
        )
        build([(one.adapter, one.path.version) for one in (by_hand, honest)], paths=[by_hand.path, honest.path])
        forgetful = bench.cheating_layer(honest, "forgetful")
        analysis, journal = bench.run([by_hand, honest, forgetful], "films.add", sets=1, rounds=1)
    finally:
        bench.close()
    (wrong,) = [failure for failure in journal.all(FailureRecord) if failure.status == "wrong"]
    assert wrong.path_id == forgetful.path.id
    counts = {record.path_id: record.operations for record in journal.all(CountedRecord)}
    assert counts.keys() == {one.path.id for one in (by_hand, honest, forgetful)}
    for one in (by_hand, honest):
        proofs = [record for record in journal.all(VerifyRecord) if record.path_id == one.path.id]
        assert len(proofs) % TABLES == 0 and proofs
        assert all(record.ok for record in proofs)
    ranked = {row.name for ranking in analysis.rankings for row in ranking.rows if row.rank > 0}
    assert "forgetful" not in ranked
