"""How long a plan takes, roughly, before anything was measured: step by step, as its progress shows them.

Work takes the longer the slower the machine is (`Plan.slowness`); blocks, links and the disk take what they take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from rowpath.engines import ENGINES
from rowpath.engines.base import Versioned
from rowpath.machine.counters import system_calls
from rowpath.model.experiment import CopyEnd
from rowpath.model.progress import Step, TimeEstimate, step_name
from rowpath.model.workload import Phase, PhaseName
from rowpath.planning import disk_estimate
from rowpath.planning.client_groups import stages_of
from rowpath.planning.plan import Plan, PlannedPath, key_of
from rowpath.runners.manifest import language
from rowpath.text import counted

Batch = Sequence[PlannedPath]
# Before the first set.
BEGIN_S = 1.0  # the methods of counting tried, the head written
BRING_UP_S, BRING_UP_SERVER_S, BRING_UP_JVM_S = 0.3, 1.0, 3.0  # an engine made and started; one written in Java more
VERIFY_S, VERIFY_SERVED_S = 0.6, 0.6  # a path verified; over a proxy that counts more
VERIFY_OPERATIONS = 10  # of a whole table: verified, settled, counted
STRACED_S = 5e-4  # a round trip, or a row written, while strace counts system calls
STRACED_SCANS, STRACED_READS, STRACED_WRITES = 6, 23, 100  # operations that it counts
HOST_S, WAY_S = 0.5, 1.5  # clocks of a host; the way between two: before and after all sets each
MOVE_S, MOVE_ROW_S = 5.0, 1.5e-5  # a database made or copied, and every table read at both ends

# Of each set.
SET_S = 0.5  # noise looked at, processes ended
STARTING_SHARE = 0.7  # of the processes' starts: they overlap
QUIET_S = 0.15  # before each phase's blocks: compilers come to rest
COLD_S = 0.05  # a phase prepared on a path, and its first pass
WRITE_S = 0.25  # around a write phase: tables made again, the engine brought to rest, what was written checked
WARM_BLOCKS = 9  # the least that can be judged
WARM_MORE = 1.1  # of the least time: paths that keep no level
REPEATED = 1.1  # blocks, with those that were disturbed
EXCHANGE_S = 0.002  # a request to a runner and its reply, journalled

# Operations.
LONG_OPERATION_S = 0.05  # no lead-in before such
CONNECT_S = 0.003
FETCH_S = 3e-5  # the round trip for the next rows of a cursor
SYNC_S, TURN_S, SPLIT_S = 0.0008, 0.00006, 0.00012  # a write that waits for the disk; that does not; with two cores
WRITE_ROW_S = 6e-5  # of an operation that stores many
LINK_S = 0.0001  # more than a link's stated round trip
RATED_LINK_S = 2.5  # until a link's rate is measured, each way
COLUMNS_S, SUMMED_S = 3e-7, 1e-7  # of a row in columns; of one that only an aggregate sees

# Client groups.
BESIDE_S = 0.7  # per stage and path: clients made ready, totals fetched, a little for what is checked afterwards
BACKUP_BEGUN_S = 2.0  # seconds of a stage around its backup
BACKUP_S, BACKUP_ROW_S = 0.4, 4e-6
RESTORE_S, RESTORE_ROW_S = 9.0, 7e-6  # a restored backup is checked, then read row by row
REST_S = 3.0  # after warming up: compilers come to rest
RECOVER_S = 5.0  # a killed engine started again, and its ledger read; only HSQLDB's lock takes ten
LEAD_IN_CAP_S = 1.5  # before each stage, where only its own groups are at work
RATE_SEARCH = "rate search"  # as its stage is called


def estimate_s(plan: Plan) -> float:
    """How long the whole plan would take, not counting builds and sets that are added for wide intervals."""
    return estimate(plan).total_s


def estimate(plan: Plan, done: Collection[tuple[int, int]] = ()) -> TimeEstimate:
    """What is left to do of the plan, step by step; no engine is needed. `done`: (batch, set) of complete sets."""
    sets = range(plan.experiment.measure.sets)
    steps = [Step(-1, "", _before_s(plan))]
    for set_number in sets:
        if plan.experiment.client_groups:
            of_set = [stage_steps(plan, planned, set_number) for planned in plan.paths]
        else:
            of_set = [_set_steps(plan, batch, set_number) for batch in plan.batches]
        for number, of_batch in enumerate(of_set):
            steps += of_batch if (number, set_number) not in done else ()
    for planned in plan.paths:
        steps += rate_search_steps(plan, planned, len(sets))
    return TimeEstimate(_joined(steps))


def _joined(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Every step that has a name; one without is a part of the step before it."""
    joined: list[Step] = []
    for step in steps:
        if joined and not step.name:
            joined[-1] = Step(joined[-1].set_number, joined[-1].name, joined[-1].seconds + step.seconds)
        else:
            joined.append(step)
    return tuple(joined)


def _before_s(plan: Plan) -> float:
    """Engines up and loaded, databases moved, every path verified."""
    work_s, total = BEGIN_S + disk_estimate.estimate(plan).seconds, moves_s(plan) + _ways_s(plan)
    rated = {(each.path.link, each.path.placement) for each in plan.paths if each.path.link_bytes_per_s}
    total += RATED_LINK_S * len(rated)
    for engine, deployment, *_ in dict.fromkeys(key_of(planned.path) for planned in plan.paths):
        work_s += BRING_UP_JVM_S if ENGINES[engine].server_warm_s else 0.0
        work_s += BRING_UP_SERVER_S if deployment == "server" else BRING_UP_S
    for planned in plan.paths:
        work_s += language(planned.adapter.language).start_s + VERIFY_S
        total += sum(_passing_s(planned, plan.phase(name)) for name in planned.phases)
        work_s += VERIFY_SERVED_S if planned.path.served else 0.0
        for name in planned.phases:
            total += VERIFY_OPERATIONS * _operation_s(plan, planned, name) + _straced_s(plan, planned, name)
    return plan.slowness * work_s + total


def _ways_s(plan: Plan) -> float:
    """Clocks of hosts and the ways between them, measured before and after all sets."""
    pairs = {(planned.path.client_host, planned.path.server_host) for planned in plan.paths}
    hosts = {host for pair in pairs for host in pair if host != "none"}
    ways = [pair for pair in pairs if pair[1] not in ("none", pair[0])]
    return 2 * (HOST_S * len(hosts) + WAY_S * len(ways))


def _straced_s(plan: Plan, planned: PlannedPath, name: str) -> float:
    """What counting system calls by strace adds to the verification of a phase that makes very many of them."""
    phase = plan.phase(name)
    if system_calls.probe() != system_calls.METHOD_STRACE or phase.way == "bulk":
        return 0.0
    if phase.writes:
        return plan.slowness * STRACED_S * min(phase.operations, STRACED_WRITES) * _rows_written(phase)
    operations = STRACED_SCANS if phase.scan or phase.union else STRACED_READS
    return plan.slowness * STRACED_S * operations * _fetches(plan, planned, name)


def _rows_written(phase: Phase) -> int:
    """The rows that one operation writes if it stores more than one, else 0."""
    return phase.rows_per_operation if phase.rows_per_operation > 1 else 0


def _set_steps(plan: Plan, batch: Batch, set_number: int) -> Iterator[Step]:
    """One set of a batch: every path started, every cold pass, then every phase warmed up and measured."""
    measure = plan.experiment.measure

    def step(name: str, regime: str, seconds: float) -> Step:
        return Step(set_number, step_name(*PhaseName.of(name), regime), seconds)

    starts_s = sum(language(planned.adapter.language).start_s for planned in batch)
    yield Step(set_number, "", plan.slowness * (SET_S + STARTING_SHARE * starts_s))
    serving = {name: [planned for planned in batch if name in planned.phases] for name in plan.experiment.phases}
    for name, paths in serving.items():
        if paths and (not plan.phase(name).writes or _writes_in(plan, "cold")):
            yield step(name, "cold", sum(_cold_s(plan, planned, name) for planned in paths))
    if "steady" not in measure.regimes:
        return
    for name, paths in serving.items():
        if paths and not plan.phase(name).writes:
            warm_s = sum(_warm_s(plan, planned, name, set_number) for planned in paths)
            yield step(name, "warm", plan.slowness * QUIET_S + warm_s)
            blocks_s = sum(_block_s(plan, planned, name) for planned in paths)
            yield step(name, "steady", REPEATED * measure.rounds * blocks_s)
        elif paths and _writes_in(plan, "steady"):
            yield step(name, "steady", sum(_cold_s(plan, planned, name) for planned in paths))


def _writes_in(plan: Plan, regime: str) -> bool:
    return regime in plan.experiment.measure.regimes and regime in plan.experiment.measure.write_regimes


def _cold_s(plan: Plan, planned: PlannedPath, name: str) -> float:
    """The first pass of a phase, or a whole write phase."""
    phase = plan.phase(name)
    if phase.writes:
        # A write is what the disk takes, or the way there and back; a link's round trip added.
        write_s = _trip_s(planned) / planned.path.pipeline
        if planned.path.durability == "full":
            write_s += SYNC_S
        else:
            apart = planned.path.placement == "split" and planned.path.served
            write_s += plan.slowness * (SPLIT_S if apart else TURN_S)
        rows_s = plan.slowness * WRITE_ROW_S * _rows_written(phase)
        write_s += _wire_s(plan, planned, name, _rows_written(phase))
        return plan.slowness * WRITE_S + phase.operations * (write_s + rows_s)
    if phase.kind == "null":
        return 0.0
    if "cold" not in plan.experiment.measure.regimes:
        return plan.slowness * COLD_S
    return plan.slowness * COLD_S + _operation_s(plan, planned, name) + _passing_s(planned, phase)


def _warm_s(plan: Plan, planned: PlannedPath, name: str, set_number: int) -> float:
    runner, cap_s = language(planned.adapter.language), plan.experiment.measure.warm_cap_s
    first = name == planned.phases[0]
    least_s = min(runner.warm_least_s[0 if first else 1], cap_s)
    if planned.path.served and set_number == 0:  # later sets meet what the server has compiled by then
        least_s = max(least_s, ENGINES[planned.path.engine].server_warm_s)
    compiling_s = plan.slowness * runner.compiling_s[0 if first else 1]
    blocks_s = WARM_MORE * max(least_s, compiling_s, WARM_BLOCKS * _block_s(plan, planned, name))
    return max(least_s, min(cap_s, blocks_s), _operation_s(plan, planned, name))


def _block_s(plan: Plan, planned: PlannedPath, name: str) -> float:
    """A lead-in and a block; half an operation more, because the last one ends after the block's time."""
    measure, operation_s = plan.experiment.measure, _operation_s(plan, planned, name)
    lead_in_s = language(planned.adapter.language).lead_in_ns(int(measure.lead_in_ms * 1e6)) / 1e9
    lead_in_s = max(lead_in_s, operation_s) if operation_s < LONG_OPERATION_S else 0.0
    return plan.slowness * EXCHANGE_S + lead_in_s + max(measure.block_ms / 1000 + operation_s / 2, operation_s)


def _operation_s(plan: Plan, planned: PlannedPath, name: str) -> float:
    """Seconds of an operation that goes through a whole table, or delivers many rows; next to nothing of any other."""
    phase = plan.phase(name)
    if phase.kind == "connect":
        return plan.slowness * CONNECT_S
    if phase.expected == "aggregate":
        table = plan.workloads[PhaseName.of(name).workload].tables.get(phase.table)
        return plan.slowness * SUMMED_S * (phase.range_rows or (table.rows if table else 0))
    rows = _rows_read(plan, name)
    wire_s = _wire_s(plan, planned, name, rows)
    if planned.path.fetch_form == "columnar":
        return plan.slowness * rows * COLUMNS_S + wire_s
    rows_s = rows * language(planned.adapter.language).row_s
    return plan.slowness * (rows_s + FETCH_S * _fetches(plan, planned, name)) + wire_s


def _wire_s(plan: Plan, planned: PlannedPath, name: str, rows: float) -> float:
    """What so many rows of the phase's table take on a link with a rate, as if they crossed as text."""
    table = plan.workloads[PhaseName.of(name).workload].tables.get(plan.phase(name).table)
    if not planned.path.link_bytes_per_s or table is None or not table.rows:
        return 0.0
    return rows * disk_estimate.text_bytes(table) / table.rows / planned.path.link_bytes_per_s


def _rows_read(plan: Plan, name: str) -> int:
    phase = plan.phase(name)
    table = plan.workloads[PhaseName.of(name).workload].tables.get(phase.table)
    return table.rows if table and phase.expected == "whole-table" else phase.rows_per_operation


def _fetches(plan: Plan, planned: PlannedPath, name: str) -> float:
    """Round trips of an operation through a cursor of few rows."""
    form, _, size = planned.path.result.partition(":")
    return _rows_read(plan, name) / int(size) if form == "cursor" and size else 0.0


def _passing_s(planned: PlannedPath, phase: Phase) -> float:
    """What one pass of a phase spends on its path's link: at least a round trip per operation or pipeline."""
    count = phase.operations or (phase.parameters.count if phase.parameters else 1)
    return _trip_s(planned) * count / planned.path.pipeline


def _trip_s(planned: PlannedPath) -> float:
    return planned.path.link_ns / 1e9 + LINK_S if planned.path.link_ns else 0.0


def least_s(planned: PlannedPath, cap_s: float) -> float:
    """The shortest time in which a path's groups are warmed up."""
    least = min(cap_s, language(planned.adapter.language).warm_least_s[0])
    return max(least, ENGINES[planned.path.engine].server_warm_s) if planned.path.served else least


def lead_in_s(planned: PlannedPath, cap_s: float) -> tuple[float, float]:
    """The shortest and the longest lead-in of a stage: compilers optimize its groups again."""
    cap_s = min(cap_s, LEAD_IN_CAP_S)
    return min(cap_s, language(planned.adapter.language).warm_least_s[1]), cap_s


def stage_steps(plan: Plan, planned: PlannedPath, set_number: int) -> Iterator[Step]:
    """One set of a path: its start, warming up, every stage, restoring backups."""
    measure = plan.experiment.measure
    actions = {group.name: max(1, group.times) for group in plan.experiment.client_groups if group.action}
    rows = _rows(plan)
    beside_s = BESIDE_S + lead_in_s(planned, measure.warm_cap_s)[1]
    ready_s = _ready_s(plan, planned)  # only before the first
    for stage in stages_of(plan.experiment, planned, plan.extended):
        backups = sum(actions.get(name, 0) for name in stage.client_groups)
        seconds = beside_s + plan.slowness * (RESTORE_S + RESTORE_ROW_S * rows) * backups
        backup_s = BACKUP_BEGUN_S + plan.slowness * (BACKUP_S + BACKUP_ROW_S * rows) * backups
        seconds += min(stage.seconds, backup_s) if stage.until in actions else stage.kill_s or stage.seconds
        if stage.kill_s:
            seconds += RECOVER_S + measure.warm_cap_s  # new clients are warmed up again
        yield Step(set_number, step_name(planned.name, stage.name), seconds + ready_s)
        ready_s = 0.0


def rate_search_steps(plan: Plan, planned: PlannedPath, set_number: int) -> list[Step]:
    """The rate search of one path, at most; none where the experiment has none."""
    search = plan.experiment.rate_search
    if search is None:
        return []
    seconds = _ready_s(plan, planned) + search.tries * (search.seconds + BESIDE_S)
    return [Step(set_number, step_name(planned.name, RATE_SEARCH), seconds, announced=False)]


def _ready_s(plan: Plan, planned: PlannedPath) -> float:
    cap_s = plan.experiment.measure.warm_cap_s
    warm_s = max(cap_s, least_s(planned, cap_s)) + REST_S
    return plan.slowness * (SET_S + language(planned.adapter.language).start_s) + warm_s


def moves_s(plan: Plan) -> float:
    """Databases moved before the first set, those that can be."""
    engines = {planned.path.engine for planned in plan.paths}
    copies = [copy for copy in plan.experiment.directory_copies if copy.engine in engines]
    moved = [copy for copy in copies if _here(copy.engine, copy.source) and _here(copy.engine, copy.target)]
    return plan.slowness * (MOVE_S + MOVE_ROW_S * _rows(plan)) * len(moved)


def _here(engine_name: str, end: CopyEnd) -> bool:
    engine = ENGINES[engine_name]
    return not end.version or (isinstance(engine, Versioned) and engine.availability_of(end.version, "off").ok)


def _rows(plan: Plan) -> int:
    return sum(table.rows for workload in plan.workloads.values() for table in workload.tables.values())


def described(plan: Plan) -> str:
    """`4 sets of 5 stages (reads 5 s, with a backup until backup), then a rate search of readers`."""
    measure = plan.experiment.measure
    stages = [stage for stage in plan.experiment.stages if plan.extended or not stage.extended]
    shown = ", ".join(
        f"{each.name} until {each.until} is done"
        if each.until
        else f"{each.name} {each.seconds:g} s" + (f", the engine killed after {each.kill_s:g} s" if each.kill_s else "")
        for each in stages
    )
    sweep = plan.experiment.rate_search
    words = f"{counted(measure.sets, 'set')} of {counted(len(stages), 'stage')} ({shown})"
    return words + (f", then a rate search of {sweep.client_group} (p99 ≤ {sweep.p99_ms:g} ms)" if sweep else "")
