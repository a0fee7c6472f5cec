"""Made-up runs of groups at work at once, every number known; tests bend their records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rowpath.model.histogram import index_of
from tests.unit import journal_factory as factory
from tests.unit.journal_factory import MadePath, Record

S = 1_000_000_000
READ, WRITE = "library.read", "library.write"
PHASES = {"readers": READ, "writers": WRITE}
# Successful operations of a stage of four seconds by deployment; the backup takes the last three of them.
DONE = {
    "embedded": {"readers": 4_000, "writers": 2_000},
    "server": {"readers": 2_000, "writers": 2_000},
}
IN_BACKUP = {"readers": 1.0, "writers": 0.32}  # the share of the rate that is left within one
# What the sets differ by, the same for both paths and stages: ratios within a set are exact.
SPEED = (1.0, 1.25, 0.8, 1.0, 1.25, 0.8)
SECONDS = 4
BYTES = 500  # of each operation on a connection


def usual_paths() -> list[MadePath]:
    """The same engine embedded and behind its server."""
    more = "durability=full backup=procedure processes=shared placement=free"
    return [
        factory.path("embedded", f"derby embedded java derby {more}", {}),
        factory.path("server", f"derby server java derby transport=tcp {more}", {}),
    ]


def records(sets: int = 6, experiment: Record | None = None, bend: dict[str, Any] | None = None) -> list[Record]:
    """A run of two stages, `together` and `with a backup`; `bend` goes into every `group` record."""
    experiment = {"name": "groups", "client_groups": [{"name": "readers"}]} | (experiment or {})
    made = factory.records(factory.Run(paths=usual_paths(), sets=0, experiment=experiment))
    end = made.pop()
    for number in range(sets):
        for position, path in enumerate(usual_paths()):
            made.append({"record": "set", "set": number, "batch": position, "path_ids": [path.path_id], "anchors": []})
            zero = (1 + 100 * number + 20 * position) * S
            at = {"set": number, "path_id": path.path_id}
            made += _stage(at, path, "together", zero, SPEED[number % len(SPEED)], bend or {}, backup=False)
            made += _stage(at, path, "with a backup", zero + 6 * S, SPEED[number % len(SPEED)], bend or {}, backup=True)
            told = {"when": "end", "stage": "with a backup", "rows": 20_000, "writes": 580, "lost": 0, "doubled": 0}
            made.append({"record": "acknowledged", **at, **told, "in_doubt": 1, "digest": "d", "ok": True})
            made.append({"record": "set-end", "set": number, "batch": position})
    return [*made, end]


def _stage(
    at: Record, path: MadePath, name: str, zero: int, speed: float, bend: dict[str, Any], backup: bool
) -> Iterator[Record]:
    done = {group: count * speed for group, count in DONE[path.coordinates["deployment"]].items()}
    usual = {"clients": 1, "pacing": "closed"}
    groups = [{"client_group": group, "phase": PHASES[group], "action": "", **usual, "process": 0} for group in done]
    groups += [{"client_group": "backup", "phase": "", "action": "backup"}] if backup else []
    at = {**at, "stage": name}
    yield {"record": "stage", **at, "at_ns": zero, "seconds": SECONDS, "client_groups": groups}
    totals = dict.fromkeys(done, 0)
    for second in range(SECONDS):
        counts = {
            group: round(count / SECONDS * (IN_BACKUP[group] if backup and second else 1))
            for group, count in done.items()
        }
        for group, count in counts.items():
            totals[group] += count
        yield {"record": "second", **at, "at_ns": zero + (second + 1) * S, "ns": S, **_second(path, counts)}
    for group, count in totals.items():
        each = 1_000_000 if group == "readers" else 10_000_000
        yield {
            "record": "client-group", **at, "client_group": group, "phase": PHASES[group], **usual,
            "requested_per_s": None,
            "begun_ns": zero, "ended_ns": zero + SECONDS * S, "operations": count, "failed": 0, "failures": [],
            "rows": count if group == "readers" else 0, "values": None, "touch_ok": True,
            "service": {str(index_of(each)): count - 1, str(index_of(40 * each)): 1}, "latency": {}, "lateness": {},
            "arrivals": 0, "not_begun": 0, "reached": True, "cpu_ns": 20_000 * count, "longest_stall_ns": 40 * each,
            "cut": False, **bend,
        }  # fmt: skip
    if backup:
        span = 3 * S
        inside = {g: {"ns": span, "operations": round(done[g] * IN_BACKUP[g] / SECONDS) * 3} for g in done}
        yield {
            "record": "backup", **at, "client_group": "backup", "number": 1, "way": "procedure", "begun_ns": zero + S,
            "ended_ns": zero + S + span, "ok": True, "reason": "", "kept_bytes": 1_000_000, "inside": inside,
            "restored": True, "checked": {"tables": 2, "rows": 5, "writes": 9, "lost": 0, "doubled": 0},
        }  # fmt: skip


def _second(path: MadePath, counts: dict[str, int]) -> Record:
    all_of_them = sum(counts.values())
    client = {"cpu_ns": 10_000 * all_of_them, "memory_bytes": 5_000, "read_bytes": 0, "written_bytes": 4_096}
    return {
        "client_groups": {
            group: {
                "operations": count, "failed": 0, "rows": 0, "arrivals": 0, "mean_ns": 5.0, "p50_ns": 4, "p99_ns": 9,
                "most_ns": 10, "under_way_ns": 3,
            }
            for group, count in counts.items()
        },
        "processes": {"client": client} | ({"server": client} if path.server else {}),
        "connections": {"sent_bytes": 100 * all_of_them, "received_bytes": (BYTES - 100) * all_of_them}
        if path.server
        else None,
    }  # fmt: skip


def of(made: list[Record], record: str, **where: Any) -> list[Record]:
    """The records of one kind with these fields."""
    return [
        each
        for each in made
        if each["record"] == record and all(each.get(key) == value for key, value in where.items())
    ]
