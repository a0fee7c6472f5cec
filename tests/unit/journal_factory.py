"""Made-up but realistic runs: `python tests/unit/journal_factory.py DIR` writes one; tests bend its records."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from rowpath.engines import ENGINES
from rowpath.journal.records import SCHEMA_VERSION
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import language

BLOCK_NS = 10_000_000
SCAN_ROWS = 6_071
SCAN_PAYLOAD_BYTES = SCAN_ROWS * 120
RIGHT_DIGEST = f"{SCAN_ROWS}:4be07733a1c05d52"
Record = dict[str, Any]


@dataclass(frozen=True)
class MadePath:
    """A path with its true costs (ns/operation) by `workload.phase`."""

    name: str
    coordinates: dict[str, str]
    cost_ns: dict[str, float]
    cold_factor: float = 2.0
    between_sets: float = 0.008  # standard deviation of the logarithm, between processes
    between_blocks: float = 0.01
    client_share: float = 1.0
    converted: tuple[str, ...] = ()
    confounded: str = ""
    fault: str = ""  # wrong | untouched | failing
    label: str = ""

    @cached_property
    def path_id(self) -> str:
        """The canonical text."""
        return AccessPath.of(self.coordinates, self.label).id

    @property
    def server(self) -> bool:
        """Whether another process serves it."""
        return self.coordinates["deployment"] == "server"


def path(name: str, words: str, cost_ns: dict[str, float], **more: Any) -> MadePath:
    """`words`: engine deployment language driver [key=value …]."""
    engine, deployment, language, driver, *rest = words.split()
    coordinates = {
        "engine": engine,
        "engine_version": "1",
        "deployment": deployment,
        "language": language,
        "driver": driver,
        "version": "1",
        "statement": "none" if engine in ("null", "file") else "prepared",
        "fetch": "row",
        "result": "none",
        "transport": "none",
        "placement": "same",
        "threads": "1",
        "durability": "none",
    }
    return MadePath(name, coordinates | dict(word.split("=") for word in rest), cost_ns, **more)


def usual_paths() -> list[MadePath]:
    """Two floors and eleven contenders: one wrong, one failing, one with its own build of the engine."""

    def both(read: float, scan: float) -> dict[str, float]:
        return {"keyed.read": read, "scan.read": scan}

    return [
        path("null c", "null none c null", {"floor.null": 42}),
        path("ping c", "null server c ping transport=unix", {"floor.null": 3_300}, client_share=0.5),
        path("file c", "file file c file", {"scan.read": 1.6e6}, cold_factor=1.2),
        path("sqlite c", "sqlite embedded c sqlite", both(5_700, 2.1e6)),
        path("sqlite python", "sqlite embedded python sqlite3", both(8_900, 7.7e6)),
        path(
            "sqlite java", "sqlite embedded java sqlite-jdbc engine_version=own", both(7_000, 4.0e6), cold_factor=20,
            confounded="sqlite-jdbc carries its own SQLite 3.46.0",
        ),
        path("derby embedded", "derby embedded java derby", both(11_800, 9.3e6), cold_factor=30, between_sets=0.05),
        path(
            "libpq unix", "postgresql server c libpq transport=unix result=single-row", both(16_900, 5.2e6),
            client_share=0.3,
        ),
        path(
            "libpq tcp", "postgresql server c libpq transport=tcp result=single-row", both(17_000, 5.2e6),
            client_share=0.3,
        ),
        path(
            "psycopg tcp", "postgresql server python psycopg transport=tcp result=whole", both(61_000, 19.7e6),
            client_share=0.7, converted=("reqts",),
        ),
        path(
            "pgjdbc tcp", "postgresql server java pgjdbc transport=tcp result=cursor:1000", both(24_000, 8.8e6),
            cold_factor=25, client_share=0.5,
        ),
        path(
            "psycopg cursor", "postgresql server python psycopg transport=unix result=cursor:100", both(80_000, 25e6),
            client_share=0.6, fault="wrong",
        ),
        path("derby server", "derby server java derbyclient transport=tcp", both(51_000, 31e6), fault="failing"),
    ]  # fmt: skip


@dataclass
class Run:
    """What to make up."""

    paths: list[MadePath] = field(default_factory=usual_paths)
    sets: int = 6
    rounds: int = 15
    seed: int = 42
    groups: list[list[str]] = field(default_factory=list)  # names by group; empty: all paths in one
    anchors: tuple[str, ...] = ()
    experiment: Record = field(default_factory=dict)
    regimes: tuple[str, ...] = ("cold", "steady")
    disturbed_share: float = 0.01
    drift: float = 0.02  # of the machine's speed, from set to set, for all paths alike
    outcome: str = "complete"


def records(run: Run) -> list[Record]:
    """The journal of a run, in order."""
    return list(_Maker(run).records())


def write(directory: Path, made: list[Record]) -> Path:
    """Write a journal, its workloads completed; the run directory."""
    for name, workload in (made[0].get("workloads") or {}).items() if made else ():
        for key, value in (("name", name), ("title", name), ("tables", {})):
            workload.setdefault(key, value)
        workload["phases"] = [{"kind": "query", **phase} for phase in workload["phases"]]
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "samples.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(made))
    return directory


class _Maker:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.random = random.Random(run.seed)
        self.at_ns = 0

    def records(self) -> Iterator[Record]:
        run = self.run
        yield {
            "record": "run",
            "schema_version": SCHEMA_VERSION,
            "rowpath": "0.1.0",
            "started": "2025-11-21T11:40:03+00:00",
            "command": ["rowpath", "run", "tour", "-o", "DIR"],
            "experiment": {
                "schema_version": 1,
                "name": "tour",
                "title": "Made up",
                "phases": [],
                "paths": [],
                "measure": {"sets": run.sets, "max_sets": 0, "rounds": run.rounds, "target_half_width": 0.02},
                **run.experiment,
            },
            "options": {},
            "seed": run.seed,
            "environment": {"cpus": 2, "kernel": "6.1.0", "distribution": "Debian GNU/Linux 12 (bookworm)"},
            "methods": {
                "cpu": "clock_gettime of the process",
                "memory": "VmHWM after clear_refs",
                "proxy": "counting proxy, one untimed pass",
            },
        }
        for made in run.paths:
            comparison = f"placement={made.coordinates['placement']}"
            source = f"{made.coordinates['language']}/adapters/{made.coordinates['driver']}"
            yield {"record": "source", "file": source, "text": f"// {source}\n\tif (rows < 1) return;\n"}
            yield {
                "record": "path",
                "path_id": made.path_id,
                "name": made.name,
                "coordinates": made.coordinates | ({"label": made.label} if made.label else {}),
                "comparison": f"{comparison}, {made.confounded}" if made.confounded else comparison,
                "lines_of_code": 60 + len(made.name),
                "lines_of_code_closure": 600 + len(made.name),
                "confounded": made.confounded,
                "converted": "",
                "shortest_operation_ns": language(made.coordinates["language"]).shortest_operation_ns,
                "lead_in_least_ns": language(made.coordinates["language"]).lead_in_least_ns,
                "durabilities": list(ENGINES[made.coordinates["engine"]].durabilities),
                "source": source,
                "language_title": language(made.coordinates["language"]).title,
                "language_baseline": language(made.coordinates["language"]).baseline,
            }
        yield {
            "record": "dropped",
            "coordinates": {"engine": "postgresql", "deployment": "server", "language": "java", "driver": "pgjdbc"},
            "name": "pgjdbc 42.6.0",
            "reason": "no JDK 17 was found",
            "remedy": "apt-get install openjdk-17-jdk-headless",
            "status": "unsupported",
        }  # fmt: skip
        for made in run.paths:
            yield from self._counts(made)
        for number in range(run.sets):
            for group, names in enumerate(run.groups or [[made.name for made in run.paths]]):
                yield from self._set(number, group, [made for made in run.paths if made.name in names])
                yield {"record": "set-end", "set": number, "batch": group}
        if run.outcome:
            yield {"record": "end", "outcome": run.outcome}

    def _counts(self, made: MadePath) -> Iterator[Record]:
        if made.coordinates["transport"] != "tcp":
            return
        for phase in made.cost_ns:
            rows, operations = _rows(phase), 10 if phase.startswith("scan") else 100
            size = made.coordinates["result"]
            trips = -(-rows // int(size.partition(":")[2])) + 1 if size.startswith("cursor") and rows > 1 else 1
            yield {
                "record": "counted", "path_id": made.path_id, **_where(phase), "operations": operations,
                "round_trips": trips * operations, "bytes_sent": 30 * trips * operations,
                "bytes_received": (40 + 130 * rows) * operations, "payload_bytes": 120 * rows * operations,
                "method": "counting proxy",
            }  # fmt: skip

    def _set(self, number: int, group: int, members: list[MadePath]) -> Iterator[Record]:
        yield {
            "record": "set", "set": number, "batch": group, "path_ids": [made.path_id for made in members],
            "anchors": [made.path_id for made in members if made.name in self.run.anchors],
        }  # fmt: skip
        yield self._noise(number, "before")
        for made in members:
            self.at_ns += 50_000_000
            yield {
                "record": "worker", "set": number, "path_id": made.path_id, "pid": self.random.randrange(9000),
                "hello": {"language": made.coordinates["language"], "clock_read_ns": 20.0}, "connect_ns": 800_000,
                "started_ns": self.at_ns,
            }  # fmt: skip
        speed = self.random.gauss(0, self.run.drift)
        own = {made.path_id: speed + self.random.gauss(0, made.between_sets) for made in members}
        for phase in dict.fromkeys(phase for made in members for phase in made.cost_ns):
            serving = [made for made in members if phase in made.cost_ns]
            for made in serving:
                yield from self._first_pass(number, made, phase, own[made.path_id])
            if "steady" not in self.run.regimes:
                continue
            for turn in range(self.run.rounds):
                for made in self.random.sample(serving, len(serving)):
                    if made.fault != "failing":
                        yield from self._block(number, turn, made, phase, own[made.path_id])
            for made in serving:
                peak = 30e6 if made.coordinates["language"] != "c" else 4e6
                held = SCAN_PAYLOAD_BYTES if made.coordinates["result"] == "whole" and _rows(phase) > 1 else 0
                yield {
                    "record": "memory", "set": number, "path_id": made.path_id, **_where(phase),
                    "client_peak_bytes": int(peak + held + self.random.randrange(40_000)),
                    "server_peak_bytes": 11_000_000 if made.server else None, "method": "VmHWM after clear_refs",
                }  # fmt: skip
        yield self._noise(number, "after")

    def _first_pass(self, number: int, made: MadePath, phase: str, level: float) -> Iterator[Record]:
        at = {"set": number, "path_id": made.path_id, **_where(phase)}
        if made.fault == "failing":
            text = "connection refused at 127.0.0.1:1527"
            yield {"record": "failure", **at, "status": "failed", "kind": "connect", "code": "08001", "text": text}
            return
        null = made.coordinates["engine"] == "null"
        if "cold" in self.run.regimes and not null:
            yield {"record": "prepare", **at, "prepare_ns": 90_000, "cold": True}
            cost = self._cost(made, phase, level) * made.cold_factor
            yield self._sample(at, "cold", 0, made, phase, cost, 1 if phase.startswith("scan") else 1000)
        wrong = made.fault == "wrong" and phase.startswith("scan")
        if not null:
            yield {
                "record": "verify", **at, "digest": f"{SCAN_ROWS - 1}:9f3177aa00c2be01" if wrong else RIGHT_DIGEST,
                "expected": RIGHT_DIGEST, "ok": not wrong, "rows": SCAN_ROWS - wrong,
                "delivered": ["text"], "converted": list(made.converted),
            }  # fmt: skip
        cost = self._cost(made, phase, level)
        yield {
            "record": "warm", **at, "operations": int(4e8 / cost), "ns": 400_000_000,
            "shape": "warm-up" if made.coordinates["language"] == "java" else "flat",
            "first_block_ns_per_operation": cost * made.cold_factor, "last_block_ns_per_operation": cost,
        }  # fmt: skip

    def _cost(self, made: MadePath, phase: str, level: float) -> float:
        return made.cost_ns[phase] * math.exp(level + self.random.gauss(0, made.between_blocks))

    def _block(self, number: int, turn: int, made: MadePath, phase: str, level: float) -> Iterator[Record]:
        at = {"set": number, "path_id": made.path_id, **_where(phase)}
        cost = self._cost(made, phase, level)
        operations = max(1, round(BLOCK_NS / cost))
        if self.random.random() < self.run.disturbed_share:
            worse = cost * self.random.uniform(1.3, 2)
            yield self._sample(at, "steady", turn, made, phase, worse, operations) | {
                "disturbed": "CPU coverage under 0.95", "cpu_coverage": 0.7,
            }  # fmt: skip
        yield self._sample(at, "steady", turn, made, phase, cost, operations)

    def _sample(
        self, at: Record, regime: str, turn: int, made: MadePath, phase: str, cost: float, operations: int
    ) -> Record:
        lead_in = 0 if regime == "cold" else max(1, operations // 10)
        ns = int(cost * operations)
        window = int(cost * (operations + lead_in))
        self.at_ns += window + 300_000
        rows = _rows(phase) if made.coordinates["engine"] != "null" else 0
        touched = not (made.fault == "untouched" and phase.startswith("scan"))
        return {
            "record": "sample", **at, "regime": regime, "round": turn, "at_ns": self.at_ns - window,
            "ns": ns, "operations": operations, "failed": 0, "failure": None, "rows": rows * operations,
            "values": 7 * rows * operations, "touch": "00000000000000aa" if touched else "0000000000000000", "first": 0,
            "lead_in_operations": lead_in, "window_ns": window, "window_cpu_ns": int(window * made.client_share),
            "cpu_ns": int(ns * made.client_share), "min_ns": int(cost * 0.9), "max_ns": int(cost * 2),
            "execute_ns": 0, "first_row_ns": 0, "connect_ns": 0,
            "client_cpu_ns": int(window * made.client_share * 0.998),
            "server_cpu_ns": int(window * (1 - made.client_share) * 0.998) if made.server else None,
            "wait_ns": int(window * 0.001), "cpu_coverage": 0.998, "disturbed": "",
            "touch_ok": None if rows == 0 else touched, "expected_touch": ["00000000000000aa"],
        }  # fmt: skip

    def _noise(self, number: int, when: str) -> Record:
        return {
            "record": "noise", "set": number, "when": when, "pressure_some_us": self.at_ns // 100_000,
            "steal_ticks": 0, "spin_gap_max_ns": 40_000, "spin_gap_share": 0.002,
        }  # fmt: skip


def _where(phase: str) -> Record:
    workload, _, name = phase.partition(".")
    return {"workload": workload, "phase": name}


def _rows(phase: str) -> int:
    return {"scan.read": SCAN_ROWS, "keyed.read": 1}.get(phase, 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/unit/journal_factory.py DIR")
    print(write(Path(sys.argv[1]), records(Run())))
