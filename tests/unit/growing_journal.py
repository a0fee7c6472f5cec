"""A made-up run of any number of paths and sets, with all that grows with them: how analysis grows is measured on it.

Its paths are versions of a few kinds: floors, readers and writers, cursors of several sizes, both placements and
statement modes, and paths that fail or deliver wrong rows. Versions share no set, only anchors, as in real large runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.unit import journal_factory
from tests.unit.journal_factory import MadePath, Record, path

READ, SCAN, SUM, WRITE = "keyed.read", "scan.read", "scan.sum", "keyed.insert"
ANCHORS = ("null c", "libpq anchor")
ROUNDS = 4
COUNTED = 100  # operations of each counted phase
WORKLOADS: Record = {
    "keyed": {
        "phases": [
            {"name": "read", "sql": "SELECT 1", "transaction": "autocommit"},
            {"name": "insert", "kind": "execute", "sql": "INSERT 1", "writes": True, "operations": 1000},
        ]
    },
    "scan": {
        "phases": [
            {"name": "read", "scan": True, "table": "hits", "expected": "whole-table"},
            {"name": "sum", "table": "hits", "expected": "aggregate"},
        ]
    },
}
EXPERIMENT: Record = {
    "claims": [
        {
            "id": "python",
            "claim": "Python takes at least twice the time of C.",
            "check": {
                "kind": "ratio", "metric": metric, "regime": "steady", "workload": "keyed", "phase": phase,
                "numerator": {"language": "python"}, "denominator": {"language": "c"}, "at_least": 2.0,
            },
        }
        for phase, metric in (("read", "time"), ("insert", "deferred"), ("read", "client_peak_memory"))
    ],
}  # fmt: skip


def records(paths: int, sets: int) -> list[Record]:
    """The journal of a run with this many paths, floors and anchors aside, in this many sets."""
    common = _common()
    contenders = _contenders(paths)
    names = [made.name for made in common]
    kinds = len(_kinds(0))
    batches = [contenders[at : at + kinds] for at in range(0, paths, kinds)]
    run = journal_factory.Run(
        paths=[*common, *contenders],
        sets=sets,
        rounds=ROUNDS,
        groups=[
            [*(names if not number else ANCHORS), *(made.name for made in batch)]
            for number, batch in enumerate(batches)
        ],
        anchors=ANCHORS,
        experiment=EXPERIMENT,
    )
    made = journal_factory.records(run)
    made[0]["workloads"] = WORKLOADS
    return list(_completed(made, {each.path_id: each for each in run.paths}))


def _common() -> list[MadePath]:
    """Floors, and the anchors that stand in every batch."""
    return [
        path("null c", "null none c null", {"floor.null": 42}),
        path("null python", "null none python null", {"floor.null": 90}),
        path("ping tcp", "null server c ping transport=tcp", {"floor.null": 3_300}, client_share=0.5),
        path("libpq anchor", "postgresql server c libpq transport=tcp result=single-row version=0", _costs(17_000)),
        path("libpq sums", "postgresql server c libpq transport=tcp version=0 result=whole", {SUM: 1e6}),
    ]


def _contenders(paths: int) -> list[MadePath]:
    found: list[MadePath] = []
    while len(found) < paths:
        found += _kinds(1 + len(found) // len(_kinds(0)))
    return found[:paths]


def _costs(read_ns: float) -> dict[str, float]:
    return {READ: read_ns, SCAN: 300 * read_ns, WRITE: 2 * read_ns}


def _kinds(version: int) -> list[MadePath]:
    """One version of every kind of path, each with a cost of its own."""
    pg = "postgresql server"

    def made(words: str, read_ns: float, **more: Any) -> MadePath:
        costs = {SCAN: 300 * read_ns} if "drain" in words else _costs(read_ns)
        factor = 1 + 0.013 * ((7 * version) % 40)
        costs = {phase: cost * factor for phase, cost in costs.items()}
        return path(f"{words} {version}", f"{words} version={version}", costs, **more)

    return [
        made("sqlite embedded c sqlite thread=main", 5_900),
        made("sqlite embedded c sqlite thread=worker", 5_700),
        made("sqlite embedded python sqlite3", 8_900),
        made("derby embedded java derby", 11_800, cold_factor=0.5, between_sets=0.05),
        made(f"{pg} c libpq transport=unix result=single-row", 16_900, client_share=0.3),
        made(f"{pg} c libpq transport=tcp result=single-row statement=bound", 27_000, client_share=0.3),
        made(f"{pg} c libpq transport=tcp result=single-row placement=split", 30_000, client_share=0.3),
        made(f"{pg} c libpq transport=tcp result=single-row", 17_000, client_share=0.3),
        made(f"{pg} c drain transport=tcp fetch=drain", 9_000),
        made(f"{pg} python psycopg transport=tcp result=cursor:100", 64_000, client_share=0.7, converted=("reqts",)),
        made(f"{pg} python psycopg transport=tcp result=cursor:1000", 62_000, client_share=0.7),
        made(f"{pg} python psycopg transport=tcp result=cursor:10000", 61_000, client_share=0.7),
        made(f"{pg} java pgjdbc transport=tcp result=cursor:1000", 24_000, cold_factor=25, client_share=0.5),
        made(f"{pg} java pgjdbc transport=tcp result=cursor:1000 placement=split", 36_000, client_share=0.5),
        made(f"{pg} python psycopg transport=unix result=whole", 60_000, client_share=0.6, fault="wrong"),
        made(f"{pg} c libpq transport=unix result=whole", 15_000, fault="untouched"),
        made("derby server java derbyclient transport=tcp", 51_000, fault="failing"),
    ]


def _completed(made: list[Record], paths: dict[str, MadePath]) -> Iterator[Record]:
    """With what the usual made-up run leaves out: settling, commits and syncs, and the facts of connections."""
    for record in made:
        each = dict(record)
        writes = f"{record.get('workload')}.{record.get('phase')}" == WRITE
        if record["record"] == "worker":
            own = paths[record["path_id"]].coordinates
            settings = {"autocommit": "off" if own["driver"] == "psycopg" else "on", "tls": "off"}
            each["facts"] = {"driver_version": own["version"], "engine_version": "1", "settings": settings}
        elif record["record"] == "counted":
            each |= {"texts_sent": COUNTED if "bound" in record["path_id"] else 0, "commits": COUNTED}
            each |= {"syncs": COUNTED, "payload_bytes": 0} if writes else {}
        yield each
        if record["record"] == "memory" and writes:
            at = {key: record[key] for key in ("set", "path_id", "workload", "phase")}
            yield {"record": "settle", **at, "ns": 40_000_000, "bytes_written": 1 << 20, "method": "checkpoint"}
