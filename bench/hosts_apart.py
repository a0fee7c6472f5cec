"""How exact clocks and common starts of several hosts are: three hosts in namespaces, whose clocks are known.

A time namespace moves a host's monotonic clock by a known amount, and nothing else does: the truth.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from tests.hosts import lab
from tests.hosts.lab import Lab

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.errors import RowpathError
from rowpath.hosts import setup
from rowpath.journal import reader
from rowpath.journal.mixed_load_records import HostsStartRecord, HostStart
from rowpath.journal.records import ClockRecord

EXPERIMENT = Path(__file__).parent / "hosts_apart.toml"
SKEW_BAR_NS = 1_000_000
S = 1_000_000_000


def measure(bench: Bench) -> Iterator[Figure]:
    """Errors of clocks against their bounds, the bounds against the way, and the skew of common starts."""
    if reason := lab.missing() or ("" if setup.is_here() else "Ray is not here"):
        yield Figure("hosts apart", reason, "", None)
        return
    with lab.in_namespaces(bench.directory) as hosts:
        hosts.up()
        directory = bench.directory / "run"
        done = hosts.rowpath("run", str(EXPERIMENT), "--hosts", str(hosts.file), "-o", str(directory), timeout_s=600.0)
        if done.returncode != 0:
            raise RowpathError(done.stderr[-400:])
        records = reader.read(directory)
        starts = [start for record in records.all(HostsStartRecord) for start in record.starts]
        yield from clocks(hosts, records.all(ClockRecord), starts)
        yield skews(records.all(HostsStartRecord))


def clocks(hosts: Lab, records: list[ClockRecord], starts: list[HostStart]) -> Iterator[Figure]:
    """Every exchange of the run: how far the offset was from the truth, and what was said of it."""
    said = [(each.host, each.offset_ns, each.bound_ns) for each in records]
    said += [(each.host, each.offset_ns, each.bound_ns) for each in starts]
    errors = [(abs(offset - hosts.offsets_s[host] * S), bound) for host, offset, bound in said]
    wrong = sum(error > bound for error, bound in errors)
    yield Figure(
        "hosts apart: clock offsets further from the truth than their bound",
        f"{wrong} of {len(errors)}; worst error {max(errors)[0] / 1e3:.1f} µs",
        "none",
        not wrong,
    )
    middle, worst = statistics.median(bound for _error, bound in errors), max(bound for _error, bound in errors)
    yield Figure(
        "hosts apart: bound of an offset", f"median {middle / 1e3:.1f} µs, worst {worst / 1e3:.1f} µs", "", None
    )


def skews(records: list[HostsStartRecord]) -> Figure:
    """Common starts of a client group: the furthest apart that two hosts can have begun, what is not known included."""
    found = [worst_ns(grouped) for record in records for grouped in by_group(record.starts)]
    worst = max(found)
    value = f"worst {worst / 1e3:.0f} µs, median {statistics.median(found) / 1e3:.0f} µs, {len(found)} starts"
    return Figure("hosts apart: skew of a common start, with its bound", value, "at most 1 ms", worst <= SKEW_BAR_NS)


def by_group(starts: list[HostStart]) -> Iterator[list[HostStart]]:
    """Those of one client group, on several hosts."""
    for name in dict.fromkeys(each.client_group for each in starts):
        together = [each for each in starts if each.client_group == name and each.late_ns is not None]
        if len(together) > 1:
            yield together


def worst_ns(together: list[HostStart]) -> int:
    """The skew of one start and its bound."""
    late = [each.late_ns or 0 for each in together]
    return max(late) - min(late) + sum(sorted(each.bound_ns for each in together)[-2:])
