"""Child processes that never survive us: started pinned and bound to our life, stopped by pid, never by name.

And what the kernel shows of any process, those of servers included that others run: nothing of theirs is ever touched.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import ipaddress
import json
import os
import pwd
import re
import select
import signal
import socket
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from rowpath.errors import InternalError, TimedOut
from rowpath.machine import jobs

Stream = int | IO[bytes] | None
Process = subprocess.Popen[bytes]
Steps = Sequence[tuple[signal.Signals, float]]

AT_ONCE: Steps = ((signal.SIGKILL, 30.0),)  # on a busy machine a killed process may wait long for the CPU to end
GENTLE: Steps = ((signal.SIGTERM, 3.0), *AT_ONCE)
HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1
READY_TIMEOUT_S = 60
# What a user's shell may hold and what would silently change a measured program.
SECRET_NAMES = re.compile(r"ROWPATH_\w+_(URL|PASSWORD)")  # where a given server is
FOREIGN_PREFIXES = (
    "PG",
    "MYSQL_",
    "MARIADB_",
    "LD_PRELOAD",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA",
    "_JAVA_OPTIONS",
    "CLASSPATH",
    "PYTHON",
    "MONO_",
    "RAY_",
    "SPT_NOENV",
)

_prctl = ctypes.CDLL(None, use_errno=True).prctl  # looked up now: a forked child must not load anything
_living: dict[int, Process] = {}


def environment_for(added: Mapping[str, str] = {}) -> dict[str, str]:
    """Our environment without secrets and variables that would change a measured program, and with `added`."""
    dropped = [name for name in os.environ if name.startswith(FOREIGN_PREFIXES) or SECRET_NAMES.fullmatch(name)]
    return {name: value for name, value in os.environ.items() if name not in dropped} | dict(added)


def die_with(parent: int, death_signal: signal.Signals = signal.SIGKILL) -> None:
    """Let this child get `death_signal` when the process `parent` dies; exit when it already has."""
    _prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(127)


def start(
    arguments: Sequence[str | Path],
    *,
    environment: Mapping[str, str] = {},
    cpus: Iterable[int] = (),
    user: str | None = None,
    directory: Path | None = None,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = subprocess.DEVNULL,
    stderr: Stream = subprocess.DEVNULL,
    death_signal: signal.Signals = signal.SIGKILL,
) -> Process:
    """A child process, pinned to `cpus` (empty: ours), that gets `death_signal` when we die, however we die.

    `environment` is added to ours; `user` (root only) also sets that user's group and no other. The child has a
    session of its own: Ctrl-C reaches only us, so that the end is orderly, and Linux, which shares a core out by
    session, gives it the same share whatever else runs in ours. From the main thread or a job, because the kernel
    binds a child to the thread that started it. Errors: OSError when it cannot be started.
    """
    parent, pinned = os.getpid(), frozenset(cpus)
    group = pwd.getpwnam(user).pw_gid if user is not None else None

    def in_the_child() -> None:
        die_with(parent, death_signal)  # after the change of user, which clears the death signal
        if pinned:
            os.sched_setaffinity(0, pinned)

    def started() -> Process:
        with signals_held():
            process = subprocess.Popen(
                [os.fspath(argument) for argument in arguments],
                env=environment_for(environment),
                cwd=directory,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                user=user,
                group=group,
                extra_groups=None if user is None else [],
                start_new_session=True,
                preexec_fn=in_the_child,  # noqa: PLW1509 - it allocates nothing and the libraries are loaded
            )
            _living[process.pid] = process
        return process

    return jobs.in_main_thread(started)


def side_by_side(todo: Iterable[Callable[[], object]], at_most: int = 0) -> None:
    """Do these jobs, `at_most` (0: all) at once; they may start processes, which end with them.

    Errors: that of the first that failed; what the others began is given up.
    """
    before = set(_living)
    jobs.side_by_side(todo, lambda: stop_all(before), at_most)


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Handle signals after the body; for a fork, in which Python drops what a handler raises, or what must be whole."""
    held: list[signal.Signals] = []
    usual = {number: handler for number in HELD if callable(handler := signal.getsignal(number))}
    for number in usual:
        signal.signal(number, lambda number, _frame: held.append(signal.Signals(number)))
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
        for number in held:
            usual[number](number, None)


def run(
    arguments: Sequence[str | Path],
    *,
    text: str = "",
    source: Path | None = None,
    timeout_s: float = 120.0,
    environment: Mapping[str, str] = {},
    user: str | None = None,
    directory: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """A short child process from start to end, `text` or a file on its stdin; bound to our life like any other.

    Errors: OSError when it cannot be started, TimedOut when it does not end (it is killed then).
    """
    with source.open("rb") if source is not None else contextlib.nullcontext(subprocess.PIPE) as given:
        process = start(
            arguments,
            environment=environment,
            user=user,
            directory=directory,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    try:
        out, err = process.communicate(text.encode() if source is None else None, timeout_s)
    except subprocess.TimeoutExpired as error:
        late = f"{arguments[0]} did not end within {timeout_s:g} s"
        raise TimedOut(late, "try again on a quieter machine") from error
    finally:
        stop(process, AT_ONCE)
    jobs.check()
    printed = (stream.decode(errors="replace") for stream in (out, err))
    return subprocess.CompletedProcess(process.args, process.returncode, *printed)


def asked(
    command: Sequence[str | Path], timeout_s: float, *, check: bool = False, environment: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    """What a program says about itself, also in a thread; it sees none of our secrets.

    Errors: OSError, subprocess.SubprocessError; with `check` where it fails too.
    """
    everything = environment_for(environment)
    return subprocess.run(command, capture_output=True, text=True, check=check, timeout=timeout_s, env=everything)


def stop(process: Process, steps: Steps = GENTLE) -> int:
    """End it and return its status: each signal in turn, then up to this many seconds; harmless when it has ended."""
    for signal_number, grace_s in steps:
        if process.poll() is not None:
            break
        process.send_signal(signal_number)
        wait(process, grace_s)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):  # what a dead process did not take is of no use to anybody
                stream.close()
    if process.poll() is None:
        raise InternalError(f"cannot stop process {process.pid}", f"kill -9 {process.pid}")
    _living.pop(process.pid, None)
    return process.returncode


def start_listener(
    title: str,
    arguments: Sequence[str | Path],
    environment: Mapping[str, str] = {},
    cpus: Iterable[int] = (),
    stderr: Stream = subprocess.DEVNULL,
    first_line: bytes = b"",
) -> tuple[Process, int]:
    """One of our programs that prints `ready tcp=PORT` and ends with its stdin: its process and that port.

    `first_line`: what it reads first, such as a secret, which stands in no command line.
    Errors: InternalError when it does not get ready.
    """
    pipe = subprocess.PIPE
    process = start(arguments, environment=environment, cpus=cpus, stdin=pipe, stdout=pipe, stderr=stderr)
    assert process.stdout is not None and process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it has ended, which its missing line shows
        process.stdin.write(first_line)
        process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], READY_TIMEOUT_S)
    line = process.stdout.readline().decode(errors="replace") if ready else ""
    if not line.startswith("ready tcp="):
        stop(process, AT_ONCE)
        raise InternalError(f"{title} did not start (output: {json.dumps(line)})", "rowpath doctor")
    return process, int(line.removeprefix("ready tcp="))


def wait(process: Process, timeout_s: float) -> bool:
    """Whether it has ended, after at most this many seconds."""
    if process.poll() is not None:
        return True
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        return process.poll() is not None
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll(timeout_s * 1000)
    finally:
        os.close(descriptor)
    return process.poll() is not None


def stop_all(spared: Collection[int] = ()) -> None:
    """Kill every child that is still alive, but those with the pids `spared`; the last act of every way out."""
    every = [process for pid, process in list(_living.items()) if pid not in spared]
    for process in every:
        if process.poll() is None:
            process.kill()
    for process in every:
        wait(process, 5.0)
        _living.pop(process.pid, None)


def living() -> list[int]:
    """Pids of our children that are alive."""
    return [pid for pid, process in _living.items() if process.poll() is None]


def pin(pid: int, cpus: Iterable[int]) -> None:
    """Pin every thread of a process, also those that it starts during the call; harmless when it has ended."""
    wanted = frozenset(cpus)
    pinned: set[int] = set()
    while new := set(threads(pid)) - pinned:
        for tid in new:
            pin_thread(tid, wanted)
        pinned |= new


def pin_thread(tid: int, cpus: Iterable[int]) -> None:
    """Pin one thread; harmless when it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.sched_setaffinity(tid, frozenset(cpus))


def threads(pid: int) -> list[int]:
    """Thread ids of a process, none when it has ended."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208
    except (FileNotFoundError, ProcessLookupError):
        return []


def name(tid: int) -> str:
    """The name of a process or thread, at most 15 characters; empty when it has ended."""
    return shown(f"{tid}/comm").decode(errors="replace").rstrip("\n")


def pids() -> list[int]:
    """Every process."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]  # noqa: PTH208


def descendants(pid: int) -> list[int]:
    """Pids of all living children of a process, their children included."""
    children: dict[int, list[int]] = {}
    for process in pids():
        if (fields := stat_fields(process)) and fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(process)
    family = [pid]
    for process in family:  # which grows meanwhile
        family += children.get(process, [])
    return family[1:]


def stat_fields(pid: int) -> list[str]:
    """Fields of `/proc/PID/stat` after the name (state, parent, …); empty when there is no such process."""
    return shown(f"{pid}/stat").rpartition(b") ")[2].decode().split()


def shown(file: str) -> bytes:
    """What the kernel shows in a file of /proc, such as `PID/status`; empty when the process has ended."""
    try:
        with open(f"/proc/{file}", "rb") as stream:  # noqa: PTH123
            return stream.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def serving(host: str, programs: Collection[str]) -> list[int]:
    """The living processes with one of these names, where the host is this machine; none elsewhere."""
    return named(programs) if programs and is_here(host) else []


@functools.cache
def is_here(host: str) -> bool:
    """Whether a host is this machine; an empty one is. No packet is sent; False for a name that is not known."""
    if host in ("", "localhost"):
        return True
    try:
        addresses = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    for family, kind, protocol, _name, address in addresses:
        if ipaddress.ip_address(address[0]).is_loopback:
            return True
        with socket.socket(family, kind, protocol) as attempt:
            try:
                attempt.connect(address)  # of a datagram: only the route is looked up
                if attempt.getsockname()[0] == address[0]:
                    return True
            except OSError:
                continue
    return False


def named(programs: Collection[str]) -> list[int]:
    """Every living process with one of these names; of every server, where several run."""
    return [pid for pid in pids() if name(pid) in programs]


atexit.register(stop_all)
