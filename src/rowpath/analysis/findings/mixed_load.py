"""What went wrong, or must be known, where groups of clients were at work at once."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.answer_model import Finding, error, note, warning
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.chapters.mixed_load.groups import GroupFigures
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import ratio_text, syncs_explain, syncs_text, words
from rowpath.journal.mixed_load_records import AcknowledgedRecord, BackupRecord, ClientGroupRecord, KillRecord
from rowpath.model.grouping import grouped
from rowpath.model.workload import PhaseName

STALL_S = 1.0
STALL_RATIO, STALL_LEAST_S = 100, 0.1  # times the 99th percentile, and long enough to be seen
STALL_INTERVALS = 10  # in open loop, of the distance between two operations
BLOCKED_LEAST_NS = 100_000_000  # as in asyncio's debug mode: `slow_callback_duration`
LATE_SHARE = 0.1  # of the median latency
TEXTS = 3  # failures with their text
STALLS_SHOWN = 3  # after the longest
FASTER_LEAST = 1.2  # a machine drifts by less
_WHEN = {"end": "at the end of a run", "kill": "after a kill", "backup": "in a restored backup"}


def _killed(evidence: Evidence) -> set[tuple[str, str]]:
    """(path id, stage) where the engine was killed on purpose: its operations stall and fail."""
    return {(kill.path_id, kill.stage) for kill in evidence.journal.all(KillRecord)}


def rate_not_reached(evidence: Evidence) -> Iterator[Finding]:
    """Open loops that did not do what was due; their percentiles of latency are withheld."""
    for group in report_of(evidence).figures:
        if group.reached or group.cut:
            continue
        begun = f"; {text.count(group.not_begun)} operations were due and never started" if group.not_begun else ""
        yield warning(
            f"{group.client_group} of {group.name} did not reach the requested rate in '{group.stage}': "
            "latency percentiles are withheld",
            f"{text.rate(group.rate_per_s)} of the {text.rate(group.requested_per_s)} requested{begun}",
            "the path cannot reach this rate with this number of clients: the queue grows until the stage ends, "
            "so percentiles would only show the stage's length",
            evidence.rerun(f"-R '{group.client_group}={max(1.0, group.rate_per_s / 2):.0f}'"),
            (group.name,),
        )


def client_stalled(evidence: Evidence) -> Iterator[Finding]:
    """Groups with a long time in which no operation ended; each path once, the longest first."""
    killed = _killed(evidence)

    def stalled(group: GroupFigures) -> bool:
        usual = (group.service.p99_ns or 0) / 1e9
        limit = min(STALL_S, max(STALL_RATIO * usual, STALL_LEAST_S)) if usual else STALL_S
        if group.requested_per_s:
            limit = max(limit, STALL_INTERVALS / group.requested_per_s)
        return group.longest_stall_s > limit and group.at_work not in killed

    for cases in grouped(filter(stalled, report_of(evidence).figures), lambda group: group.path_id).values():
        longest, *others = sorted(cases, key=lambda group: -group.longest_stall_s)
        backup = longest.at_work in {(one.path_id, one.stage) for one in evidence.journal.all(BackupRecord)}
        also = [f"{group.client_group} {_stood(group)} in '{group.stage}'" for group in others[:STALLS_SHOWN]]
        rest = len(others) - STALLS_SHOWN
        yield warning(
            f"no operation of {longest.client_group} completed for {_stood(longest)} "
            f"in stage '{longest.stage}' ({longest.name})",
            f"p99 service time {text.duration(longest.service.p99_ns)}"
            + (f"; also {words(also)}" if also else "")
            + (f", and {rest} more" if rest > 0 else ""),
            "a lock or a checkpoint that blocks every operation"
            + (", possibly the backup's" if backup else "")
            + ", or other programs on the same cores",
            evidence.rerun(f"-R '{longest.client_group}={max(1.0, longest.rate_per_s / 2):.0f}'"),
            (longest.name,),
        )


def _stood(group: GroupFigures) -> str:
    return text.duration(group.longest_stall_s * 1e9)


def event_loop_blocked(evidence: Evidence) -> Iterator[Finding]:
    """Tasks whose event loop ran nothing else for long; each path once, the longest time first."""
    blocked = (group for group in report_of(evidence).figures if group.blocked_ns >= BLOCKED_LEAST_NS)
    for cases in grouped(blocked, lambda group: group.path_id).values():
        longest, *others = sorted(cases, key=lambda group: -group.blocked_ns)
        yield warning(
            f"the event loop of {longest.name} was blocked for {text.duration(longest.blocked_ns)} "
            f"in stage '{longest.stage}'",
            f"median service time of {longest.client_group} {text.duration(longest.service.p50_ns)}, "
            f"longest {text.duration(longest.service.most_ns)}"
            + (f"; also in {text.counted(len(others), 'other case')}" if others else ""),
            "a task ran on without waiting (a large result taken at once, a call that is not asynchronous), "
            "or another program took the core; no other task went on meanwhile",
            evidence.rerun("concurrency=threads,tasks"),
            (longest.name,),
        )


def faster_with_others(evidence: Evidence) -> Iterator[Finding]:
    """Groups in closed loop that surely work faster beside more groups: they do not wait for the engine."""
    figures = report_of(evidence).figures
    by_stage = grouped(figures, lambda group: group.at_work)
    at_work = {stage: {group.client_group for group in together} for stage, together in by_stage.items()}
    closed = [group for group in figures if group.pacing == "closed"]
    alike = grouped(closed, lambda group: (group.path_id, group.client_group, group.clients))
    reported: set[tuple[str, str]] = set()
    for less in closed:
        more = [
            group
            for group in alike[less.path_id, less.client_group, less.clients]
            if at_work[group.at_work] > at_work[less.at_work]
            and group.rate_per_s >= FASTER_LEAST * less.rate_per_s
            and (group.low or 0.0) > (less.high or float("inf"))
        ]
        if not more or (less.path_id, less.client_group) in reported:
            continue
        reported.add((less.path_id, less.client_group))
        most = max(more, key=lambda group: group.rate_per_s)
        yield note(
            f"{less.client_group} run faster on {less.name} when other client groups are active: "
            f"{text.ratio(most.rate_per_s / less.rate_per_s)} in '{most.stage}'",
            f"{text.rate(most.rate_per_s)} there, {text.rate(less.rate_per_s)} in '{less.stage}'; "
            f"median service time {text.duration(most.service.p50_ns)} and "
            f"{text.duration(less.service.p50_ns)}" + _busy(evidence, less),
            "an idle core sleeps between request and reply and must be woken each time (in a "
            "virtual machine by its host); other active groups keep it awake",
            evidence.rerun(),
            (less.name,),
        )


def _busy(evidence: Evidence, group: GroupFigures) -> str:
    """How many cores both sides used in its stage, where that is known."""
    report = report_of(evidence)
    stage = next((one for one in report.stages if (one.path_id, one.stage) == group.at_work), None)
    if stage is None or stage.client_cpu_ns is None:
        return ""
    operations_per_s = sum(one.rate_per_s for one in report.figures if one.at_work == group.at_work)
    cores = operations_per_s * (stage.client_cpu_ns + (stage.server_cpu_ns or 0.0)) / 1e9
    return f"; both sides use {cores:.2f} cores in '{group.stage}'"


def operations_refused(evidence: Evidence) -> Iterator[Finding]:
    """Operations that failed or were refused, by kind; they are in no rate."""
    killed = _killed(evidence)
    for group in report_of(evidence).figures:
        if not group.failed or group.at_work in killed:
            continue
        kinds = [
            f"{text.count(one.count)} × {' '.join(filter(None, (one.kind, one.code)))}"
            + (f" ({one.text})" if one.text else "")
            for one in group.failures[:TEXTS]
        ]
        rest = len(group.failures) - TEXTS
        yield warning(
            f"{text.count(group.failed)} operations of {group.client_group} of {group.name} failed in '{group.stage}'",
            ("; ".join(kinds) or "the runner gave no message") + (f"; and {rest} other kinds" if rest > 0 else ""),
            "the engine refuses what it cannot do immediately; no rate or percentile includes failed operations",
            evidence.rerun(),
            (group.name,),
        )


def acknowledged_lost(evidence: Evidence) -> Iterator[Finding]:
    """Acknowledged writes that are missing, or that were done more than once."""
    for record in evidence.journal.all(AcknowledgedRecord):
        if record.ok and not record.lost and not record.doubled:
            continue
        path, durability = evidence.path(record.path_id), evidence.coordinate(record.path_id, "durability")
        promised = path is not None and "full" in path.durabilities
        allowed = record.when == "kill" and durability == "none" and not record.doubled
        what = [f"{text.count(record.lost)} lost"] if record.lost else []
        what += [f"{text.count(record.doubled)} applied more than once"] if record.doubled else []
        name = evidence.name(record.path_id)
        yield (note if allowed else error)(
            f"{name}: acknowledged writes are missing after a kill, as durability=none allows"
            if allowed
            else f"{name}: the database does not hold the acknowledged writes ({_WHEN[record.when]})",
            f"of {text.count(record.writes)} acknowledged writes {words(what) or record.reason or 'none was found'}; "
            f"{text.count(record.in_doubt)} more in doubt, {text.count(record.rows)} rows read"
            + (f"; {record.reason}" if record.reason and what else ""),
            "a commit returns before the log is on the disk" if record.when == "kill" else "",
            evidence.rerun("durability=full" if allowed and promised else ""),
            (name,),
        )


def backup_not_restorable(evidence: Evidence) -> Iterator[Finding]:
    """Backups that failed, or that do not hold what they must once restored."""
    for record in evidence.journal.all(BackupRecord):
        checked, name = record.checked, evidence.name(record.path_id)
        wrong = checked is not None and bool(checked.lost or checked.doubled)
        if record.stopped or (record.ok and record.restored is not False and not wrong):
            continue
        what = f"{checked.lost} writes lost, {checked.doubled} applied twice" if checked is not None and wrong else ""
        yield error(
            f"a backup of {name} ({record.way}) {'could not be restored' if record.ok else 'failed'} "
            f"in '{record.stage}'",
            "; ".join(filter(None, (record.reason, what))) or "no reason was given",
            "a backup is useful only if it can be restored",
            evidence.rerun(),
            (name,),
        )


def backup_slows(evidence: Evidence) -> Iterator[Finding]:
    """Groups with a rate that surely falls during a backup."""
    for effect in report_of(evidence).effects:
        if effect.high is None or effect.high >= 1:
            continue
        yield note(
            f"a backup slows {effect.client_group} of {effect.name} "
            f"to {ratio_text(effect.ratio, effect.low, effect.high, effect.sets)}",
            f"{text.rate(effect.inside_per_s)} during the backups of '{effect.stage}', "
            f"{text.rate(effect.outside_per_s)} in '{effect.against}'",
            "the backup reads the whole database from the same disk, and may hold the log or locks",
            evidence.rerun(),
            (effect.name,),
        )


def generator_late(evidence: Evidence) -> Iterator[Finding]:
    """Open loops with a load generator so late that it is in the latencies; each path once, the worst first."""
    late: dict[str, list[tuple[int, int, GroupFigures]]] = {}
    for group in report_of(evidence).figures:
        late_ns = group.lateness.p99_ns if group.lateness else None
        usual_ns = group.latency.p50_ns if group.latency else None
        if late_ns is not None and usual_ns is not None and late_ns > LATE_SHARE * usual_ns:
            late.setdefault(group.path_id, []).append((late_ns, usual_ns, group))
    for path_id, cases in late.items():
        (late_ns, usual_ns, worst), *others = sorted(cases, key=lambda case: -case[0] / case[1])
        # `free` is only where an experiment requests it, and so no command line changes it.
        where = [evidence.coordinate(path_id, key) for key in ("deployment", "placement")]
        yield warning(
            f"the load generator itself was late (client group '{worst.client_group}', {worst.name}, "
            f"stage '{worst.stage}')",
            f"p99 start delay {text.duration(late_ns)} of operations that no other operation delayed;  "
            f"median latency {text.duration(usual_ns)}"
            + (f"; over a tenth of them in {len(others)} more cases too" if others else ""),
            "another program shares the clients' core, or the core wakes slowly",
            evidence.rerun("placement=split") if where == ["server", "same"] else "rowpath doctor",
            (worst.name,),
        )


def sync_bound(evidence: Evidence) -> Iterator[Finding]:
    """`sync-bound-writes` of groups: the syncs' measured cost explains most of the service time; each once."""
    reported: set[tuple[str, str]] = set()
    for group in report_of(evidence).figures:
        each_ns = evidence.sync_cost_ns(group.path_id)
        where, key = PhaseName.of(group.phase), (group.path_id, group.client_group)
        counts = evidence.counted.get((group.path_id, *where))
        syncs, took = counts.each("syncs") if counts else None, group.service.mean_ns
        durable = evidence.coordinate(group.path_id, "durability") == "full" and evidence.writes(*where)
        if each_ns is None or syncs is None or not took or not durable or key in reported:
            continue
        if not syncs_explain(syncs, each_ns, took):
            continue
        reported.add(key)
        yield note(
            f"{group.client_group} of {group.name} are disk-bound in '{group.stage}': paths can hardly differ",
            syncs_text(syncs, each_ns, took),
            "each commit waits until the log is on disk",
            evidence.rerun("durability=none"),
            (group.name,),
        )


def values_not_read(evidence: Evidence) -> Iterator[Finding]:
    """`values-not-read` of groups: a group's touch sum is not that of the rows it should have taken."""
    not_taken = (record for record in evidence.journal.all(ClientGroupRecord) if record.touch_ok is False)
    for (path_id, phase), records in grouped(not_taken, lambda record: (record.path_id, record.phase)).items():
        name = evidence.name(path_id)
        yield error(
            f"{name} did not read every value of every row inside the clock in {phase}",
            f"the touch sum of {words(dict.fromkeys(record.client_group for record in records))} is wrong "
            f"in {len(records)} stages, first in '{records[0].stage}'",
            "values are decoded only on access, results come from a cache, or rows changed during the read",
            f"rowpath verify {evidence.experiment} -v",
            (name,),
        )
