"""`python -m core.client_process PIPE GATE`: one client, driven by its parent through a pipe.

Requests are tuples, answers `(error, value)`. The client meets the others by answering that it is ready and taking a
byte from the gate.
"""

import os
import sys
from multiprocessing.connection import Connection

from core.collector import COLLECTOR
from core.failure import Failure, failure_of
from core.group_client import GroupClient
from core.lifetime import die_with_parent
from core.prepared_phase import prepared_sampler
from core.session import load_adapter


class Client:
    """What the parent asks for, by the request's first word."""

    def __init__(self, pipe, gate):
        self._pipe, self._gate = pipe, gate
        self.adapter = None
        self._samplers = {}

    def open(self, driver, source, options):
        adapter = load_adapter(driver, source)(options)
        self.adapter = adapter
        adapter.connect()

    def prepare(self, phase, parameters):
        self._samplers[phase.name] = prepared_sampler(phase, parameters, self.adapter)

    def turn(self, name, share, cpus):
        os.sched_setaffinity(0, cpus)
        collected_ns, collections = COLLECTOR.ns, COLLECTOR.collections
        turn = self._samplers[name].sample(share, self._meet)
        failure = turn.outcome.failure
        if failure:
            failure = Failure(**failure_of(failure, self.adapter, "sample"))
            turn = turn._replace(outcome=turn.outcome._replace(failure=failure))
        return turn, COLLECTOR.ns - collected_ns, COLLECTOR.collections - collections

    def work(self, assignment, cpus):
        os.sched_setaffinity(0, cpus)
        client = GroupClient(self._samplers[assignment.phase], assignment, self.adapter)
        self._pipe.send((None, None))
        return client.work()

    def _meet(self):
        self._pipe.send((None, None))
        os.read(self._gate, 1)


def main():
    die_with_parent()
    pipe, gate = Connection(int(sys.argv[1])), int(sys.argv[2])
    client = Client(pipe, gate)
    while True:
        try:
            kind, *given = pipe.recv()
        except EOFError:
            os._exit(0)
        if kind == "close":
            if client.adapter:
                client.adapter.close()
            os._exit(0)
        try:
            answer = None, getattr(client, kind)(*given)
        except Exception as error:
            answer = failure_of(error, client.adapter, kind), None
        pipe.send(answer)


if __name__ == "__main__":
    main()
