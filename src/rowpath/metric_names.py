"""The names of metrics, each with its unit."""

from __future__ import annotations

UNITS = {
    "time": "ns/operation",
    "rate": "operations/s",
    "row_rate": "rows/s",
    "execute": "ns/operation",
    "first_row": "ns/operation",
    "rest": "ns/operation",
    "connect": "ns/operation",
    "bytes_drained": "bytes/operation",
    "client_cpu": "ns/operation",
    "server_cpu": "ns/operation",
    "cpu": "ns/operation",
    "fairness": "Jain's index",
    "speed_up": "ratio",
    "efficiency": "ratio",
    "prepare": "ns",
    "warm_up": "operations",
    "warm_up_time": "ns",
    "client_peak_memory": "bytes",
    "server_peak_memory": "bytes",
    "deferred": "ns",
    "disk_written": "bytes",
    "round_trips": "round trips/operation",
    "bytes_sent": "bytes/operation",
    "bytes_received": "bytes/operation",
    "syncs": "syncs/operation",
    "commits": "commits/operation",
    "texts_sent": "SQL texts/operation",
    "prepares": "prepares/operation",
    "executes": "executes/operation",
    "system_calls": "system calls/operation",
    "lines_of_code": "lines",
}
MORE_IS_BETTER = ("rate", "row_rate")
PROVEN = (
    "round_trips",
    "bytes_sent",
    "bytes_received",
    "syncs",
    "commits",
    "texts_sent",
    "prepares",
    "executes",
    "system_calls",
)
