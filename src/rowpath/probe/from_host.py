"""A probe that is asked from another host: all of it is done there, what it writes is kept here as it goes on.

Run as a program it is the host's part, which the host's agent starts. It reads what is asked on stdin, so that no
secret is in arguments, and writes its progress into a file beside its run directory.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import shutil
import signal
import sys
from dataclasses import dataclass, field, replace
from functools import partial, partialmethod
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from rowpath import errors
from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis
from rowpath.errors import InternalError, UsageError
from rowpath.execution.run import RunOutcome
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts.agent import ERRORS, like_a_users_program
from rowpath.hosts.replies import Ask, Reply, reply_of, value_of
from rowpath.journal.records import EndRecord
from rowpath.journal.writer import Journal, RunDirectory, new_name
from rowpath.machine import processes
from rowpath.model.hosts import HostsFile
from rowpath.model.progress import Progress
from rowpath.own_database.connection_string import as_url
from rowpath.own_database.query_check import check_query
from rowpath.own_database.query_text import text_of
from rowpath.own_database.question import ProbeOptions, hide, query_of
from rowpath.own_database.target import PASSWORD_VARIABLE, read_target, typed_secrets
from rowpath.probe import command
from rowpath.scrubber import Scrubber

RUN, EVENTS = "run", "events"  # in the program's folder
SAY, RESULT = "say", "result"  # events that are no progress
MIRRORED = (EVENTS, ERRORS, f"{RUN}/*", f"{RUN}/logs/*")
ROLES = {"client", "load"}
LAST_LINES = 20


@dataclass(frozen=True)
class ProbeRequest:
    """What the host is to probe."""

    options: ProbeOptions
    command: list[str]  # the user's, which the journal has without secrets
    password: str = field(repr=False)  # of the user's environment


class Events(Progress):
    """Progress as lines of a file: a method's name and what it got."""

    def __init__(self, file: Path) -> None:
        self._stream = file.open("ab", buffering=0)

    def write(self, name: str, *values: Any) -> None:
        """Append one event."""
        self._stream.write(msgspec.json.encode([name, *values]) + b"\n")

    begin = partialmethod(write, "begin")
    phase = partialmethod(write, "phase")
    block = partialmethod(write, "block")
    tried = partialmethod(write, "tried")
    note = partialmethod(write, "note")
    end = partialmethod(write, "end")


def check_host(name: str, hosts: HostsFile) -> None:
    """Errors: UsageError unless clients may be on the host of that name; it names those on which they may."""
    known = tuple(host.name for host in hosts.host if ROLES & set(host.roles))
    if name in known:
        return
    there = name in (host.name for host in hosts.host)
    what = f"host '{name}' has neither the role client nor load" if there else f"unknown host '{name}'"
    what = f"--from {name}: {what}" if name else "--from is missing: name the host to probe from"
    raise UsageError(what, ", or ".join(f"--from {host}" for host in known))


def readied(options: ProbeOptions) -> tuple[ProbeOptions, dict[str, bytes]]:
    """The options as the host gets them, and files that go with them. The password is hidden in our command line.

    Errors: UsageError; the host finds what is wrong beside the query.
    """
    url = as_url(options.url, own_driver=bool(options.jar or options.odbc_driver)).url
    hide(typed_secrets(url))
    command.check_connections(options)
    try:
        target = read_target(options.url, {})
    except UsageError:  # the host may have what this machine lacks
        target = None
    if target is not None and target.deployment == "server":
        check_query(query_of(options, target), target.engine)
    there = f"a file of host {options.from_host}"
    if re.fullmatch(r"[^:/~][^:]*", url):
        what = f"{options.url} is not a URL, so it is {there}: its path must be absolute"
        raise UsageError(what, f"/PATH/{options.url}")
    for flag, file in (("--jar", options.jar), ("--odbc-driver", options.odbc_driver)):
        if file is not None and not file.is_absolute():
            raise UsageError(f"{flag} {file}: {there}: its path must be absolute", f"{flag} /PATH/{file}")
    if options.query_file is not None:
        options = replace(options, query=text_of(options.query_file), query_file=None)
    if (given := options.params_file) is None:
        return options, {}
    kept = Path("given") / given.name
    try:
        return replace(options, params_file=kept), {str(kept): given.read_bytes()}
    except OSError as error:
        raise UsageError(f"cannot read {given}: {error.strerror}", "--params FILE.csv, in UTF-8") from error


def probe(options: ProbeOptions, ask: Ask, progress: Progress, files: dict[str, bytes]) -> tuple[RunOutcome, Analysis]:
    """Probe from the host, and leave a run directory here; `ask`: the host's agent. Errors: RowpathError, HostLost."""
    directory = RunDirectory(options.directory or new_name("probe"))
    directory.create()
    directory.work.rmdir()
    with contextlib.ExitStack() as cleanup:
        cleanup.callback(command.forget_unbegun, directory)
        cleanup.callback(progress.end)
        mirror = Mirror(options.from_host, ask, directory, progress)
        cleanup.callback(mirror.end)
        there = replace(options, directory=Path(RUN))
        mirror.start(ProbeRequest(there, sys.argv[1:], os.environ.get(PASSWORD_VARIABLE, "")), files)
        try:
            interrupted = mirror.follow()
        except HostLost:
            mirror.cut_off()
            raise
        return RunOutcome(directory, interrupted), analyse(directory.path)


class Mirror:
    """The program there, and here what it has written so far."""

    def __init__(self, host: str, ask: Ask, directory: RunDirectory, progress: Progress) -> None:
        self._host = host
        self._ask = ask
        self._directory = directory
        self._progress = progress
        self._seen: dict[str, int] = {}
        self._torn = b""  # the begin of an event
        self._errors = b""
        self._result: Reply | None = None

    def start(self, request: ProbeRequest, files: dict[str, bytes]) -> None:
        """Start the program."""
        self._ask("program_start", __name__, pickle.dumps(request), files)

    def follow(self) -> bool:
        """Keep what it writes, until its end; whether it was interrupted. Errors: as they arose there; HostLost."""
        asked_to_end = False
        while True:
            try:
                written, status = self._ask("program_look", MIRRORED, dict(self._seen))
                with processes.signals_held():
                    for name, data in written.items():
                        self._keep(name, data)
                if status is not None and not written:
                    return self._outcome(status)
            except KeyboardInterrupt:
                if asked_to_end:
                    raise
                asked_to_end = True
                self._ask("program_interrupt")

    def _keep(self, name: str, data: bytes) -> None:
        self._seen[name] = self._seen.get(name, 0) + len(data)
        if name == ERRORS:
            self._errors += data
        elif name == EVENTS:
            *lines, self._torn = (self._torn + data).split(b"\n")
            for line in lines:
                event, *values = msgspec.json.decode(line)
                if event == RESULT:
                    self._result = (values[0], values[1])
                elif event == SAY:
                    print(values[0], file=sys.stderr)
                else:
                    getattr(self._progress, event)(*values)
        else:
            file = self._directory.path / PurePosixPath(name).relative_to(RUN)
            with file.open("ab") as stream:
                file.chmod(0o600)
                stream.write(data)

    def _outcome(self, status: int) -> bool:
        if self._result is None:
            last = "\n".join(self._errors.decode(errors="replace").splitlines()[-LAST_LINES:])
            raise InternalError(f"the probe on host {self._host} ended with status {status}:\n{last}", "report it")
        kind, value = self._result
        if kind == "error":
            name, message, hint = value
            raise getattr(errors, name)(f"on host {self._host}: {message}", hint)
        return bool(value_of(self._host, self._result))

    def cut_off(self) -> None:
        """The host is lost: what was measured stays, and where it is is said."""
        if not self._directory.samples.is_file():
            return
        with contextlib.closing(Journal(self._directory, Scrubber())) as journal:
            journal.write(EndRecord("interrupted"))
        self._progress.note(f"what was measured until then: rowpath show {self._directory.path}")

    def end(self) -> None:
        """End the program, as far as its host can be reached."""
        with contextlib.suppress(HostLost, errors.RowpathError):
            self._ask("program_end")
        shutil.rmtree(self._directory.work, ignore_errors=True)


def main() -> None:
    """Probe, and leave the run directory, the events and what it came to."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    request: ProbeRequest = pickle.loads(sys.stdin.buffer.read())  # of our own controller
    events = Events(Path(EVENTS))

    def probed() -> bool:
        like_a_users_program()
        sys.argv = ["rowpath", *request.command]
        environment = os.environ | ({PASSWORD_VARIABLE: request.password} if request.password else {})
        say = partial(events.write, SAY)
        return command.probe(request.options, events, environment=environment, say=say)[0].interrupted

    try:
        reply = reply_of(probed)
    except KeyboardInterrupt:
        reply = ("ok", True)
    finally:
        processes.stop_all()
    events.write(RESULT, *reply)


if __name__ == "__main__":
    main()
