"""A sample with what the collectors saw around it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import msgspec

from rowpath.execution import core_share
from rowpath.journal.records import SampleRecord, VerifyRecord
from rowpath.model.core_user import CoreUser
from rowpath.runners import protocol


@dataclass
class Measured:
    """A sample's reply with what the collectors saw around it."""

    reply: protocol.SampleReply
    client_cpu_ns: int | None
    server_cpu_ns: int | None
    wait_ns: int | None
    cpu_coverage: float | None  # share of the window that client and server CPU account for
    core_users: list[CoreUser]  # who else had the measured cores, so that the sample is disturbed; empty: none
    client_helpers_cpu_ns: int = 0  # of those above, on spare cores beside the window
    server_helpers_cpu_ns: int = 0
    own_wait_ns: int = 0  # in which the path waited and its core was idle
    ended_ns: int = field(default_factory=time.monotonic_ns)  # by the clock of the machine that has it

    @property
    def helpers_cpu_ns(self) -> int:
        """CPU time of the helper threads of both sides, on spare cores."""
        return self.client_helpers_cpu_ns + self.server_helpers_cpu_ns

    @property
    def disturbed(self) -> str:
        """Why the sample is, in words; empty when it is not."""
        return core_share.sentence(self.core_users, max(1, self.reply.window_ns))

    def record(self, regime: str, round_number: int, at_ns: int) -> SampleRecord:
        """As the journal has it; what it was compared to is not in it yet."""
        record = msgspec.convert(protocol.body(self.reply), SampleRecord)
        record.regime, record.round, record.at_ns = regime, round_number, at_ns
        record.client_cpu_ns, record.server_cpu_ns = self.client_cpu_ns, self.server_cpu_ns
        record.wait_ns, record.cpu_coverage, record.disturbed = self.wait_ns, self.cpu_coverage, self.disturbed
        record.client_helpers_cpu_ns, record.server_helpers_cpu_ns = (
            self.client_helpers_cpu_ns,
            self.server_helpers_cpu_ns,
        )
        record.core_users, record.own_wait_ns = self.core_users, self.own_wait_ns
        return record


def book_as_one(reply: protocol.SampleReply, parts: int) -> None:
    """Count the parts of one retrieval as one operation: done when all were, failed when one failed."""
    whole = reply.operations == parts and not reply.failed
    reply.operations, reply.failed = (1, 0) if whole else (0, 1)
    reply.lead_in_operations = 0
    reply.min_ns = reply.max_ns = reply.ns
    reply.execute_ns //= parts  # a part's own, on average
    reply.first_row_ns //= parts


def verify_record(reply: protocol.VerifyReply, expected: str) -> VerifyRecord:
    """A digest compared with the expected one, as the journal has it."""
    return msgspec.convert(protocol.body(reply) | {"expected": expected, "ok": reply.digest == expected}, VerifyRecord)
