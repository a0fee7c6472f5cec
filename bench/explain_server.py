"""`rowpath explain` on a server that nothing pins: whether hops and sum agree, and the server's part is known."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.machine import cpus

LEAST, MOST = 0.9, 1.1  # hops ÷ sum
KNOWN_BAR = 0.9  # of the runs
RUNS = int(os.environ.get("ROWPATH_BENCH_RUNS", "10"))
DRIVER = "libpq"
TABLES = (
    "CREATE TABLE item (id bigint PRIMARY KEY, kind int NOT NULL, name text NOT NULL)",
    "INSERT INTO item SELECT g, g % 50, 'item ' || g FROM generate_series(1, 100000) AS g",
    "CREATE TABLE wide (id int PRIMARY KEY, body text NOT NULL)",
    "INSERT INTO wide SELECT g, (SELECT string_agg(md5((g * i)::text), ' ') FROM generate_series(1, 600) AS i) "
    "FROM generate_series(1, 200) AS g",
    "ANALYZE item",
    "ANALYZE wide",
)
QUERIES = {
    "keyed read": ("SELECT id, name FROM item WHERE id = $1", "--param", "bigint:4711"),
    "scan": ("SELECT id, kind, name FROM item",),
    "aggregate": ("SELECT kind, count(*) AS n, max(reverse(name)) AS last FROM item GROUP BY kind",),
    "wide rows": ("SELECT id, body FROM wide",),
    "join": ("SELECT w.id, count(*) AS n FROM wide AS w JOIN item AS i ON i.id % 200 = w.id GROUP BY w.id",),
}


def measure(bench: Bench) -> Iterator[Figure]:
    """Of each query the ratio of hops and sum, and the share of runs in which the server's part is known."""
    folder = bench.directory / "server"
    instance = ENGINES["postgresql"].instance("server", "none", Place(folder, folder, cpus.usable()))
    instance.start()
    try:
        worker = bench.worker(bench.path("c", DRIVER, "shop.keyed.read", transport="tcp"), instance)
        worker.run(list(TABLES))
        options = instance.options(worker.planned.path)
        worker.close()
        where = f"127.0.0.1:{options['port']}/{options['database']}"
        url = f"postgresql://{options['user']}@{where}?sslmode=disable"
        environment = os.environ | {"ROWPATH_PROBE_PASSWORD": str(options["password"])}
        for name, (sql, *parameters) in QUERIES.items():
            found = [
                explained(bench, f"{name} {number}", environment, url, "--query", sql, *parameters)
                for number in range(RUNS)
            ]
            yield from figures(name, found)
    finally:
        instance.stop()


def explained(bench: Bench, name: str, environment: dict[str, str], *words: str) -> dict[str, Any]:
    """What one `rowpath explain` of the driver finds."""
    run = bench.directory / name.replace(" ", "-")
    command = [sys.executable, "-m", "rowpath", "explain", *words, f"driver={DRIVER}", "--no-flame", "-q", "-b", "2"]
    done = subprocess.run([*command, "-o", str(run)], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    one: dict[str, Any]
    (one,) = json.loads((run / "explanation.json").read_text(encoding="utf-8"))
    return one


def figures(name: str, found: list[dict[str, Any]]) -> Iterator[Figure]:
    """The two rows of a query."""
    ratios = [one["hops"]["mean_ns"] / one["operation_ns"] for one in found if one["hops"]]
    agree = len(ratios) == len(found) and min(ratios) >= LEAST and max(ratios) <= MOST
    value = f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "none known"
    yield Figure(f"{name}: hops ÷ sum", f"{value} in {len(ratios)} of {len(found)} runs", f"{LEAST} to {MOST}", agree)
    known = [one["server_says"]["ns"] / one["operation_ns"] for one in found if one["server_says"]["ns"] is not None]
    middle = f", median {statistics.median(known):.2f}, at most {max(known):.2f}" if known else ""
    yield Figure(
        f"{name}: server ÷ operation",
        f"known in {len(known)} of {len(found)} runs{middle}",
        f"at most 1, known in {KNOWN_BAR:.0%}",
        len(known) >= KNOWN_BAR * len(found) and max(known) <= 1,
    )
