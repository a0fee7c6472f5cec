"""What emulated links do against what was asked of them: the rate each way, and the delay that a round trip has more.

Nobody else may use the cores: a busy machine lengthens every wake-up.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.execution import emulated_link
from rowpath.journal.records import LinkRecord
from rowpath.machine.counters.core_users import OtherPrograms
from rowpath.text import bit_rate, duration

LINKS = ("1ms", "25ms", "5ms@10mbit", "25ms@100mbit", "100ms@100mbit", "5ms@1gbit")
PLACEMENT = "same"
RATE_WITHIN, DELAY_WITHIN = 0.02, 0.05


def measure(bench: Bench) -> Iterator[Figure]:
    """Delay and rates of a handful of links, as every run measures its own."""
    for number, value in enumerate(LINKS):
        others = OtherPrograms()
        record = emulated_link.measure(value, PLACEMENT, bench.directory / f"link-{number}")
        busy = others.busy()
        added, stated = record.round_trip_ns - record.direct_ns, record.stated_bytes_per_s
        text = f"{duration(added)} for {duration(record.stated_ns)}"
        yield _figure(record, "delay", text, added / record.stated_ns - 1, DELAY_WITHIN, busy)
        rates = {"to the server": record.rate_bytes_per_s, "from the server": record.rate_back_bytes_per_s}
        for way, rate in rates.items() if stated else ():
            text = f"{bit_rate(rate)} for {bit_rate(stated)}"
            yield _figure(record, f"rate {way}", text, rate / stated - 1, RATE_WITHIN, busy)


def _figure(record: LinkRecord, what: str, text: str, off: float, within: float, busy: str) -> Figure:
    """What is off beside other programs is nobody's fault."""
    met = True if abs(off) <= within else None if busy else False
    value = f"{text}, {off:+.2%}" + (f"; {busy}" if met is None else "")
    return Figure(f"link={record.link}: {what}", value, f"±{within:.0%}", met)
