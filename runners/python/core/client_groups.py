"""Client groups at work at once: the requests `client-groups` and `client-groups-end`, and what is between."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from core.failure import Failure
from core.group_client import Assignment
from core.pacing import SCHEDULES, SharedArrivals
from core.touch import touch_text

KINDS = ("query", "execute", "null")
MOST_FAILURES = 16


class ClientGroups:
    """The groups of one request; their clients wait once this is made.

    Errors: Failure for what cannot be; those of the shared counters.
    """

    def __init__(self, clients, phases, request):
        self.requested = request["client_groups"]
        self._phases = phases
        self._parts = [None] * len(clients.adapters)
        for group in self.requested:
            self._assign(group, request["shared_counters"])
        self.count = sum(part is not None for part in self._parts)
        self._work = clients.gather(self._parts)
        self._done = self._error = None

    def work(self, requests, answer):
        """Let the clients work, one of them in this thread; the request that ended it, or None.

        Meanwhile another thread takes the requests and gives each its `answer(request, reply)`.
        """
        with ThreadPoolExecutor(1) as listener:
            end = listener.submit(_listen, requests, answer)
            try:
                self._done = self._work()
            except Exception as error:
                self._error = error  # the reply to groups-end
            return end.result()

    def totals(self):
        """What each group did, as the protocol's objects. Errors: what kept a client from going on."""
        if self._error:
            raise self._error
        found = []
        for group in self.requested:
            first, columns = group["first_client"], self._phases[group["phase"]].phase.columns
            done = self._done[first : first + group["clients"]]
            found.append({"name": group["name"], **_summed(done, columns)})
        return found

    def _assign(self, group, shared_counters):
        prepared = self._phases.get(group["phase"])
        if prepared is None:
            raise Failure("internal", f"phase {group['phase']!r} is not prepared")
        if prepared.phase.kind not in KINDS:
            raise Failure("unsupported", f"groups are for {', '.join(KINDS)}, not for {prepared.phase.kind}")
        if prepared.pipelined:
            raise Failure("unsupported", "a group's clients send no pipelines")
        if group["pacing"] != "closed" and not (group["pacing"] in SCHEDULES and group["rate_per_s"] > 0):
            raise Failure("internal", f"group {group['name']}: {group['pacing']} at {group['rate_per_s']} a second")
        first, count = group["first_client"], group["clients"]
        if not 0 <= first < first + count <= len(self._parts):
            raise Failure("internal", f"group {group['name']}: of {len(self._parts)} clients not {count} from {first}")
        shared = _shared_arrivals(group)
        for client in range(count):
            if self._parts[first + client]:
                raise Failure("internal", f"client {first + client} is in two groups")
            self._parts[first + client] = (
                prepared,
                Assignment(
                    shared_counters=shared_counters,
                    phase=group["phase"],
                    pacing=group["pacing"],
                    rate_per_s=group.get("rate_per_s", 0.0),
                    seed=group.get("seed", 0),
                    operations=group.get("operations", 0),
                    pause_ns=group.get("pause_ns", 0),
                    spin_ns=group.get("spin_ns", 0),
                    control=group["control"],
                    slot=group["slots"] + client * group["slot_bytes"],
                    acknowledged=group.get("acknowledged", 0),
                    client=client,
                    clients=count,
                    parameters=len(prepared.parameters or ()),
                    shared=shared,
                ),
            )


def _shared_arrivals(group):
    """What all clients of the group take their arrivals from; None: each has a schedule of its own."""
    dispatch, clients, population = group.get("dispatch", "own"), group["clients"], group.get("population", 0)
    if dispatch == "own":
        return None
    if dispatch != "shared":
        raise Failure("unsupported", f"this runner knows no dispatch {dispatch!r}")
    most, schedule = group.get("operations", 0) * clients, None
    if group["pacing"] != "closed":
        schedule = partial(SCHEDULES[group["pacing"]], 0, 1, group["rate_per_s"], group.get("seed", 0))
    elif population < clients:
        raise Failure("internal", f"group {group['name']}: {population} callers of {clients} clients")
    return SharedArrivals(schedule, population, most)


def _listen(requests, answer):
    for request in requests:
        if request.get("type") == "client-groups-end":
            return request
        if request.get("type") == "bye":
            answer(request, {})
            os._exit(0)
        text = f"groups are at work: {request.get('type')} must wait for groups-end"
        answer(request, {"error": {"kind": "internal", "code": "", "text": text}})
    return None


def _summed(done, columns):
    """One group's object, of what its clients did."""
    failures = {}
    for each in done:
        for key, failure in each.failures.items():
            known = failures.setdefault(key, failure | {"count": 0})
            known["count"] += failure["count"]
    rows = sum(each.rows for each in done)
    return {
        "operations": sum(each.operations for each in done),
        "failed": sum(each.failed for each in done),
        "failures": sorted(failures.values(), key=lambda failure: -failure["count"])[:MOST_FAILURES],
        "rows": rows,
        "values": rows * len(columns),
        "touch": touch_text(sum(each.total for each in done)),
        "begun_ns": min((each.begun_ns for each in done if each.begun_ns), default=0),
        "ended_ns": max(each.ended_ns for each in done),
        "cpu_ns": sum(each.cpu_ns for each in done),
        "clients": [
            {name: getattr(each, name) for name in ("first", "rows_of_its_own", "operations", "failed")}
            for each in done
        ],
    }
