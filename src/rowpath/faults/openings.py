"""Cells of opening a connection: the server is full, the first address is dead, the handshake breaks."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import msgspec
from typing_extensions import override

from rowpath.execution.worker import Worker
from rowpath.faults.bench import OBSERVERS, observing
from rowpath.faults.proxy import LOOPBACK, Break, FaultProxy
from rowpath.faults.trial import OPEN_S, NotApplicable, Trial, end
from rowpath.runners import manifest, protocol
from rowpath.runners.process import Runner, RunnerFailure

MOST_TAKEN = 60  # connections
LIVE, DEAD = "127.0.0.2", LOOPBACK  # resolvers sort the nearer address first
DEAD_FIRST = "dead-first.rowpath.test"
# The name is known to this process only: its view of /etc/hosts is its own.
WITH_HOSTS = 'mount --bind "$0" /etc/hosts && exec "$@"'


class _Opening(Trial):
    """A connection is asked for."""

    def _open_until_end(self, **where: Any) -> None:
        """Ask for a connection and see what comes."""
        self._ask_to_open(**where)
        if self.reply_to(protocol.OpenReply) is not None:
            self.note(end="whole")

    def _ask_to_open(self, **where: Any) -> None:
        runner = self.worker.runner
        runner.hello(self.planned.adapter.driver, OPEN_S)
        there = {"host": LOOPBACK, "port": self.proxy.port} | where | self.options
        options = self.planned.path.as_dict() | self.instance().options(self.planned.path) | there
        runner.send(protocol.Open, OPEN_S, options=options)


class Full(_Opening):
    """Connections are taken, by another driver, until the server refuses one."""

    role = "full"

    @override
    def flow(self) -> None:
        if self.planned.path.engine not in OBSERVERS:
            raise NotApplicable(f"no limit of connections of {self.planned.path.engine} is known")
        other = observing(self.planned)
        taken: list[Worker] = []
        try:
            while len(taken) < MOST_TAKEN:
                taken.append(self.make_worker(of=other))
                taken[-1].open()
        except RunnerFailure:
            taken.pop()
        else:
            raise NotApplicable(f"{MOST_TAKEN} connections do not fill the server")
        self.proxy = self.make_proxy()
        self.worker = self.make_worker()
        self.fault_now()
        self._open_until_end()
        for worker in taken:
            end(worker)
        self.heal()
        self.reconnect()


class _DeadFirst(_Opening):
    """Two addresses, of which the first is dead."""

    def _dead_before_living(self) -> int:
        """The server behind the living address, nobody behind the dead one, at the same port."""
        while True:
            self.proxy = self.make_proxy(address=LIVE)
            with contextlib.suppress(OSError):  # that port is in use at the other address
                dead = FaultProxy((LOOPBACK, self.proxy.port), address=DEAD, port=self.proxy.port)
                break
        self.cleanup.callback(dead.stop)
        dead.silence()
        return self.proxy.port

    def _open_past_the_dead(self, host: str, runner: Runner | None = None) -> None:
        self.worker = self.make_worker(runner)
        self.fault_now()
        self._open_until_end(host=host)
        if self.cell.end == "whole":
            served_ns = time.monotonic_ns() - (self.cell.end_ns or 0)  # without the wait for this cell's turn
            self.prepare()
            self.sample("read", 1)
            self.note_connection("usable")
            self.first_row("same connection", served_ns)


class DeadAddress(_DeadFirst):
    """A name has two addresses; nobody answers at the first."""

    needs_root = True

    @override
    def flow(self) -> None:
        names = self.bench.directory / f"hosts-{self._dead_before_living()}"  # no other cell's: a resolver reads it
        names.write_text(f"127.0.0.1 localhost\n{DEAD} {DEAD_FIRST}\n{LIVE} {DEAD_FIRST}\n")
        start = manifest.command(self.planned.adapter, self.planned.path.version, self.planned.path)
        inside = ("unshare", "--mount", "sh", "-c", WITH_HOSTS, str(names), *start.arguments)
        self._open_past_the_dead(
            DEAD_FIRST, Runner.start(msgspec.structs.replace(start, arguments=inside), (), lambda _line: None)
        )


class DeadHost(_DeadFirst):
    """The driver was given two hosts; nobody answers at the first."""

    @override
    def flow(self) -> None:
        if not self.planned.adapter.several_hosts:
            raise NotApplicable(f"{self.planned.adapter.driver} takes one host")
        self._dead_before_living()
        self._open_past_the_dead(f"{DEAD},{LIVE}")


class BrokenHandshake(_Opening):
    """The connection is reset in the TLS handshake."""

    @override
    def flow(self) -> None:
        if self.planned.path.tls == "off":
            raise NotApplicable(f"{self.planned.adapter.driver} has no TLS here")
        self.proxy = self.make_proxy()
        self.worker = self.make_worker()
        one = self.proxy.arm(Break("reset", after_bytes=40, in_handshake=True))
        self._ask_to_open()
        self.await_break(one, "no TLS handshake was seen")
        self.event(f"fault: {self.fault.title}")
        if self.reply_to(protocol.OpenReply) is not None:
            self.note(end="whole")  # it went on without TLS
        self.heal()
        self.reconnect()
