"""A retrieval in parts for real: threads and connections over key ranges, right and as the article had it."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.command import records, rowpath

EXPERIMENT = """\
schema_version = 1
name = "parts"
title = "Orders and customers in parts"
question = "What do parts gain?"
source = "a test"
scale = 0.001
phases = ["tpch.orders-ranges", "tpch.customer-ranges", "tpch.orders-bounds"]

[measure]
sets = 2
max_sets = 2
rounds = 2
regimes = ["cold", "steady"]
warm_cap_s = 0.1

[[paths]]
name = "threads"
select = { driver = "sqlite", clients = ["1", "3"], ranges = ["bounds", "count"], durability = "none" }

[[paths]]
name = "connections"
select = { driver = "psycopg", clients = ["1", "2"], ranges = "bounds", durability = "none", transport = "tcp" }

[[paths]]
name = "whole"
select = { driver = "sqlite", durability = "none" }
"""


def test_parts_are_the_table_or_wrong(tmp_path: Path) -> None:
    file = tmp_path / "parts.toml"
    file.write_text(EXPERIMENT, encoding="utf-8")
    directory = tmp_path / "run"
    done = rowpath("run", file, "placement=free", "-o", directory, "--tables")
    assert done.returncode == 0, done.stdout + done.stderr
    names = {record["path_id"]: record["name"] for record in records(directory, "path")}
    bad = {names[record["path_id"]]: set(record["bad"].items()) for record in records(directory, "verified")}
    sparse = ("tpch.orders-ranges", "wrong")
    assert bad.pop("threads 1 client count") == bad.pop("threads 3 clients count") == {sparse}
    assert set(bad) == {
        "threads 1 client bounds",
        "threads 3 clients bounds",
        "connections 1 client",
        "connections 2 clients",
        "whole",
    }
    assert not any(bad.values())
    wrong = [record for record in records(directory, "verify") if not record["ok"]]
    assert {(record["rows"], record["expected_rows"]) for record in wrong} == {(375, 1500)}, "keys up to 1,500"
    for record in records(directory, "path"):
        assert record["coordinates"]["placement"] == "free"
    assert "its parts delivered 375 of the table's 1,500 rows" in done.stdout
    assert "ranges=count assumes the keys 1, 2, …, rows" in done.stdout
    assert "connections: tpch.orders-ranges in parts at once" in done.stdout

    samples = [record for record in records(directory, "sample") if record["phase"].endswith("-ranges")]
    assert all(record["touch_ok"] for record in samples)
    assert {(record["operations"], record["lead_in_operations"]) for record in samples} == {(1, 0)}
    assert {record["rows"] for record in samples if record["phase"] == "customer-ranges"} == {150}
    several = [record for record in samples if names[record["path_id"]] == "threads 3 clients bounds"]
    assert several
    for record in several:
        each = [client["rows"] for client in record["clients"]]
        assert sum(each) == record["rows"]
        assert max(each) - min(each) <= 1
    trips = {
        names[record["path_id"]]: record["round_trips"] / record["operations"]
        for record in records(directory, "counted")
        if record["phase"] == "orders-ranges" and record["round_trips"] is not None
    }
    assert trips["connections 2 clients"] == 2 * trips["connections 1 client"]
