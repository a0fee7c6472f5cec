"""How one of our programs is run on a host: over ssh, or here, behind words that lead into the host's namespaces."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from rowpath.errors import EnvironmentMissing, RowpathError, TimedOut
from rowpath.hosts import setup
from rowpath.hosts.node import NodeAnswer, NodeRequest
from rowpath.machine import processes
from rowpath.machine.directories import cache_dir
from rowpath.model.hosts import Host

TIMEOUT_S = 240.0
ERRAND_TIMEOUT_S = 60.0
AT_ONCE = 8  # hosts: sshd, of a jump host too, refuses further ones while ten are logging in (MaxStartups)
LOOK_TIMEOUT_S = 30.0  # for a host that is reached and does not answer
# No question can be answered: ssh must end instead. A way that breaks is noticed after 15 s.
SSH = (
    *("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),
)
SSH_FAILED = 255  # ssh's own status; any other is of the command there
NOT_FOUND = (126, 127)  # a shell's statuses
# What ssh writes, what it means, and the next command; {ssh} is what ssh is to connect to.
FAULTS = (
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "its key differs from the one that ssh knows", "ssh-keygen -R ADDRESS"),
    ("Host key verification failed", "ssh does not know its key", "connect once by hand and check the key: ssh {ssh}"),
    ("Permission denied", "ssh cannot log in without a password", "ssh-copy-id {ssh}"),
    ("Could not resolve hostname", "ssh does not know its name", "correct ssh = in the hosts file"),
    ("Connection refused", "no SSH server listens there", "start sshd there, then: ssh {ssh} true"),
    ("timed out", "it does not answer", "check the address and the network: ssh {ssh} true"),
    ("not responding", "the connection to it broke", "check the network, then try again"),
)


def words(host: Host | None) -> list[str]:
    """The command that reads a request; of None for this machine."""
    if host is not None and host.ssh:
        return [*SSH, *shlex.split(host.ssh), "--", f"{_quoted(host.rowpath or 'rowpath')} hosts node"]
    before = list(host.command) if host is not None else []
    if host is not None and host.rowpath:
        return [*before, host.rowpath, "hosts", "node"]
    return [*before, sys.executable, "-P", "-m", "rowpath.hosts.node"]


def _quoted(path: str) -> str:
    """Quote a path for the shell there, which expands `~`."""
    return f"~/{shlex.quote(path[2:])}" if path.startswith("~/") else shlex.quote(path)


def encoded(host: Host | None, request: NodeRequest) -> bytes:
    """The request as that host reads it: with the cache that its file names."""
    return msgspec.json.encode(msgspec.structs.replace(request, cache=host.cache if host is not None else ""))


def carry_out(host: Host | None, request: NodeRequest) -> NodeAnswer:
    """Have a request carried out on a host. Errors: RowpathError, EnvironmentMissing when it cannot be reached."""
    command = words(host)
    timeout_s = LOOK_TIMEOUT_S if request.action == "look" else TIMEOUT_S
    try:
        text = encoded(host, request).decode()
        done = processes.run(command, text=text, environment=_environment(), timeout_s=timeout_s)
    except OSError as error:
        raise EnvironmentMissing(f"cannot reach host '{request.host}': {error}", shlex.join(command)) from error
    except TimedOut as error:
        what = f"cannot reach host '{request.host}': Rowpath there did not answer within {timeout_s:g} s"
        raise EnvironmentMissing(what, f"try by hand: {shlex.join(command)} </dev/null") from error
    return _answer(host, request, command, done)


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(__file__).parents[2]), "ROWPATH_CACHE": str(cache_dir())}


class Errand:
    """A request that a host carries out while something else goes on."""

    def __init__(self, host: Host, request: NodeRequest) -> None:
        """Errors: EnvironmentMissing when it cannot begin."""
        self._host, self._request, self._command = host, request, words(host)
        self._until_s = time.monotonic() + ERRAND_TIMEOUT_S
        pipe = subprocess.PIPE
        try:
            self._process = processes.start(
                self._command, environment=_environment(), stdin=pipe, stdout=pipe, stderr=pipe
            )
        except OSError as error:
            raise EnvironmentMissing(f"cannot reach host '{host.name}': {error}", shlex.join(self._command)) from error
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(encoded(host, request))
            self._process.stdin.close()
        self._process.stdin = None

    def over(self) -> bool:
        """Whether it has ended, or has had its time."""
        return self._process.poll() is not None or time.monotonic() > self._until_s

    def answer(self) -> NodeAnswer:
        """What came of it, once it is over. Errors: as `carry_out`."""
        if self._process.poll() is None:
            self._process.kill()
        out, errors = (stream.decode(errors="replace") for stream in self._process.communicate())
        processes.stop(self._process, processes.AT_ONCE)
        done = subprocess.CompletedProcess(self._command, self._process.returncode, out, errors)
        return _answer(self._host, self._request, self._command, done)


def _answer(
    host: Host | None, request: NodeRequest, command: list[str], done: subprocess.CompletedProcess[str]
) -> NodeAnswer:
    """The answer among what the program wrote. Errors: as `carry_out`."""
    for line in reversed(done.stdout.splitlines()):  # a shell's own greeting may be around it
        try:
            answer = msgspec.json.decode(line, type=NodeAnswer)
        except msgspec.DecodeError:
            continue
        if answer.error:
            where = f"on host {request.host}: " if host is not None and host.ssh and answer.hint else ""
            named = "" if f"host '{request.host}'" in answer.error else f"host '{request.host}': "
            hint = answer.hint
            if host is not None and host.cache and hint == setup.HINT:
                hint = f"ROWPATH_CACHE={_quoted(host.cache)} {hint}"
            raise RowpathError(named + answer.error, where + hint)
        return answer
    said = " ".join((done.stderr or done.stdout).strip().splitlines()[-2:])[-300:] or "no output"
    what, hint = _fault(host, done.returncode, done.stderr) or (
        f"status {done.returncode}, {said}",
        f"try by hand: {shlex.join(command)} </dev/null",
    )
    raise EnvironmentMissing(f"cannot reach host '{request.host}': {what}", hint)


def _fault(host: Host | None, status: int, errors: str) -> tuple[str, str] | None:
    """What went wrong on the way to a host, and the next command; None when it is none of what is known."""
    if host is None or not host.ssh:
        return None
    last = " ".join(errors.strip().splitlines()[-1:])[-200:]
    if status == SSH_FAILED:
        for written, meaning, hint in FAULTS:
            if written in errors:
                return f"{meaning} ({last})", hint.format(ssh=host.ssh)
    if status in NOT_FOUND:
        named = host.rowpath or "rowpath"
        return f"'{named}' does not run there ({last})", 'write the path of Rowpath there: rowpath = "/path/rowpath"'
    return None
