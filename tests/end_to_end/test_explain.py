"""`rowpath explain` as a person uses it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rowpath.explain import perf
from rowpath.explain.own_query import SERVER_PROCESS
from tests.end_to_end.command import SQLITE_C, SQLITE_PYTHON, called, rowpath, write_experiment


def test_a_path_is_divided_by_library(tmp_path: Path) -> None:
    words = ("tour", "engine=sqlite", "language=c", "--phase", "keyed.read")
    done = rowpath("explain", *words, "-q", "-b", "1", "--no-flame", "--how", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "SQLite C · keyed.read" in done.stdout
    assert "not explained:" in done.stdout
    (found,) = json.loads((tmp_path / "run" / "explanation.json").read_text())
    names = {part["name"] for part in found["parts"] if part["side"] == "client"}
    assert names >= ({"CPU"} if perf.problem() else {"libsqlite3", "kernel", "our loop and adapter"})
    assert all(part["known_by"] for part in found["parts"])
    assert found["operation_ns"] > 0 and found["low_ns"] is None  # of one block
    assert "flame" not in done.stdout
    assert not list((tmp_path / "run").glob("flame-*"))
    assert not (tmp_path / "run" / "work").exists()


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        ((), "no experiment given", "rowpath explain tour"),
        (("tour", "placement=split"), "explain needs client and server on one core", "rowpath explain tour"),
        (
            ("tour", "--phase", "keyed.nothing"),
            "unknown phase 'keyed.nothing' of tour",
            "rowpath explain tour keyed.read",
        ),
        (("clients", "engine=postgresql", "--all"), "paths match", "rowpath explain clients engine="),
        (("load",), "every phase of load writes", "rowpath explain tour"),
        (("tour", "No Such Path"), "unknown path 'No Such Path' of tour", "rowpath run tour --plan"),
        (("tour", "--query", "SELECT 1"), "--query needs a database's URL or file", "rowpath explain URL --query SQL"),
        (("sqlite:///nowhere.db",), "no file /nowhere.db", "sqlite:///PATH with an absolute path"),
        (("tour", "engine=null"), "no path with an engine has keyed.read", "rowpath run tour --plan"),
    ],
)
def test_what_cannot_be_explained(words: tuple[str, ...], error: str, hint: str, tmp_path: Path) -> None:
    done = called("explain", *words, "-o", tmp_path / "run")
    assert done.returncode == 2, done.stdout
    assert error in done.stderr
    assert f"hint: {hint}" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_s_fastest_paths_are_explained_in_its_page(tmp_path: Path) -> None:
    run = tmp_path / "run"
    phases = ["keyed.read", "scan.read"]
    experiment = write_experiment(tmp_path, [SQLITE_C, SQLITE_PYTHON], phases=phases, sets=1, rounds=1)
    assert rowpath("run", experiment, "-q", "-o", run).returncode == 0
    done = rowpath("explain", run, "-q", "-b", "1", "--no-flame")
    assert done.returncode == 0, done.stderr
    assert "· keyed.read" in done.stdout and "· scan.read" in done.stdout
    named = rowpath("explain", run, "sqlite python sqlite3", "keyed.read", "-q", "-b", "1", "--no-flame")
    assert named.returncode == 0, named.stderr
    assert "Where the time goes" in (run / "report.html").read_text(encoding="utf-8")
    exported = called("show", run, "--export-json", "-")
    explained = json.loads(exported.stdout)["explanations"]
    assert {one["phase"] for one in explained} == {"keyed.read", "scan.read"}
    assert "sqlite python sqlite3" in {one["name"] for one in explained}
    assert not (run / "work").exists()


def spans(trace: str) -> list[dict[str, Any]]:
    """Every span of an OTLP document."""
    resources = json.loads(trace)["resourceSpans"]
    return [span for resource in resources for scope in resource["scopeSpans"] for span in scope["spans"]]


def root_of(trace: str) -> dict[str, Any]:
    """The span of the only operation."""
    (root,) = (span for span in spans(trace) if "parentSpanId" not in span)
    return root


def attributes(span: dict[str, Any]) -> dict[str, str]:
    """By key, numbers as texts."""
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def test_a_query_of_ones_own_on_a_server_of_others(postgresql: dict[str, Any], tmp_path: Path) -> None:
    run, secret = tmp_path / "run", postgresql["password"]
    url = f"postgresql://{postgresql['user']}:{secret}@127.0.0.1:{postgresql['port']}/{postgresql['database']}"
    sql = "SELECT g, 'row ' || g AS name FROM generate_series(1, 5000) AS g, pg_sleep(0.02)"
    done = rowpath("explain", url, "--query", sql, "driver=libpq,psycopg", "-b", "1", "--no-flame", "--how", "-o", run)
    assert done.returncode == 0, done.stderr
    assert "The server reports" in done.stdout and "EXPLAIN ANALYZE" in done.stdout
    everything = done.stdout + done.stderr
    everything += "".join(path.read_text(encoding="utf-8") for path in run.rglob("*") if path.is_file())
    assert secret not in everything
    found = json.loads((run / "explanation.json").read_text(encoding="utf-8"))
    assert {one["name"] for one in found} == {"libpq as it ships (C)", "psycopg as it ships (Python)"}
    # On a busy machine EXPLAIN ANALYZE may take longer than the operation: it is not believed then, which is said.
    refused = [one for one in found if any("more than the operation" in note for note in one["server_says"]["notes"])]
    assert all(one["server_says"]["ns"] > 20e6 for one in found if one not in refused)
    for one in found:
        hops = one["hops"]
        assert not hops["server_seen"] and not hops["one_core"], one["no_hops"]
        (away,) = (hop for hop in hops["round_trips"][-1]["hops"] if hop["where"] == "to server")
        assert away["median_ns"] > 20e6  # what the server sleeps


def test_a_server_that_answers_late_is_found_late_in_sum_and_hops(postgresql: dict[str, Any], tmp_path: Path) -> None:
    run, late_ns = tmp_path / "run", 200_000
    url = f"postgresql://{postgresql['user']}:{postgresql['password']}@127.0.0.1:{postgresql['port']}/"
    sql = f"SELECT $1::bigint AS id, pg_sleep({late_ns / 1e9:f})::text AS nothing"
    words = ("--query", sql, "--param", "bigint:7", "driver=libpq", "statement=prepared", "format=text", "result=whole")
    words += ("fetch=row", "pipeline=off", "plan_cache_mode=auto")
    words += ("--redact-query", "--otlp", str(tmp_path / "trace.json"))
    done = rowpath("explain", f"{url}{postgresql['database']}", *words, "-b", "1", "--no-flame", "-o", run)
    assert done.returncode == 0, done.stderr
    trace = (tmp_path / "trace.json").read_text(encoding="utf-8")
    assert "pg_sleep" not in trace and postgresql["password"] not in trace
    assert attributes(root_of(trace)) == {
        "db.system.name": "postgresql", "network.transport": "tcp", "server.address": "127.0.0.1",
        "server.port": str(postgresql["port"]), "network.peer.address": "127.0.0.1",
        "network.peer.port": str(postgresql["port"]), "db.response.returned_rows": "1",
        "rowpath.path": "libpq with a prepared statement (C)",
        "rowpath.phase": "your query",
    }  # fmt: skip
    (one,) = json.loads((run / "explanation.json").read_text(encoding="utf-8"))
    hops, says = one["hops"], one["server_says"]
    assert one["stamped"] and hops is not None, one["no_hops"]
    assert 0.9 < hops["mean_ns"] / one["operation_ns"] < 1.1
    assert sum(hop["mean_ns"] for hop in hops["round_trips"][0]["hops"]) == pytest.approx(hops["mean_ns"])
    (away,) = (hop for hop in hops["round_trips"][0]["hops"] if hop["where"] == "to server")
    assert late_ns <= away["median_ns"] and late_ns <= away["mean_ns"]
    assert says["by"] in ("EXPLAIN ANALYZE", SERVER_PROCESS)  # its CPU, where a busy machine delayed EXPLAIN ANALYZE
    least_ns = late_ns if says["by"] == "EXPLAIN ANALYZE" else 0
    assert says["ns"] is None or least_ns <= says["ns"] <= one["operation_ns"]
    assert sum(speed["share"] for speed in hops["speeds"]) == pytest.approx(1)
    assert "By core: " in done.stdout


def test_the_hops_of_a_server_of_ours(tmp_path: Path) -> None:
    words: tuple[str | Path, ...] = ("tour", "engine=postgresql", "language=c", "transport=tcp", "statement=prepared")
    words += ("--otlp", tmp_path / "trace.json")
    done = rowpath("explain", *words, "--phase", "keyed.read", "-q", "-b", "1", "--no-flame", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "in time order, on one core" in done.stdout and "stamping changed an operation's time by" in done.stdout
    (found,) = json.loads((tmp_path / "run" / "explanation.json").read_text(encoding="utf-8"))
    hops = found["hops"]
    assert hops["operations"] >= 1_000 and hops["server_seen"] and not found["no_hops"]
    (trip,) = hops["round_trips"]
    assert [f"{hop['where']} {hop['name']}" for hop in trip["hops"]] == [
        "client prepares",
        "client sends",
        "to server on the way to the server",
        "server works",
        "server sends",
        "to client on the way to the client",
        "client takes rows",
    ]
    trace = (tmp_path / "trace.json").read_text(encoding="utf-8")
    of_operation = attributes(root_of(trace))
    assert of_operation["db.query.text"].startswith("SELECT ") and of_operation["db.operation.name"] == "SELECT"
    assert len(spans(trace)) == 1 + len(trip["hops"])
    assert trip["messages"] == 1 and trip["sent_bytes"] > 20 and trip["received_bytes"] > 20
    assert not (tmp_path / "run" / "work").exists()


@pytest.mark.parametrize(
    ("words", "pipeline"),
    [
        (("pipelining", "language=c", "link=none", "pipeline=10"), 10),
        (("pipelining", "language=go", "link=none", "pipeline=off"), 1),  # no call of Go is seen in the C library
        (("tls", "driver=psycopg", "tls=on"), 1),
    ],
)
def test_the_hops_of_a_pipeline_of_go_and_over_tls(words: tuple[str, ...], pipeline: int, tmp_path: Path) -> None:
    done = rowpath("explain", *words, "--phase", "keyed.read", "-q", "-b", "1", "--no-flame", "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((tmp_path / "run" / "explanation.json").read_text(encoding="utf-8"))
    hops = found["hops"]
    assert hops is not None, found["no_hops"]
    assert hops["operations"] >= 1_000 and hops["server_seen"] and hops["pipeline"] == pipeline
    (trip,) = hops["round_trips"]
    assert trip["messages"] == 1 and trip["sent_bytes"] > 20 * pipeline
    assert {"client", "to server", "server", "to client"} <= {hop["where"] for hop in trip["hops"]}
    assert ("one pipeline of 10" in done.stdout) == (pipeline > 1)


def test_a_file_is_explained_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    with sqlite3.connect(file) as connection:
        connection.execute(
            "CREATE TABLE t AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n LIMIT 500) "
            "SELECT i, 'row' AS name FROM n"
        )
    connection.close()
    before = file.read_bytes()
    done = rowpath(
        "explain",
        f"sqlite://{file}",
        "--table",
        "t",
        "language=c",
        "-q",
        "-b",
        "1",
        "--no-flame",
        "-o",
        tmp_path / "run",
    )
    assert done.returncode == 0, done.stderr
    assert "sqlite as it ships (C) · your query" in done.stdout
    assert file.read_bytes() == before
