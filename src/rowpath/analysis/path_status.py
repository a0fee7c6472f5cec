"""Whether what a path delivered counts: proven right, wrong, failed or unsupported, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, field

from rowpath.journal.mixed_load_records import ClientGroupRecord
from rowpath.journal.reader import Records
from rowpath.journal.records import FailureRecord, SampleRecord, VerifyRecord
from rowpath.model.base import Status

_GRAVITY: dict[str, int] = {"ok": 0, "disturbed": 1, "unsupported": 2, "failed": 3, "wrong": 4}


@dataclass
class PathStatus:
    """What one path's status is in one workload phase, and why."""

    status: Status = "ok"
    reason: str = ""
    digest: str = ""
    rows_verified: bool = False  # by digest or touch
    failed_operations: int = 0

    def worsen(self, status: Status, reason: str) -> None:
        """Take the graver status; the first reason of a gravity stays."""
        if _GRAVITY[status] > _GRAVITY[self.status]:
            self.status, self.reason = status, reason


@dataclass
class PathStatuses:
    """The status of every path in every phase."""

    by_phase: dict[tuple[str, str, str], PathStatus] = field(default_factory=dict)
    whole_path: dict[str, PathStatus] = field(default_factory=dict)  # failures that name no phase

    def of(self, path_id: str, workload: str, phase: str) -> PathStatus:
        """The status in one phase: what befell the whole path befell each of its phases."""
        own = self.by_phase.get((path_id, workload, phase), PathStatus())
        whole = self.whole_path.get(path_id)
        if whole is not None:
            own.worsen(whole.status, whole.reason)
        return own


def path_statuses(journal: Records) -> PathStatuses:
    """Judge every path from digests, touches, failed operations and failures."""
    statuses = PathStatuses()

    def at(where: tuple[str, str, str]) -> PathStatus:
        return statuses.by_phase.setdefault(where, PathStatus())

    for verify in journal.all(VerifyRecord):
        path_status = at(verify.where)
        if verify.ok is False:
            path_status.worsen("wrong", verify_text(verify))
        elif verify.ok:
            path_status.rows_verified = True
        if path_status.status != "wrong" or not path_status.digest:
            path_status.digest = verify.digest
    drained: dict[tuple[str, str, str], float] = {}  # bytes that a floor took in an operation of its first block
    for sample in journal.all(SampleRecord):
        path_status = at(sample.where)
        if sample.bytes and sample.operations:
            size = sample.bytes / sample.operations
            first = drained.setdefault(sample.where, size)
            if size != first:
                path_status.worsen("wrong", f"{size:,.0f} bytes an operation, {first:,.0f} in the first block")
        if sample.touch_ok is False:
            path_status.worsen("wrong", f"{touch_text(sample)}: some values were not read")
        elif sample.touch_ok:
            path_status.rows_verified = True
        if sample.failed:
            path_status.failed_operations += sample.failed
            text = sample.failure.text if sample.failure else ""
            path_status.worsen("failed", f"{sample.failed} operations failed{': ' + text if text else ''}")
    for group in journal.all(ClientGroupRecord):
        if group.touch_ok is False:
            at(group.where).worsen("wrong", f"some values were not read in {group.stage}")
        elif group.touch_ok:
            at(group.where).rows_verified = True
    for failure in journal.all(FailureRecord):
        whole = statuses.whole_path
        path_status = at(failure.where) if failure.phase else whole.setdefault(failure.path_id, PathStatus())
        known: dict[str, Status] = {"wrong": "wrong", "unsupported": "unsupported"}
        path_status.worsen(known.get(failure.status, "failed"), failure_text(failure))
    return statuses


def verify_text(verify: VerifyRecord) -> str:
    """What was wrong with what a path delivered: too few or too many rows, or other ones."""
    expected = verify.expected or "the generator's"
    digest = f"digest {verify.digest or 'missing'} differs from {expected}"
    if verify.expected_rows is None or verify.rows == verify.expected_rows:
        return digest
    return f"its parts delivered {verify.rows:,} of the table's {verify.expected_rows:,} rows: {digest}"


def touch_text(sample: SampleRecord) -> str:
    """The touch sum and what was expected: `touch 0… instead of 4b…`."""
    wanted = " or ".join((sample.expected_touch or [])[:2])
    return f"touch {sample.touch or 'missing'}" + (f" instead of {wanted}" if wanted else "")


def failure_text(failure: FailureRecord) -> str:
    """A failure in words: kind, the driver's code, its text."""
    kind = "" if failure.kind == failure.status else failure.kind
    head = f"{kind} {failure.code}".strip()
    return ": ".join(part for part in (head, failure.text) if part) or failure.status
