"""The faults, in the order of their numbers."""

from __future__ import annotations

from rowpath.model.fault import WORKS, Fault, Work

READS: tuple[Work, ...] = ("scan", "read")

FAULTS = (
    Fault("1", "killed", "the server is killed, and started again three seconds later", WORKS),
    Fault("2", "restarted", "the server is stopped and started again", WORKS),
    Fault("3", "silence", "every packet is swallowed", READS),
    Fault("4", "reset", "the connection is reset", WORKS),
    Fault("5", "half-open", "the server forgets the connection without a word", READS),
    Fault("6a", "1 s late", "the answer is 1 s late"),
    Fault("6b", "10 s late", "the answer is 10 s late"),
    Fault("6c", "60 s late", "the answer is 60 s late", watch_s=200.0),
    Fault("7", "cut", "the connection is closed in the middle of a message"),
    Fault("8", "server's error", "the server fails in the middle of a result"),
    Fault("9a", "cancel", "the client asks to cancel", WORKS),
    Fault("9b", "timeout", "a timeout of one second passes", WORKS),
    Fault("10", "server full", "the server's limit of connections is reached", ("read",)),
    Fault("11a", "dead address", "a name has a dead address before the living one", ("read",)),
    Fault("11b", "dead host", "of the several hosts that were named the first is dead", ("read",)),
    Fault("12", "broken TLS", "the connection is reset in the TLS handshake", ("read",)),
    Fault("13", "idle dropped", "an idle connection was dropped by a box between", ("read",)),
    Fault("14", "memory", "the result is larger than the client's memory may be"),
)
BY_NUMBER = {fault.number: fault for fault in FAULTS}
LATE_S = {"6a": 1.0, "6b": 10.0, "6c": 60.0}
