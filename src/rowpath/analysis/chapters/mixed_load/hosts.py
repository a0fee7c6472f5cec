"""Client groups that were spread over hosts: how much each host did, and how closely the hosts began together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rowpath import text as fmt
from rowpath.analysis.client_groups import OfGroup
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import words as in_words
from rowpath.drawing.grid import Grid, figure, line, of_lines, without_empty, word, words
from rowpath.journal.mixed_load_records import HostsStartRecord, HostStart
from rowpath.model.grouping import grouped


class HostWork(OfGroup, frozen=True):
    """What one host did of a group in a stage of a path, all sets together."""

    host: str
    clients: int
    operations: int
    share: float  # of the group's operations
    failed: int
    lost: str = ""  # why the host was lost; its counts are those of the last look


class HostsStart(OfGroup, frozen=True):
    """How the hosts of a group began a stage, of the set in which they were furthest apart."""

    hosts: tuple[str, ...]
    skew_ns: int  # from the first host's begin to the last one's
    bound_ns: int  # of the skew: what the two clocks may be off
    lead_ns: int  # the least that was left when a host knew the instant; negative: it began late
    clock_moved_ns: int | None  # the most that a clock moved within a stage, all sets; None: not known


def works(evidence: Evidence) -> Iterator[HostWork]:
    """A row for each host of each group; sets that were cut count only where there is no other."""
    records = (record for run in evidence.stage_runs for record in run.groups.values() if record.hosts)
    by_group = grouped(records, lambda record: (record.path_id, record.stage, record.client_group))
    for where, every in by_group.items():
        whole = [record for record in every if not record.cut] or every
        total = sum(record.operations for record in whole)
        for host, parts in grouped((part for record in whole for part in record.hosts), lambda part: part.host).items():
            operations = sum(part.operations for part in parts)
            yield HostWork(
                evidence.name(where[0]),
                *where,
                host,
                parts[0].clients,
                operations,
                share=operations / total if total else 0.0,
                failed=sum(part.failed for part in parts),
                lost=next((part.lost for part in parts if part.lost), ""),
            )


def starts(evidence: Evidence) -> Iterator[HostsStart]:
    """A row for each group of several hosts, in the set in which they began furthest apart."""
    by_group: dict[tuple[str, str, str], list[list[HostStart]]] = {}
    for record in evidence.journal.all(HostsStartRecord):
        for group, together in grouped(record.starts, lambda start: start.client_group).items():
            if sum(start.late_ns is not None for start in together) > 1:
                by_group.setdefault((record.path_id, record.stage, group), []).append(together)
    for where, sets in by_group.items():
        worst = max(sets, key=_skew_ns)
        every = [start for together in sets for start in together]
        moved = [abs(start.offset_after_ns - start.offset_ns) for start in every if start.offset_after_ns is not None]
        yield HostsStart(
            evidence.name(where[0]),
            *where,
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


def lost_sentences(works: Iterable[HostWork]) -> Iterator[str]:
    """One for each host that was lost in a stage."""
    lost = grouped((work for work in works if work.lost), lambda work: (work.host, work.stage))
    for (host, stage), parts in lost.items():
        done = in_words(f"{fmt.count(part.operations)} operations of {part.client_group}" for part in parts)
        yield f"Host {host} was lost in '{stage}', which is incomplete; it had done {done}."


def works_grid(works: Sequence[HostWork]) -> Grid:
    """How much of each group each host did."""
    lines = (
        line(
            *words(path=work.name, stage=work.stage, group=work.client_group, host=work.host),
            figure("clients", str(work.clients), 2),
            figure("operations", fmt.count(work.operations)),
            figure("share", f"{work.share:.1%}"),
            figure("failed", fmt.count(work.failed) if work.failed else "", 1),
            word("lost", fmt.clean(work.lost), 1),
            status="failed" if work.lost else "ok",
        )
        for work in works
    )
    note = "A lost host's figures are its last, read once a second." if any(work.lost for work in works) else ""
    return without_empty(of_lines("Client groups by host", lines, note))


def starts_grid(starts: Iterable[HostsStart]) -> Grid:
    """How closely the hosts of a group began together."""
    lines = (
        line(
            *words(path=start.name, stage=start.stage, group=start.client_group, hosts=fmt.listed(start.hosts)),
            figure("skew", fmt.duration(start.skew_ns)),
            figure("±", fmt.duration(start.bound_ns)),
            figure("lead left", fmt.duration(start.lead_ns) if start.lead_ns > 0 else "none", 1),
            figure("clocks moved", fmt.duration(start.clock_moved_ns), 2),
            status="ok" if start.lead_ns > 0 else "failed",
        )
        for start in starts
    )
    note = (
        "Skew: from the first host's begin to the last one's, in the set with the longest skew; ±: bound of the "
        "clocks' error. Lead left: how long before the begin the last host knew of it. Clocks moved: within a stage."
    )
    return without_empty(of_lines("Common starts of several hosts", lines, note))
