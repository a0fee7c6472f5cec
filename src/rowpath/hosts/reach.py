"""How a program of ours is run on a host: over ssh, or here, behind words that lead into the host's namespaces."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import msgspec

from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.hosts.node import Answer, Request
from rowpath.machine import processes
from rowpath.machine.directories import cache_dir
from rowpath.model.hosts import Host

TIMEOUT_S = 240.0
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-T")


def words(host: Host | None) -> list[str]:
    """The command that reads a request; of None for this machine."""
    if host is not None and host.ssh:
        return [*SSH, host.ssh, "--", f"{shlex.quote(host.rowpath or 'rowpath')} hosts node"]
    before = list(host.command) if host is not None else []
    if host is not None and host.rowpath:
        return [*before, host.rowpath, "hosts", "node"]
    return [*before, sys.executable, "-P", "-m", "rowpath.hosts.node"]


def carry_out(host: Host | None, request: Request) -> Answer:
    """Have a request carried out on a host. Errors: RowpathError, EnvironmentMissing when it cannot be reached."""
    command = words(host)
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "ROWPATH_CACHE": str(cache_dir())}
    try:
        text = msgspec.json.encode(request).decode()
        done = processes.run(command, text=text, environment=environment, timeout_s=TIMEOUT_S)
    except OSError as error:
        raise EnvironmentMissing(f"cannot reach host '{request.host}': {error}", shlex.join(command)) from error
    try:
        answer = msgspec.json.decode(done.stdout.strip().splitlines()[-1], type=Answer)
    except (IndexError, msgspec.DecodeError) as error:
        said = " ".join((done.stderr or done.stdout).strip().splitlines()[-2:])[-300:]
        what = f"cannot reach host '{request.host}': status {done.returncode}, {said or 'no output'}"
        raise EnvironmentMissing(what, f"try by hand: {shlex.join(command)}") from error
    if answer.error:
        raise RowpathError(f"host '{request.host}': {answer.error}", answer.hint)
    return answer
