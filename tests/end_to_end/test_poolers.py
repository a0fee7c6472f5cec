"""A run with poolers between client and server: what is measured, what fails, what two clients meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.poolers import POOLERS
from tests.end_to_end.command import called, records, rowpath

EXPERIMENT = """
schema_version = 1
name = "behind"
title = "behind poolers"
question = "What do they add?"
phases = ["keyed.read"]
[measure]
sets = 1
rounds = 2
regimes = ["steady"]
[[paths]]
name = "libpq"
select = { engine = "postgresql", driver = "libpq", statement = ["prepared", "bound"], pooler = POOLERS }
"""

missing = [there.reason for kind in POOLERS.values() if not (there := kind.availability()).ok]
pytestmark = pytest.mark.skipif(bool(missing), reason="; ".join(missing))


def test_a_run_behind_every_pooler(tmp_path: Path) -> None:
    file, run = tmp_path / "behind.toml", tmp_path / "run"
    names = ", ".join(f'"{name}"' for name in ("none", *POOLERS))
    file.write_text(EXPERIMENT.replace("POOLERS", f"[{names}]"))
    ended = rowpath("run", file, "-o", run, "--wait-for-quiet", "0")
    assert ended.returncode == 0, ended.stderr
    found = records(run)
    names_of = {one["path_id"]: one["name"] for one in found if one["record"] == "path"}
    measured = {names_of[one["path_id"]]: one for one in found if one["record"] == "sample" and one["set"] == 0}
    failed = {names_of[one["path_id"]]: one for one in found if one["record"] == "failure"}
    assert set(measured) == set(names_of.values()) - set(failed)
    assert set(failed) == {"libpq prepared pgbouncer transaction"}
    (failure,) = failed.values()
    assert failure["status"] == "failed" and "prepared statement" in failure["text"]
    for name, sample in measured.items():
        assert (sample["pooler_cpu_ns"] is None) is ("no pooler" in name), name
        assert sample["pooler_cpu_ns"] is None or sample["pooler_cpu_ns"] > 0
    behaviours = {names_of[one["path_id"]]: one for one in found if one["record"] == "pooler"}
    assert set(behaviours) == {name for name in names_of.values() if "no pooler" not in name}
    for name, one in behaviours.items():
        by_transaction = "transaction" in name
        assert one["statement_stays"] is not ("prepared" in name and by_transaction), name
        assert (one["set_stays"], one["set_leaks"]) == (not by_transaction, by_transaction), name
        assert one["cancel_heard"] and one["version"], name
    assert "prepared-behind-pooler" in called("show", run, "--tables").stdout


def test_a_mode_that_a_pooler_lacks_and_a_name_that_is_none(tmp_path: Path) -> None:
    refused = called("run", "keyed-reads", "pooler=pgbounce", "--plan")
    assert refused.returncode == 2 and "unknown pooler 'pgbounce'" in refused.stderr
    file = tmp_path / "behind.toml"
    file.write_text(EXPERIMENT.replace("POOLERS", '"pgpool", pooler_mode = "transaction"').replace(', "bound"', ""))
    planned = called("run", file, "--plan")
    assert "pgpool pools only by session" in planned.stdout + planned.stderr
