"""`python -m rowpath_runner.client_process PIPE GATE`: one client, told by its parent's pipe what to do.

Requests are tuples, answers `(error, value)`. The client meets the others by answering that it is ready and taking a
byte from the gate.
"""

import os
import sys
from multiprocessing.connection import Connection

from rowpath_runner.clients import prepared_loop, take_turn
from rowpath_runner.collector import COLLECTOR
from rowpath_runner.failures import Refused, told
from rowpath_runner.group_loop import Client as GroupClient
from rowpath_runner.lifetime import die_with_parent
from rowpath_runner.session import load_adapter


class Client:
    """What the parent asks for, by the request's first word."""

    def __init__(self, pipe, gate):
        self._pipe, self._gate = pipe, gate
        self.adapter = None
        self._loops = {}

    def open(self, driver, source, options):
        adapter = load_adapter(driver, source)(options)
        self.adapter = adapter
        adapter.connect()

    def prepare(self, phase, parameters):
        self._loops[phase.name] = prepared_loop(phase, parameters, self.adapter)

    def turn(self, name, share, cpus):
        os.sched_setaffinity(0, cpus)
        collected_ns, collections = COLLECTOR.ns, COLLECTOR.collections
        turn = take_turn(self._loops[name], share, self._meet)
        failure = turn.outcome.failure
        if failure:
            failure = Refused(**told(failure, self.adapter, "sample"))
            turn = turn._replace(outcome=turn.outcome._replace(failure=failure))
        return turn, COLLECTOR.ns - collected_ns, COLLECTOR.collections - collections

    def work(self, place, cpus):
        os.sched_setaffinity(0, cpus)
        client = GroupClient(self._loops[place.phase], place, self.adapter)
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
            answer = told(error, client.adapter, kind), None
        pipe.send(answer)


if __name__ == "__main__":
    main()
