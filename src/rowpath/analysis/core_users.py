"""Who else had the measured cores, over many samples; and the sentence that refuses an answer for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rowpath import text
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import words
from rowpath.journal.records import SampleRecord

NAMES = {
    "ours": "Rowpath itself",
    "program": "other programs",
    "kernel": "the kernel",
    "hypervisor": "the virtual machine's host",
    "unknown": "ended processes or interrupts",
}
NAMED = 3


@dataclass(frozen=True)
class Share:
    """One user of the cores, and its share of the time of the samples."""

    kind: str
    name: str
    share: float

    @property
    def title(self) -> str:
        """`gcc`, `the virtual machine's host`; our own are marked as such."""
        if self.kind == "ours":
            return f"Rowpath's own {self.name}"
        return self.name or NAMES[self.kind]


def shares(samples: Iterable[SampleRecord]) -> list[Share]:
    """Who else had the cores of these samples, the greatest share first."""
    total_ns = 0
    by_user: dict[tuple[str, str], int] = {}
    for sample in samples:
        total_ns += sample.window_ns
        for user in sample.core_users:
            key = user.kind, user.name
            by_user[key] = by_user.get(key, 0) + user.ns
    users = [Share(kind, name, ns / total_ns) for (kind, name), ns in by_user.items() if total_ns]
    return sorted(users, key=lambda share: -share.share)


def shares_text(users: list[Share]) -> str:
    """`gcc 12.1 %, the virtual machine's host 0.4 %`."""
    named = [f"{share.title} {text.share(share.share)}" for share in users[:NAMED]]
    rest = sum(share.share for share in users[NAMED:])
    return ", ".join([*named, f"others {text.share(rest)}"] if rest else named)


def refusal(evidence: Evidence) -> str:
    """Whom the machine was too busy for, who was to blame, and what to do; empty when every path has its answer."""
    cells = [cell for cell in evidence.cells.cells.values() if cell.refused]
    if not cells:
        return ""
    measured = {cell.path.path_id for cell in evidence.cells.cells.values() if cell.regime == "steady"}
    names = list(dict.fromkeys(cell.path.name for cell in cells))
    some = words(names[:NAMED] + [f"{len(names) - NAMED} others"] * (len(names) > NAMED))
    who = f"every one of {len(measured)} paths" if len(names) == len(measured) > 1 else some
    others = shares(sample for cell in cells for sample in cell.every_sample())
    users = f": {shares_text(others)} of the time" if others else ""
    where = words(dict.fromkeys(f"{cell.workload}.{cell.phase}" for cell in cells))
    host = evidence.journal.run.options.get("from_host")
    machine = f"Host {host}" if host else "The machine"
    return (
        f"{machine} was too busy to measure {who} in {where}{users}. They are not ranked. "
        f"Stop the other programs, then: {evidence.rerun()}"
    )
