"""Runner processes: start, speak the protocol with deadlines, stop. One request under way at a time."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from typing_extensions import override

from rowpath.machine import processes
from rowpath.runners.manifest import Command
from rowpath.runners.protocol import (
    CODEC,
    PROTOCOL,
    REPLY_LIMIT_BYTES,
    REQUEST_LIMIT_BYTES,
    REQUIREMENTS,
    Bye,
    Hello,
    HelloReply,
    Open,
    Reply,
    foreign_texts,
)
from rowpath.scrubber import PART, Scrubber
from rowpath.text import printable

AnyReply = TypeVar("AnyReply", bound=Reply)
NOISE_LINES_KEPT = 20
ENDS_WITHIN_S = 10.0  # once its reply stream is closed; on a busy machine
LISTEN_EACH_S = 0.5
LEFT_BEHIND = "psqlodbc_*{user}{pid}.log"  # in /tmp: what psqlodbc writes when it disconnects, whatever it was asked
READ_BYTES = 4096  # holds any reply to a sample; a large buffer costs page faults


class RunnerFailure(Exception):
    """A request failed: `kind` is the protocol's; `crashed`, `timeout`, `protocol` when the runner is lost."""

    def __init__(self, kind: str, text: str, code: str = "") -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind
        self.code = code
        self.text = text

    @override
    def __reduce__(self) -> tuple[type[RunnerFailure], tuple[str, str, str]]:
        return type(self), (self.kind, self.text, self.code)

    @property
    def fatal(self) -> bool:
        """Whether the runner is gone."""
        return self.kind in ("crashed", "timeout", "protocol")


class Runner:
    """One living runner process on one path.

    What its driver and server say, in errors and in lines of a log, has none of the secrets that `open` sends.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], log: Callable[[str], None], scrubber: Scrubber | None = None
    ) -> None:
        self.process = process
        self.pid = process.pid
        self.loop_tid = process.pid
        self.noise: list[str] = []
        self._log = log
        self._scrubber = scrubber or Scrubber()
        self._id = 0
        self._buffer = bytearray()
        self._lines: list[bytes] = []
        self._begun_line = b""  # of stderr
        assert process.stdin and process.stdout and process.stderr
        self._in, self._out, self._err = process.stdin, process.stdout, process.stderr
        self._poll = select.poll()
        for stream in (self._out, self._err):
            os.set_blocking(stream.fileno(), False)
            self._poll.register(stream.fileno(), select.POLLIN)

    @classmethod
    def start(
        cls,
        command: Command,
        cpus: tuple[int, ...],
        log: Callable[[str], None] = lambda _line: None,
        environment: Mapping[str, str] | None = None,
        scrubber: Scrubber | None = None,
    ) -> Runner:
        """Start the program; it dies with us. RunnerFailure `crashed` when it cannot be started.

        `scrubber`: knows more to hide, and more names, than `open` sends.
        """
        try:
            process = processes.start(
                list(command.arguments),
                environment=command.environment | dict(environment or {}),
                cpus=cpus,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise RunnerFailure("crashed", f"{command.arguments[0]} did not start: {error.strerror}") from error
        return cls(process, log, scrubber)

    def hello(self, adapter: str, timeout_s: float = 60.0, requires: tuple[str, ...] = ()) -> HelloReply:
        """Shake hands, requiring more than the least when asked; RunnerFailure `protocol` when versions do not fit."""
        wanted = {"protocol": PROTOCOL, "codec": CODEC, "requires": [*REQUIREMENTS, *requires]}
        reply = self.request(Hello, timeout_s, adapter=adapter, expect=HelloReply, **wanted)
        if reply.protocol[0] != PROTOCOL[0] or reply.codec != CODEC:
            self.kill()
            raise RunnerFailure(
                "protocol",
                f"the runner speaks protocol {'.'.join(map(str, reply.protocol))} with codec {reply.codec}, "
                f"this Rowpath speaks {'.'.join(map(str, PROTOCOL))} with codec {CODEC}",
            )
        self.loop_tid = reply.loop_tid
        return reply

    def request(self, message: type, timeout_s: float, *, expect: type[AnyReply], **fields: Any) -> AnyReply:
        """Send one request and wait for its reply; RunnerFailure otherwise."""
        self.send(message, timeout_s, **fields)
        return self.receive(timeout_s, expect)

    def send(self, message: type, timeout_s: float, **fields: Any) -> None:
        """Send one request."""
        self._id += 1
        if message is Open:
            self._scrubber.learn(fields["options"])
        line = msgspec.json.encode(message(id=self._id, deadline_ms=int(timeout_s * 1000), **fields)) + b"\n"
        if (size := len(line)) > REQUEST_LIMIT_BYTES:
            raise RunnerFailure("internal", f"a request of {size} bytes is over the limit of {REQUEST_LIMIT_BYTES}")
        if self._in.closed:
            raise RunnerFailure("crashed", "the runner was stopped before")
        try:
            self._in.write(line)
            self._in.flush()
        except OSError as error:
            raise self.lost() from error

    def receive(self, timeout_s: float, expect: type[AnyReply]) -> AnyReply:
        """Wait for the reply to the last request, asleep; the runner is killed when the deadline passes."""
        deadline = time.monotonic() + timeout_s
        while True:
            while self._lines:
                if (reply := self._parse(self._lines.pop(0), expect)) is not None:
                    return reply
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                self.kill()
                raise RunnerFailure("timeout", f"no reply within {timeout_s:g} s; the runner was stopped")
            for descriptor, _event in self._poll.poll(left_s * 1000):
                if descriptor == self._err.fileno():
                    self._read_errors()
                elif not self._read_replies():
                    raise self.lost()

    def replies_within(self, timeout_s: float) -> bool:
        """Whether a reply, or its end, is there within that time; it is left running when not."""
        poll, until = select.poll(), time.monotonic() + timeout_s
        poll.register(self._out.fileno(), select.POLLIN)
        while not self._lines and not poll.poll(max(0.0, min(LISTEN_EACH_S, until - time.monotonic())) * 1000):
            if time.monotonic() >= until:
                return False
            self.listen()
        return True

    def listen(self) -> None:
        """Read what it wrote beside its replies: without a request for long, it would wait for us to read that."""
        if not self._err.closed:
            self._read_errors()

    def _read_replies(self) -> bool:
        try:
            data = os.read(self._out.fileno(), READ_BYTES)
        except BlockingIOError:
            return True
        if not data:
            return False
        self._buffer += data
        *lines, rest = self._buffer.split(b"\n")
        self._lines += [bytes(line) for line in lines]
        self._buffer = bytearray(rest)
        if len(rest) > REPLY_LIMIT_BYTES:
            self.kill()
            raise RunnerFailure("protocol", f"a reply is longer than {REPLY_LIMIT_BYTES} bytes")
        return True

    def _read_errors(self) -> None:
        """Log the lines that are whole: a secret may be cut where a read ends."""
        try:
            data = os.read(self._err.fileno(), 1 << 16)
        except BlockingIOError:
            return
        if not data:
            with contextlib.suppress(KeyError):  # the last words of a lost runner may be read twice
                self._poll.unregister(self._err.fileno())
        whole, end, self._begun_line = (self._begun_line + data).rpartition(b"\n")
        self._log_lines(whole + end)
        if not data or len(self._begun_line) > REPLY_LIMIT_BYTES:
            self._log_begun_line()

    def _log_begun_line(self) -> None:
        self._log_lines(self._begun_line)
        self._begun_line = b""

    def _log_lines(self, lines: bytes) -> None:
        for line in lines.decode(errors="replace").splitlines():
            said = self._said(line)
            self._log(said)
            self._keep_noise(said)

    def _said(self, text: str) -> str:
        """Foreign text as it may be shown and kept."""
        return printable(self._scrubber.clean(text))

    def _keep_noise(self, line: str) -> None:
        if len(self.noise) < NOISE_LINES_KEPT:
            self.noise.append(line[:300])

    def _parse(self, line: bytes, expect: type[AnyReply]) -> AnyReply | None:
        # The usual case in one step: a core that has slept through a block is slow at everything.
        with contextlib.suppress(msgspec.MsgspecError):
            reply = msgspec.json.decode(line, type=expect)
            if reply.id == self._id and reply.error is None:
                return self._clean(reply)
        return self._parse_unusual(line, expect)

    def _clean(self, reply: AnyReply) -> AnyReply:
        for foreign in foreign_texts(reply):
            foreign.text = self._said(foreign.text)
        return reply

    def _parse_unusual(self, line: bytes, expect: type[AnyReply]) -> AnyReply | None:
        try:
            raw = json.loads(line)
        except ValueError:
            raw = None
        if not isinstance(raw, dict):
            text = self._said(line.decode(errors="replace"))
            self._log(f"noise on the reply stream: {text}")
            self._keep_noise(text)
            return None
        if raw.get("id") != self._id:
            self.kill()
            what = f"answered request {self._said(repr(raw.get('id')))} while {self._id} was under way"
            raise RunnerFailure("protocol", f"{what}; the runner was stopped")
        if (error := raw.get("error")) is not None:
            code = str(error.get("code", ""))
            code = self._said(code) if len(code) >= PART else printable(code)  # a short one is no secret
            raise RunnerFailure(str(error.get("kind", "internal")), self._said(str(error.get("text", ""))), code)
        try:
            return self._clean(msgspec.convert(raw, expect))
        except msgspec.ValidationError as error:
            self.kill()
            raise RunnerFailure("protocol", f"{expect.__name__}: {error}; the runner was stopped") from error

    def lost(self) -> RunnerFailure:
        """The failure of a process that has ended."""
        try:
            status = self.process.wait(timeout=ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return RunnerFailure("protocol", "the runner closed its reply stream; it was stopped")
        self._read_errors()
        self._log_begun_line()
        last = f"; last output: {self.noise[-1]}" if self.noise else ""
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return RunnerFailure("crashed", f"the runner {how}{last}")

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None

    def kill(self) -> None:
        """Stop it at once."""
        processes.stop(self.process, processes.AT_ONCE)
        self._remove_left_behind()

    def stop(self) -> None:
        """End it in good order where it still answers, by signal otherwise; harmless when it is gone."""
        if self.alive():
            with contextlib.suppress(RunnerFailure, OSError, subprocess.TimeoutExpired):
                self.request(Bye, 5.0, expect=Reply)
                self._in.close()
                self.process.wait(timeout=5.0)
        processes.stop(self.process, ((signal.SIGTERM, 1.0), *processes.AT_ONCE))
        self._log_begun_line()
        self._remove_left_behind()

    def _remove_left_behind(self) -> None:
        pattern = LEFT_BEHIND.format(user=pwd.getpwuid(os.getuid()).pw_name, pid=self.pid)
        for file in Path("/tmp").glob(pattern):
            file.unlink(missing_ok=True)
