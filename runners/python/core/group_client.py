"""One client of a group: the operation again and again, each written down before the next begins.

The timed loop stands twice, for speed: here, and without the writing in sampler.py. Both are generated, so that nothing
is decided inside the clock.
"""

from contextlib import nullcontext
from functools import partial
from typing import NamedTuple

from core.failure import failure_of
from core.pacing import SCHEDULES, SharedArrivals, punctual, waiting
from core.shared_counters import DONE, GAVE_UP, WAITS, WORKS, Slot

AFTER_FAILURE_NS = 10_000_000

CLIENT = """
{define} block({bound}):
    zero = {wait}begun(control)
    if not zero:
        head[0] = {done}
        return 0, 0, 0, 0, 0, 0, 0
    index = first
    operations = failed = in_a_row = rows = total = served = late = lost = then = 0
    state = {done}
    head[0] = {works}
    {due_times}
    cpu = thread_clock()
    started = clock()
    while True:
        {pace}
        before = rows, total
        now = clock()
        if 0 < control[1] <= {must_begin}:
            {withdraw}
            break
        head[4] = now
        try:
{operation}
        except Exception as error:
{mend}            then = clock()
            rows, total = before
            failed += 1
            in_a_row += 1
            lost += then - now
            note(error)
            {doubt}
            head[8] = lost
            head[2] = failed
        else:
            then = clock()
            in_a_row = 0
            {acknowledge}
            value = then - now
            served += value
            {count_service}
            {record}
            head[6] = served
            head[9] = rows
            operations += 1
            head[1] = operations
        head[11] = then
        {advance}
        head[3] = index
        head[4] = 0
        if operations + failed == limit:
            break
        if in_a_row:
            if in_a_row == {failures}:
                state = {gave_up}
                break
            if not {wait}until(then + {after_failure}, 0, control):
                break
    head[0] = state
    return operations, failed, rows, total, started, then, thread_clock() - cpu
"""

# The buckets of the shared counters' histograms.
COUNT = "shift = value.bit_length() - 8; {of}[value if shift < 1 else (shift << 7) + (value >> shift)] += 1"

CLOSED = {
    "due_times": "pass",
    "pace": "pass",
    "withdraw": "pass",
    "record": "pass",
    "must_begin": "now",
    "advance": "index = index + 1 if index != last else first",
}
PAUSED = CLOSED | {"pace": "if then and not {wait}until(then + pause_ns, 0, control): break"}
OPEN = CLOSED | {
    "due_times": "due_times = schedule(zero)",
    "pace": """\
due = next(due_times)
        head[5] = due
        idle = clock() < due
        if idle and not {wait}until(due, spin_ns, control):
            break
        head[10] = operations + failed + 1""",
    "withdraw": "head[10] = operations + failed",
    "record": """\
value = then - due
            late += value
            {count_latency}
            if idle:
                value = now - due
                {count_lateness}
            head[7] = late""",
}
# An arrival that was taken before the end and was due by then is done: those that were done are the first ones.
SHARED = OPEN | {
    "due_times": "pass",
    "pace": """\
taken = None if 0 < control[1] <= clock() else shared.take(zero)
        if taken is None:
            break
        number, due = taken
        index = number % rows_of_all
        head[3] = index
        head[5] = due
        idle = clock() < due
        if idle and not {wait}until(due, spin_ns, control):
            break
        head[10] = operations + failed + 1""",
    "must_begin": "due",
    "advance": "pass",
}
CALLERS = SHARED | {"advance": "shared.join(then + pause_ns)"}


class Assignment(NamedTuple):
    """A client's part in a group: the protocol's fields of the group, and which client it is."""

    shared_counters: str
    phase: str
    pacing: str
    rate_per_s: float
    seed: int
    operations: int
    pause_ns: int
    spin_ns: int
    control: int
    slot: int
    acknowledged: int
    client: int
    clients: int
    parameters: int
    shared: SharedArrivals | None = None

    def region(self):
        """(first, length) of the parameter rows that are the client's own."""
        client, clients, rows = self.client, self.clients, self.parameters
        if self.shared:
            return 0, max(rows, 1)
        if rows < clients:
            return client % max(rows, 1), 1
        first = client * rows // clients
        return first, (client + 1) * rows // clients - first


class Done(NamedTuple):
    """What one client did."""

    first: int
    rows_of_its_own: int
    failures: dict
    operations: int
    failed: int
    rows: int
    total: int
    begun_ns: int
    ended_ns: int
    cpu_ns: int


class GroupClient:
    """One client of a group, on its connection; from now on it waits for the group's begin."""

    def __init__(self, sampler, assignment, adapter):
        self._sampler, self._assignment = sampler, assignment
        self._adapter = adapter
        self._failures = {}
        self._region = first, own = assignment.region()
        rows = max(assignment.parameters, 1)
        slot = Slot(assignment.shared_counters, assignment.control, assignment.slot, assignment.acknowledged, rows)
        shared = assignment.shared
        self._waits = assignment.pacing != "closed" or assignment.pause_ns
        pieces, schedule = PAUSED if assignment.pause_ns else CLOSED, None
        if shared:
            pieces = CALLERS if assignment.pacing == "closed" else SHARED
        elif assignment.pacing != "closed":
            drawn = SCHEDULES[assignment.pacing]
            pieces, schedule = (
                OPEN,
                partial(drawn, assignment.client, assignment.clients, assignment.rate_per_s, assignment.seed),
            )
        counts = {f"count_{of}": COUNT.format(of=of) for of in ("service", "latency", "lateness")}
        kept = slot.acknowledged is not None
        self._block = sampler.at_work(
            CLIENT,
            {name: text.format(wait=sampler.syntax["wait"], **counts) for name, text in pieces.items()}
            | {
                **counts,
                "acknowledge": "acknowledged[index] += 1" if kept else "pass",
                "doubt": f"acknowledged[{rows} + index] += 1" if kept else "pass",
                "after_failure": AFTER_FAILURE_NS,
                "works": WORKS,
                "done": DONE,
                "gave_up": GAVE_UP,
            },
            **waiting(sampler.syntax["define"], sampler.syntax["wait"]),
            **vars(slot),
            first=first,
            last=first + own - 1,
            limit=0 if shared else assignment.operations,
            shared=shared,
            rows_of_all=rows,
            pause_ns=assignment.pause_ns,
            spin_ns=assignment.spin_ns,
            schedule=schedule,
            note=self._note,
        )
        slot.head[3] = first
        slot.head[0] = WAITS

    def work(self):
        """Until the group's end, or until its operations are done: what it did."""
        with punctual() if self._waits else nullcontext():
            return self._done(self._sampler.waited(self._block()))

    async def work_as_task(self):
        """The same beside other tasks. Their thread's CPU is everyone's: only the group's first client reports it."""
        done = self._done(await self._block())
        return done._replace(cpu_ns=0) if self._assignment.client else done

    def _done(self, outcome):
        if type(outcome[3]) is not int:  # values of another kind, which no `verify` of this client had met
            outcome = (*outcome[:3], 0, *outcome[4:])
        return Done(*self._region, self._failures, *outcome)

    def _note(self, error):
        failure = failure_of(error, self._adapter, "sample")
        self._failures.setdefault((failure["kind"], failure["code"]), failure | {"count": 0})["count"] += 1
