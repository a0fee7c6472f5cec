"""The records of a run over several hosts: what each host is, its clock, and the ways between them."""

from __future__ import annotations

from typing import Any

import msgspec

from rowpath.journal.record_base import Record


class HostRecord(Record, tag="host"):
    """One host as it was found before the run."""

    name: str = ""
    address: str = ""
    roles: list[str] = []
    measured_cpus: list[int] = []
    helper_cpus: list[int] = []  # of all that is not measured there
    mtu: int = 0  # of the interface, in bytes; 0: not known
    environment: dict[str, Any] = {}
    note: str = ""  # what shares cores with what is measured; empty: nothing
    methods: dict[str, str] = {}  # by resource, as those of a run


class ClockRecord(Record, tag="clock"):
    """A host's monotonic clock less the controller's; the truth lies within the bound."""

    host: str = ""
    when: str = ""  # before, after
    offset_ns: int = 0
    bound_ns: int = 0
    method: str = ""


class RoundTrip(msgspec.Struct):
    """Round trips with an answer of this many bytes: 10th percentile, median, 90th percentile."""

    bytes: int
    trips: int
    low_ns: int
    median_ns: int
    high_ns: int


class WayRecord(Record, tag="way"):
    """The way from a client's host to a server's: the floor of every path between them."""

    client: str = ""
    server: str = ""
    when: str = ""
    offset_ns: int = 0  # the server's clock less the client's
    bound_ns: int = 0
    round_trips: list[RoundTrip] = []
    to_server_bytes_per_s: float = 0
    from_server_bytes_per_s: float = 0
    method: str = ""


AnyHostRecord = HostRecord | ClockRecord | WayRecord
