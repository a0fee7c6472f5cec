"""What emulated links do against what was asked of them: the rate each way, and the delay that a round trip has more.

Nobody else may use the cores: a busy machine lengthens every wake-up, and the link is not to blame.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.execution import emulated_link
from rowpath.journal.records import LinkRecord
from rowpath.text import bit_rate, duration

LINKS = ("1ms", "25ms", "5ms@10mbit", "25ms@100mbit", "100ms@100mbit", "5ms@1gbit")
PLACEMENT = "same"
RATE_WITHIN, DELAY_WITHIN = 0.02, 0.05


def measure(bench: Bench) -> Iterator[Figure]:
    """Delay and rates of a handful of links, as every run measures its own."""
    for number, value in enumerate(LINKS):
        record = emulated_link.measure(value, PLACEMENT, bench.directory / f"link-{number}")
        yield _delay(record)
        if record.stated_bytes_per_s:
            yield _rate(record, "to the server", record.rate_bytes_per_s)
            yield _rate(record, "from the server", record.rate_back_bytes_per_s)


def _delay(record: LinkRecord) -> Figure:
    added = record.round_trip_ns - record.direct_ns
    off = added / record.stated_ns - 1
    value = f"{duration(added)} for {duration(record.stated_ns)}, {off:+.1%}"
    return Figure(f"link={record.link}: delay", value, f"±{DELAY_WITHIN:.0%}", abs(off) <= DELAY_WITHIN)


def _rate(record: LinkRecord, way: str, measured: float) -> Figure:
    off = measured / record.stated_bytes_per_s - 1
    value = f"{bit_rate(measured)} for {bit_rate(record.stated_bytes_per_s)}, {off:+.2%}"
    return Figure(f"link={record.link}: rate {way}", value, f"±{RATE_WITHIN:.0%}", abs(off) <= RATE_WITHIN)
