"""Client groups that were spread over hosts: how much each host did, and how closely the hosts began together."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath.analysis.evidence import Evidence
from rowpath.analysis.mixed_load.model import HostsStart, HostWork
from rowpath.analysis.mixed_load.stages import StageRun
from rowpath.journal.mixed_load_records import HostsStartRecord, HostStart
from rowpath.model.grouping import grouped


def works(evidence: Evidence, runs: list[StageRun]) -> Iterator[HostWork]:
    """A row for each host of each group; sets that were cut count only where there is no other."""
    records = (record for run in runs for record in run.groups.values() if record.hosts)
    found = grouped(records, lambda record: (record.path_id, record.stage, record.client_group))
    for (path_id, stage, group), every in found.items():
        whole = [record for record in every if not record.cut] or every
        shares = grouped((share for record in whole for share in record.hosts), lambda share: share.host)
        total = sum(record.operations for record in whole)
        for host, parts in shares.items():
            operations = sum(each.operations for each in parts)
            yield HostWork(
                name=evidence.name(path_id),
                path_id=path_id,
                stage=stage,
                client_group=group,
                host=host,
                clients=parts[0].clients,
                operations=operations,
                share=operations / total if total else 0.0,
                failed=sum(each.failed for each in parts),
                lost=next((each.lost for each in parts if each.lost), ""),
            )


def starts(evidence: Evidence) -> Iterator[HostsStart]:
    """A row for each group of several hosts, in the set in which they began furthest apart."""
    found: dict[tuple[str, str, str], list[list[HostStart]]] = {}
    for record in evidence.journal.all(HostsStartRecord):
        for group, together in grouped(record.starts, lambda start: start.client_group).items():
            if sum(start.late_ns is not None for start in together) > 1:
                found.setdefault((record.path_id, record.stage, group), []).append(together)
    for (path_id, stage, group), sets in found.items():
        worst = max(sets, key=_skew_ns)
        every = [start for together in sets for start in together]
        moved = [abs(each.offset_after_ns - each.offset_ns) for each in every if each.offset_after_ns is not None]
        yield HostsStart(
            name=evidence.name(path_id),
            path_id=path_id,
            stage=stage,
            client_group=group,
            hosts=tuple(start.host for start in worst),
            skew_ns=_skew_ns(worst),
            bound_ns=sum(sorted(start.bound_ns for start in worst)[-2:]),
            lead_ns=min(start.lead_ns for start in every),
            clock_moved_ns=max(moved, default=None),
        )


def _skew_ns(together: list[HostStart]) -> int:
    """Each host's delay is by its own clock, from an instant that is the same on all of them."""
    late = [start.late_ns for start in together if start.late_ns is not None]
    return max(late) - min(late)
