"""Clients that are processes: each other one is a fresh interpreter with an adapter and a connection of its own."""

import multiprocessing
import os
import subprocess
import sys
from functools import partial

from core.adapter import Unsupported
from core.clients import Clients
from core.failure import Failure
from core.prepared_phase import prepared_sampler

CLOSE_S = 5.0


class ClientProcess:
    """One client in a process of its own, as its parent sees it; it dies with its parent, kill included."""

    def __init__(self, driver, source, options, gate):
        """Starts it; `answer()` returns when it is connected. `gate`: the pipe whose bytes let clients go."""
        self._pipe, theirs = multiprocessing.Pipe()
        passed = (theirs.fileno(), gate)
        arguments = [sys.executable, "-m", "core.client_process", *map(str, passed)]
        self._process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=2, pass_fds=passed)
        theirs.close()
        self.send("open", driver, source, options)

    def send(self, *request):
        """Send a request. Errors: Failure, when the process has ended."""
        try:
            self._pipe.send(request)
        except OSError:
            raise self._ended() from None

    def answer(self):
        """The answer to the oldest request without one. Errors: Failure, with the process's own."""
        try:
            error, value = self._pipe.recv()
        except (EOFError, OSError):
            raise self._ended() from None
        if error:
            raise Failure(error["kind"], error["text"], error["code"])
        return value

    def close(self):
        """Close its connection and end it."""
        try:
            self.send("close")
            self._process.wait(CLOSE_S)
        except (Failure, subprocess.TimeoutExpired):
            self.kill()
        self._pipe.close()

    def kill(self):
        """End it at once."""
        self._process.kill()
        self._process.wait()

    def _ended(self):
        return Failure("internal", f"a client's process ended with status {self._process.wait()}")


class ClientProcesses(Clients):
    """Several clients, each a process; the first one's is this one."""

    def __init__(self, adapter, count, driver, source=None):
        self._leave, self._gate = os.pipe()
        self._start = partial(ClientProcess, driver, source, adapter.options, self._leave)
        super().__init__(adapter, count)

    def gather(self, parts):
        if any(part[1].shared for part in parts if part):
            raise Unsupported("clients that are processes cannot share arrivals")
        [first] = self._clients(parts[:1])
        assigned = [(client, part[1]) for client, part in zip(self.adapters[1:], parts[1:], strict=True) if part]
        others = [client for client, _ in assigned]
        try:
            for client, assignment in assigned:
                client.send("work", assignment, os.sched_getaffinity(0))
            self._answers(others)
        except BaseException:
            self._kill_others()  # those that are there would wait for ever
            raise

        def work():
            done = first and first.work()
            answers = iter(self._answers(others))
            return [done, *(part and next(answers) for part in parts[1:])]

        return work

    def close(self):
        """Close every connection, the first one last; end the processes."""
        for client in reversed(self.adapters):
            client.close()
        os.close(self._gate)
        os.close(self._leave)

    def _open_others(self, count):
        # All are started before the first is waited for: an interpreter and a driver take a while to load.
        for _ in range(count):
            self.adapters.append(self._start())
        self._answers()

    def _samplers(self, phase, parameters):
        self._send("prepare", phase, parameters)
        try:
            sampler = prepared_sampler(phase, parameters, self.adapters[0])
        finally:
            self._answers()
        return [sampler, *[phase.name for _ in self.adapters[1:]]]

    def _at_once(self, samplers, shares, start):
        cpus = os.sched_getaffinity(0)

        def meet():
            self._answers()
            start.note()
            os.write(self._gate, b"." * (len(samplers) - 1))

        try:
            for client, name, share in zip(self.adapters[1:], samplers[1:], shares[1:], strict=True):
                client.send("turn", name, share, cpus)
            first = samplers[0].sample(shares[0], meet)
            others = self._answers()
        except BaseException:
            self._kill_others()  # those that wait at the gate would wait for ever
            raise
        for _, collected_ns, collections in others:
            start.collected_ns += collected_ns
            start.collections += collections
        return [first, *[turn for turn, *_ in others]]

    def _send(self, *request):
        for client in self.adapters[1:]:
            client.send(*request)

    def _kill_others(self):
        for client in self.adapters[1:]:
            client.kill()

    def _answers(self, clients=None):
        """One answer of every other client, or of these; the first error only when all have answered."""
        answers, failure = [], None
        for client in self.adapters[1:] if clients is None else clients:
            try:
                answers.append(client.answer())
            except Failure as error:
                failure = failure or error
        if failure:
            raise failure
        return answers
