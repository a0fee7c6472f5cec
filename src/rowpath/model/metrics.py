"""Every metric, one record each; with the place that computes it, a record is all that a metric takes."""

from __future__ import annotations

from typing import Literal

from rowpath.model.base import Frozen

Category = Literal["blocks", "phase", "memory", "counted", "code", "group"]
Part = Literal["choose", "panel", "costs", "effort"]

CLOCK = "the runner's own monotonic clock"
CONTROLLER = "the controller's monotonic clock"
IN_PARTS = "ratio of times to the same path with one client"
WARMED = "operations until windows are flat within 10 %"
BYTES = ("bytes", "proxy")
CONNECTIONS = ("bytes of our connections",)
NS = "ns/operation"
TRIPS = ("round_trips", *BYTES)


class Metric(Frozen, frozen=True):
    """A metric: what it is called, what it is counted in, how it is obtained, where it is shown.

    `category`: what it belongs to and comes from: the blocks of a path, a phase as a whole, a phase's peak memory, the
    counts of a verification pass, an adapter's source, client groups. The last four fields are its place among the
    metrics that a part of the page shows; 0: it is not there, equal places: in the order of the records.
    """

    name: str
    unit: str
    category: Category
    collectors: tuple[str, ...] = ()  # keys of a run's `methods`, the first that is there; none: `method` holds
    titled: str = ""  # where the title is not the name in words
    more_is_better: bool = False
    method: str = CLOCK
    compared: bool = False  # by `rowpath compare` and its gates
    tracked: bool = False  # by services that track benchmarks, as every metric that is compared
    choose: int = 0  # what the matrix of the chapter Choose offers beside time
    panel: int = 0  # what a path's row opens to
    costs: int = 0  # the table of resources per operation
    effort: int = 0  # the table of where the time goes

    @property
    def title(self) -> str:
        """The metric as a heading: `client peak memory`."""
        return self.titled or in_words(self.name)


_RECORDS = (
    Metric("time", NS, "blocks", compared=True),
    Metric("rate", "operations/s", "blocks", more_is_better=True, tracked=True),
    Metric("row_rate", "rows/s", "blocks", more_is_better=True),
    Metric("execute", NS, "blocks", effort=3),
    Metric("first_row", NS, "blocks", choose=7, panel=9, effort=4),
    Metric("rest", NS, "blocks", effort=5),
    Metric("connect", NS, "blocks", effort=1),
    Metric("borrow", NS, "blocks", titled="borrow latency", effort=8),
    Metric("return", NS, "blocks", titled="return latency", effort=9),
    Metric("bytes_drained", "bytes/operation", "blocks"),
    Metric("client_cpu", NS, "blocks", ("client_cpu", "cpu"), "client CPU", compared=True, choose=1, panel=4, costs=1),
    Metric("server_cpu", NS, "blocks", ("server_cpu", "cpu"), "server CPU", compared=True, choose=2, panel=5, costs=2),
    Metric("pooler_cpu", NS, "blocks", ("server_cpu", "cpu"), "pooler CPU", panel=5, costs=2),
    Metric("cpu", NS, "blocks"),
    Metric("fairness", "Jain's index", "blocks"),
    Metric("speed_up", "ratio", "blocks", method=IN_PARTS),
    Metric("efficiency", "ratio", "blocks", method=IN_PARTS),
    Metric("prepare", "ns", "phase", panel=8, effort=2),
    Metric("warm_up", "operations", "phase", titled="warm-up, operations", method=WARMED, effort=6),
    Metric("warm_up_time", "ns", "phase", titled="warm-up, time", method=WARMED, effort=7),
    Metric(
        "client_peak_memory", "bytes", "memory", ("client_memory", "memory"), compared=True, choose=3, panel=6, costs=3
    ),
    Metric(
        "server_peak_memory", "bytes", "memory", ("server_memory", "memory"), compared=True, choose=4, panel=7, costs=4
    ),
    Metric("deferred", "ns", "phase", ("disk",), titled="deferred, time", panel=13, costs=11),
    Metric("disk_written", "bytes", "phase", ("disk",), costs=10),
    Metric("round_trips", "round trips/operation", "counted", TRIPS, compared=True, choose=6, panel=1, costs=5),
    Metric("statements", "statements/operation", "counted", ("sql",), compared=True),
    Metric("bytes_sent", "bytes/operation", "counted", BYTES, compared=True, panel=2, costs=6),
    Metric("bytes_received", "bytes/operation", "counted", BYTES, compared=True, choose=5, panel=3, costs=7),
    Metric("syncs", "syncs/operation", "counted", ("syncs",), compared=True, panel=11, costs=9),
    Metric("commits", "commits/operation", "counted", ("commits",), panel=10, costs=8),
    Metric("texts_sent", "SQL texts/operation", "counted", BYTES),
    Metric("prepares", "prepares/operation", "counted", ("statements",)),
    Metric("executes", "executes/operation", "counted", ("statements",)),
    Metric("system_calls", "system calls/operation", "counted", ("system calls",), panel=12),
    Metric("lines_of_code", "lines", "code", method="counted in the adapter's source", choose=8, panel=14),
    Metric("lines_of_code_closure", "lines", "code", method="counted in the adapter's source and its families"),
    Metric("group_rate", "operations/s", "group", more_is_better=True, tracked=True),
    Metric("paced_rate", "operations/s", "group"),
    Metric("group_rate_in_backup", "operations/s", "group", more_is_better=True),
    Metric("backup_effect", "ratio", "group", more_is_better=True, method="ratio of rates, within a set"),
    Metric("group_failed", "operations", "group", method="counted by the runner"),
    Metric("service_p50", "ns", "group", tracked=True),
    Metric("service_p99", "ns", "group", tracked=True),
    Metric("service_p999", "ns", "group"),
    Metric("service_most", "ns", "group"),
    Metric("latency_p50", "ns", "group", tracked=True),
    Metric("latency_p99", "ns", "group", tracked=True),
    Metric("latency_p999", "ns", "group"),
    Metric("latency_most", "ns", "group"),
    Metric("lateness_p99", "ns", "group"),
    Metric("longest_stall", "ns", "group", tracked=True),
    Metric("group_borrow", NS, "group"),
    Metric("group_return", NS, "group"),
    Metric("event_loop_blocked", "ns", "group"),
    Metric("traffic", "bytes/s", "group", CONNECTIONS),
    Metric("traffic_in_backup", "bytes/s", "group", CONNECTIONS),
    Metric("traffic_each", "bytes/operation", "group", CONNECTIONS),
    Metric("backup_time", "ns", "group", method=CONTROLLER, tracked=True),
    Metric("backup_size", "bytes", "group", method="sizes of the backup's files"),
    Metric("recovery_time", "ns", "group", method=CONTROLLER, tracked=True),
    Metric("highest_rate", "operations/s", "group", more_is_better=True, tracked=True),
)
METRICS = {metric.name: metric for metric in _RECORDS}


def of_category(*categories: Category) -> list[str]:
    """The names of these categories' metrics."""
    return [name for name, metric in METRICS.items() if metric.category in categories]


def is_of_groups(name: str) -> bool:
    """Whether the metric belongs to client groups, not to a path's phase."""
    return METRICS[name].category == "group"


def compared(*categories: Category) -> list[str]:
    """The names of the metrics that a comparison of runs compares; `categories`: only of these."""
    return [name for name in (of_category(*categories) if categories else METRICS) if METRICS[name].compared]


def shown_in(part: Part) -> list[str]:
    """The names of the metrics that a part of the page shows, in its order."""
    placed = [metric for metric in METRICS.values() if getattr(metric, part)]
    return [metric.name for metric in sorted(placed, key=lambda metric: int(getattr(metric, part)))]


def in_words(name: str) -> str:
    """`client_peak_memory` → `client peak memory`."""
    return name.replace("_", " ")


def title(name: str) -> str:
    """The heading of a column: a metric's title, the words of any other name, such as a coordinate's."""
    return METRICS[name].title if name in METRICS else in_words(name)
