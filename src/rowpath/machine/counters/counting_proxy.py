"""Bytes and round trips between a client and a server, counted by a proxy on loopback that is its own process.

`python -m rowpath.machine.counters.counting_proxy --to-tcp [ADDRESS:]PORT|--to-unix PATH --listen-tcp 0|--listen-unix
PATH` prints `ready PORT`, then answers the lines `read`, `reset`, `watch TEXT` (TEXT in JSON: count what the client
sends of it from now on) and `patience SECONDS` with its counters as one line of JSON; it ends with its stdin.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import selectors
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rowpath.errors import InternalError
from rowpath.machine import processes

METHOD = "an untimed pass through Rowpath's counting proxy on loopback"
READY_TIMEOUT_S = 60.0  # an interpreter starts slowly where others have all cores
ANSWER_TIMEOUT_S = 60.0
CHUNK_BYTES = 1 << 18

Address = int | Path  # a port of 127.0.0.1, or a unix socket
To = Address | tuple[str, int]  # or a port of another address


@dataclass
class Counters:
    """As the client sees them. A round trip is a turn client → server → client; what the server sends first is none."""

    bytes_sent: int = 0
    bytes_received: int = 0
    round_trips: int = 0
    connections: int = 0
    texts_sent: int = 0  # of the watched text
    greetings: int = 0  # connections on which the server spoke first


ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


class Proxy:
    """The proxy process, from the controller's side."""

    def __init__(self, to: To, listen: Address = 0, cpus: tuple[int, ...] = ()) -> None:
        """Start it between `listen` (0: any free port) and `to`. Errors: InternalError when it does not get ready."""
        where = f"{to[0]}:{to[1]}" if isinstance(to, tuple) else str(to)
        arguments = ["--to-unix" if isinstance(to, Path) else "--to-tcp", where]
        arguments += ["--listen-unix", str(listen)] if isinstance(listen, Path) else ["--listen-tcp", str(listen)]
        self._process = processes.start(
            [sys.executable, "-m", "rowpath.machine.counters.counting_proxy", *arguments],
            environment={"PYTHONPATH": str(Path(__file__).parents[3])},
            cpus=cpus,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        ready, _, port = self._line(READY_TIMEOUT_S).partition(" ")
        if ready != "ready":
            self._process.kill()  # the output of a living one never ends
            said = self._process.stderr.read().decode(errors="replace") if self._process.stderr else ""
            self.stop()
            why = said[-300:].strip() or f"it was not ready after {READY_TIMEOUT_S:g} s"
            raise InternalError(f"the counting proxy did not start: {why}", "rowpath doctor")
        self.port = int(port)  # 0 on a unix socket

    def read(self) -> Counters:
        """The counters since the last `reset`, everything that had arrived at the proxy included."""
        return self._ask("read")

    def reset(self) -> Counters:
        """The counters, which begin at zero again."""
        return self._ask("reset")

    def watch(self, text: str) -> Counters:
        """Count from zero how often the client sends this text, in UTF-8 or UTF-16; empty: nothing."""
        return self._ask(f"watch {json.dumps(text)}")

    def patience(self, seconds: float) -> Counters:
        """Hold back from now on what the server sends until the client has sent nothing for so long; 0: hand it on.

        A round trip is then one that the client waits for: pieces of a pipeline and early answers to it cross in any
        order, and would be counted by chance.
        """
        return self._ask(f"patience {seconds}")

    def stop(self) -> None:
        """End the process; harmless when it has ended."""
        processes.stop(self._process, processes.AT_ONCE)

    def _ask(self, command: str) -> Counters:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\n".encode())
            self._process.stdin.flush()
            return Counters(**json.loads(self._line()))
        except (OSError, ValueError) as error:
            raise InternalError(f"the counting proxy exited or does not reply: {error}", "run again") from error

    def _line(self, timeout_s: float = ANSWER_TIMEOUT_S) -> str:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], timeout_s)
        return self._process.stdout.readline().decode().strip() if ready else ""


class Watch:
    """Finds a text in what one connection's client sends, also across the borders of what arrives at once."""

    def __init__(self, text: str) -> None:
        self._needles = [text.encode(encoding) for encoding in ENCODINGS] if text else []
        self._tails = [b"" for _ in self._needles]
        self._counts = [0 for _ in self._needles]

    def take(self, data: bytes) -> None:
        """Look at the next bytes."""
        for which, needle in enumerate(self._needles):
            joined = self._tails[which] + data
            self._counts[which] += joined.count(needle)
            self._tails[which] = joined[max(0, len(joined) - len(needle) + 1) :]

    @property
    def count(self) -> int:
        """How often it came: in one encoding, for a text in one kind of UTF-16 can look like the other."""
        return max(self._counts, default=0)


class ProxiedConnection:
    """One client's connection and its twin to the server; while one end has bytes waiting, the other is not read."""

    def __init__(self, client: socket.socket, server: socket.socket, counters: Counters) -> None:
        self.ends = (client, server)
        self._peer = {client: server, server: client}
        self._waiting = {client: b"", server: b""}
        self._counters = counters
        self._asked = False
        self._silent = True  # so far neither side has sent anything
        self._held = b""  # from the server, while the client may send more
        self.heard_at_s = 0.0  # when the client last sent something
        self.patience_s = 0.0
        self.watch = Watch("")

    @property
    def holds(self) -> bool:
        """Whether an answer is held back from a client that is still there."""
        return bool(self._held) and self.ends[0].fileno() >= 0

    def release(self) -> None:
        """Hand on what was held back, unless something else waits for that end."""
        client, _server = self.ends
        if self._waiting[client]:
            return
        data, self._held = self._held, b""
        self._count(len(data), from_client=False)
        with contextlib.suppress(OSError):  # a client that has gone is noticed by its end
            self._send(client, data)

    def events(self, end: socket.socket) -> int:
        """What to wait for on that end; 0: nothing."""
        events = selectors.EVENT_WRITE if self._waiting[end] else 0
        return events if self._waiting[self._peer[end]] else events | selectors.EVENT_READ

    def serve(self, end: socket.socket, events: int) -> bool:
        """Send what waits for that end, forward what has arrived from it; False when the connection is over."""
        try:
            if events & selectors.EVENT_WRITE:
                self._send(end, self._waiting[end])
            if events & selectors.EVENT_READ:
                data = end.recv(CHUNK_BYTES)
                if not data:
                    if self._held:
                        self.release()  # the server's last words
                    return False
                if end is self.ends[0]:
                    if end.family == socket.AF_INET:
                        # A driver that leaves Nagle's algorithm on would wait 40 ms in each pause: it may send on.
                        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                    self.heard_at_s = time.monotonic()
                elif self.patience_s:
                    self._held += data
                    return True
                # Counted before it is forwarded: who has read the data finds it in the counters.
                self._count(len(data), end is self.ends[0])
                if end is self.ends[0]:
                    self.watch.take(data)
                self._send(self._peer[end], data)
        except OSError as error:
            return isinstance(error, BlockingIOError)
        return True

    def _send(self, end: socket.socket, data: bytes) -> None:
        self._waiting[end] = data
        self._waiting[end] = data[end.send(data) :]

    def _count(self, size: int, from_client: bool) -> None:
        if from_client:
            self._counters.bytes_sent += size
        else:
            self._counters.bytes_received += size
            self._counters.greetings += self._silent
            self._counters.round_trips += self._asked
        self._asked, self._silent = from_client, False


class Switchboard:
    """All connections of the proxy process, served by one thread."""

    def __init__(self, listener: socket.socket, to: Path | tuple[str, int]) -> None:
        self._to = to
        self._listener = listener
        self._counters = Counters()
        self._watched = ""
        self._patience_s = 0.0
        self._links: list[ProxiedConnection] = []
        self._sockets = selectors.DefaultSelector()
        self._sockets.register(listener, selectors.EVENT_READ)

    def serve(self) -> None:
        """Forward until stdin ends."""
        self._sockets.register(0, selectors.EVENT_READ)
        pending = b""
        while True:
            if not self._turn(self._next_release_s()):
                continue
            data = os.read(0, 4096)
            if not data:
                return
            *commands, pending = (pending + data).split(b"\n")
            for command in commands:
                while any(key.fileobj != 0 for key, _ in self._sockets.select(0)):
                    self._turn(0)
                self._counters.texts_sent = sum(link.watch.count for link in self._links)
                print(json.dumps(vars(self._counters)), flush=True)
                if command == b"reset":
                    vars(self._counters).update(vars(Counters()))
                if command.startswith(b"patience"):
                    self._patience_s = float(command.split()[1])
                    for link in self._links:
                        link.patience_s = self._patience_s
                    self._release_due()
                elif command != b"read":  # begin again to look for a text, on every connection
                    self._watched = json.loads(command[5:]) if command.startswith(b"watch") else self._watched
                    self._links = [link for link in self._links if link.ends[0].fileno() >= 0]
                    for link in self._links:
                        link.watch = Watch(self._watched)

    def _next_release_s(self) -> float | None:
        """How long nothing that is held back is due; None: nothing is held back."""
        heard = [link.heard_at_s for link in self._links if link.holds]
        return max(0.0, min(heard) + self._patience_s - time.monotonic()) if heard else None

    def _release_due(self) -> None:
        due = time.monotonic() - self._patience_s
        for link in self._links:
            if link.holds and link.heard_at_s <= due:
                link.release()
                for end in link.ends:
                    self._watch(end, link, link.events(end))

    def _turn(self, timeout_s: float | None) -> bool:
        """Serve every socket that has something; whether stdin has."""
        commanded = False
        for key, events in self._sockets.select(timeout_s):
            if key.fileobj == 0:
                commanded = True
            elif key.fileobj is self._listener:
                self._connect()
            elif isinstance(key.fileobj, socket.socket) and key.fileobj.fileno() >= 0:
                link: ProxiedConnection = key.data
                alive = link.serve(key.fileobj, events)
                for end in link.ends:
                    self._watch(end, link, link.events(end) if alive else 0)
                    if not alive:
                        end.close()
        self._release_due()
        return commanded

    def _watch(self, end: socket.socket, link: ProxiedConnection, events: int) -> None:
        if end in self._sockets.get_map():
            self._sockets.unregister(end)
        if events:
            self._sockets.register(end, events, link)

    def _connect(self) -> None:
        client, _ = self._listener.accept()
        family = socket.AF_UNIX if isinstance(self._to, Path) else socket.AF_INET
        server = socket.socket(family, socket.SOCK_STREAM)
        try:
            server.connect(str(self._to) if isinstance(self._to, Path) else self._to)
        except OSError:
            client.close()
            server.close()
            return
        link = ProxiedConnection(client, server, self._counters)
        link.watch, link.patience_s = Watch(self._watched), self._patience_s
        self._links.append(link)
        for end in (client, server):
            if end.family == socket.AF_INET:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            end.setblocking(False)
            self._sockets.register(end, selectors.EVENT_READ, link)
        self._counters.connections += 1


def main() -> int:
    """The proxy process."""
    parser = argparse.ArgumentParser(prog="python -m rowpath.machine.counters.counting_proxy")
    to = parser.add_mutually_exclusive_group(required=True)
    to.add_argument("--to-tcp", metavar="[ADDRESS:]PORT")
    to.add_argument("--to-unix", type=Path, metavar="PATH")
    listen = parser.add_mutually_exclusive_group(required=True)
    listen.add_argument("--listen-tcp", type=int, metavar="PORT")
    listen.add_argument("--listen-unix", type=Path, metavar="PATH")
    options = parser.parse_args()
    listener = socket.socket(socket.AF_UNIX if options.listen_unix else socket.AF_INET, socket.SOCK_STREAM)
    os.umask(0o077)
    listener.bind(str(options.listen_unix) if options.listen_unix else ("127.0.0.1", options.listen_tcp))
    listener.listen(64)
    print(f"ready {0 if options.listen_unix else listener.getsockname()[1]}", flush=True)
    try:
        address, _, port_there = (options.to_tcp or "").rpartition(":")
        Switchboard(listener, options.to_unix or (address or "127.0.0.1", int(port_there))).serve()
    finally:
        if options.listen_unix:
            options.listen_unix.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
