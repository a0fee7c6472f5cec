"""The hosts of a run as a reader sees them: what each is, its clock, and the ways between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rowpath import text
from rowpath.analysis.chapters.mixed_load import MixedLoadReport
from rowpath.journal.reader import Records
from rowpath.journal.records import ClockRecord

LISTED = 4  # ways in a line
SHOWN = ("processor", "kernel", "distribution", "python")


def hosts(journal: Records) -> list[dict[str, Any]]:
    """A row for each host; a clock's move is from before the run to after it."""
    return [
        {
            "host": name,
            "address": host.address,
            "roles": ", ".join(host.roles),
            **{key: host.environment.get(key, "") for key in SHOWN},
            "measured on CPU": ", ".join(map(str, host.measured_cpus)),
            "helpers on CPU": ", ".join(map(str, host.helper_cpus)),
            "MTU": host.mtu or "",
            **_clock({clock.when: clock for clock in journal.clocks if clock.host == name}),
            **({"one sync": text.duration(cost.ns)} if (cost := journal.sync_costs.get(name)) else {}),
            "note": "; ".join(filter(None, [host.note, *missing(host.methods)])),
        }
        for name, host in journal.hosts.items()
    ]


def missing(methods: Mapping[str, str]) -> list[str]:
    """The resources that cannot be measured on a host with these methods, each with the reason."""
    return [f"{what}: {method}" for what, method in methods.items() if method.startswith("unavailable")]


def _clock(clocks: dict[str, ClockRecord]) -> dict[str, str]:
    before, after = clocks.get("before"), clocks.get("after")
    if before is None:
        return {}
    within = f"±{text.duration(before.bound_ns)}"
    clock = {"clock less the controller's": text.offset(before.offset_ns), "within": within}
    if after is not None:
        bound = text.duration(before.bound_ns + after.bound_ns)
        clock["moved during the run"] = f"{(after.offset_ns - before.offset_ns) / 1000:+.1f} µs ±{bound}"
    return clock


def ways(journal: Records) -> list[dict[str, Any]]:
    """A row for each pair of hosts, before and after the run, by size of the answer."""
    return [
        {
            "from": way.client,
            "to": way.server,
            "when": way.when,
            "answer": text.size(trip.bytes),
            "round trip": text.duration(trip.median_ns),
            "10th to 90th percentile": f"{text.duration(trip.low_ns)} to {text.duration(trip.high_ns)}",
            "rate there": f"{text.size(way.to_server_bytes_per_s)}/s",
            "rate back": f"{text.size(way.from_server_bytes_per_s)}/s",
        }
        for way in journal.ways
        for trip in way.round_trips
    ]


def starts_line(report: MixedLoadReport | None) -> str:
    """How closely hosts began together, in a line; empty where no group was spread over several."""
    if report is None or not report.starts:
        return ""
    worst = max(report.starts, key=lambda start: start.skew_ns)
    late = "; one began late" if any(start.lead_ns <= 0 for start in report.starts) else ""
    hosts, skew = text.listed(worst.hosts), text.duration(worst.skew_ns)
    return f"clients on {hosts} began within {skew} ±{text.duration(worst.bound_ns)} of each other{late}"


def line(rows: list[dict[str, Any]]) -> str:
    """The ways in a line, of rows as `ways` makes them: a round trip of the least answer, and the rates."""
    first: dict[str, str] = {}
    for row in rows:
        rates = f"round trip {row['round trip']}, {row['rate there']} there, {row['rate back']} back"
        first.setdefault(f"{row['from']} → {row['to']}", rates)
    shown = [f"{pair}: {rates}" for pair, rates in first.items()]
    if len(shown) > LISTED:
        shown[2:] = [f"{len(shown) - 2} more ways are on the page"]
    return "; ".join(shown)
