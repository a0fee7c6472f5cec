"""The program that starts, stops and looks at what joins one host; `hosts up` runs it there, over ssh or here.

It reads one request from its stdin and prints one answer, so that no secret is in arguments.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from rowpath import __version__
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.hosts import setup
from rowpath.machine import private_directories, processes
from rowpath.machine.counters import cpu
from rowpath.machine.directories import cache_dir, digest
from rowpath.model.hosts import cpu_list

MARK = "ROWPATH_NODE"  # in the environment of everything that belongs to our host: CLUSTER/HOST
CPUS, HELPERS, NICE = "ROWPATH_NODE_CPUS", "ROWPATH_NODE_HELPERS", "ROWPATH_NODE_NICE"
FOREIGN = "ROWPATH_NODE_FOREIGN"
START_TIMEOUT_S, TRIES, STOP_TIMEOUT_S = 90.0, 4, 12.0
AGAIN_TIMEOUT_S, HEAD_TIMEOUT_S = 40.0, 3.0  # a run goes on while it waits
OBJECT_STORE_BYTES = 80_000_000  # the least that it takes is 75 MB
# Workers and what they start must run as programs that a user starts; helpers must do as little as possible; a loss
# must be noticed within seconds.
SETTINGS = {
    "RAY_worker_niceness": "0",
    "RAY_worker_oom_score_adjustment": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_event_stats": "0",
    "RAY_task_events_report_interval_ms": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_raylet_report_resources_period_milliseconds": "1000",
    "RAY_enable_worker_prestart": "0",
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "5",
    "RAY_grpc_client_keepalive_time_ms": "2000",
    "RAY_grpc_client_keepalive_timeout_ms": "3000",
    "RAY_AUTH_MODE": "token",
    "RAY_USE_TLS": "1",
}


class NodeRequest(msgspec.Struct):
    """What to do on a host; `start` needs all of it, `again` no secrets: the host has kept them."""

    action: str  # start, again, stop, look
    cluster: str
    host: str
    address: str = ""
    head: str = ""  # `ADDRESS:PORT` to join; empty: this is the head
    port: int = 0  # of the head
    helpers: tuple[int, ...] = ()
    cache: str = ""  # of the host; empty: as the environment has it
    token: str = ""
    authority: str = ""  # certificates as text
    certificate: str = ""
    key: str = ""


class Running(msgspec.Struct):
    """One process of a host: its name, CPU time and resident memory now."""

    pid: int
    name: str
    cpu_ns: int
    resident_bytes: int


class NodeAnswer(msgspec.Struct):
    """What was done; `error` is empty when all went well."""

    error: str = ""
    hint: str = ""
    rowpath: str = ""
    code: str = ""  # a digest of Rowpath's source: hosts must run the same
    python: str = ""
    processes: list[Running] = []


def main() -> int:
    """Do what the request says."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=NodeRequest)
    if request.cache:  # all that is started from here on inherits it
        os.environ["ROWPATH_CACHE"] = str(Path(request.cache).expanduser())
    answer = carry_out(request)
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    return 0


def carry_out(request: NodeRequest) -> NodeAnswer:
    """Do what the request says; never raises for what a user can meet."""
    answer = NodeAnswer("", "", __version__, code_digest(), platform.python_version())
    try:
        if request.action != "look":
            {"start": _start, "again": _again, "stop": _stop}[request.action](request)
    except RowpathError as error:
        answer.error, answer.hint = error.message, error.hint
        return answer
    answer.processes = list(running(request.cluster, request.host))
    return answer


def code_digest() -> str:
    """A digest of the source of this Rowpath."""
    return digest(Path(__file__).parents[1])


def folder(cluster: str, host: str) -> Path:
    """Where a host keeps its token and certificates: private."""
    return cache_dir() / "hosts" / cluster / host


def resource(host: str) -> str:
    """What Ray's node of a host of ours has and no other, so that the host's agent begins there."""
    return f"rowpath-{host}"


def session_folder() -> Path | None:
    """The folder of an agent's files of a run; None (temporary files) on a host that others joined."""
    if FOREIGN in os.environ:
        return None
    cluster, _, host = os.environ[MARK].partition("/")
    return Path((folder(cluster, host) / "session").read_text())


def environment(cluster: str, host: str) -> dict[str, str]:
    """What a process needs that joins the cluster from this host: settings, token, certificates, where modules are."""
    private = folder(cluster, host)
    return SETTINGS | {
        "RAY_AUTH_TOKEN_PATH": str(private / "token"),
        "RAY_TLS_CA_CERT": str(private / "authority.crt"),
        "RAY_TLS_SERVER_CERT": str(private / "host.crt"),
        "RAY_TLS_SERVER_KEY": str(private / "host.key"),
        "PYTHONPATH": f"{Path(__file__).parents[2]}:{setup.require()}",
        "PYTHONSAFEPATH": "1",
        "PYTHONNOUSERSITE": "1",
        "ROWPATH_CACHE": str(cache_dir()),
        MARK: f"{cluster}/{host}",
    }


def _start(request: NodeRequest) -> None:
    setup.require()
    if pids(request.cluster, request.host):
        raise RowpathError(f"host '{request.host}' is already up", "rowpath hosts down hosts.toml")
    private = folder(request.cluster, request.host)
    shutil.rmtree(private, ignore_errors=True)
    private.mkdir(mode=0o700, parents=True)
    texts = {"token": request.token, "authority.crt": request.authority, "host.crt": request.certificate}
    for name, text in (texts | {"host.key": request.key}).items():
        private_directories.write_private(private / name, text)
    (private / "cpus").write_text(",".join(map(str, sorted(os.sched_getaffinity(0)))))
    try:
        _join(request, private, START_TIMEOUT_S, TRIES)
    except RowpathError:
        _stop(request)
        raise


def _again(request: NodeRequest) -> None:
    """End what is left of a host that was up, and start it again with the secrets that it has."""
    private = folder(request.cluster, request.host)
    if not (private / "token").is_file():
        raise RowpathError(f"host '{request.host}' is no longer up", "rowpath hosts down hosts.toml, then up")
    address, _, port = request.head.rpartition(":")
    try:
        socket.create_connection((address, int(port)), HEAD_TIMEOUT_S).close()
    except OSError as error:
        raise EnvironmentMissing(f"the head {request.head} cannot be reached: {error}", "check the network") from error
    _end_all(request)
    os.sched_setaffinity(0, cpu_list((private / "cpus").read_text()))  # whoever asks may have fewer
    _join(request, private, AGAIN_TIMEOUT_S, 1)


def _join(request: NodeRequest, private: Path, timeout_s: float, tries: int) -> None:
    """Start it, several times on a machine that is too busy; what stays outlives this program."""
    session = Path(tempfile.mkdtemp(prefix="rowpath-"))  # 0700, and short: the names of sockets are limited
    (private / "session").write_text(str(session))
    cpus = sorted(os.sched_getaffinity(0))
    helpers = [cpu for cpu in request.helpers if cpu in cpus]
    added = {CPUS: ",".join(map(str, cpus)), HELPERS: ",".join(map(str, helpers)), NICE: str(os.nice(0))}
    words = [sys.executable, "-P", "-m", "ray.scripts.scripts", "start", f"--node-ip-address={request.address}"]
    words += ["--disable-usage-stats", "--include-log-monitor=false", f"--object-store-memory={OBJECT_STORE_BYTES}"]
    words += ["--num-cpus=1", "--resources", msgspec.json.encode({resource(request.host): 1}).decode()]
    words += [f"--temp-dir={session}"]
    words += [f"--address={request.head}"] if request.head else ["--head", f"--port={request.port}"]
    words += [] if request.head else ["--include-dashboard=false"]
    everything = processes.environment_for(added | environment(request.cluster, request.host))
    if helpers:
        os.sched_setaffinity(0, helpers)
    log = private / "start.log"
    for _ in range(tries):
        with log.open("wb") as output:
            # Not through `processes`: what it leaves is to outlive us.
            starting = subprocess.Popen(
                words, env=everything, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                if starting.wait(timeout_s) == 0:
                    return
            starting.kill()
            starting.wait()
            for pid in pids(request.cluster, request.host):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    raise EnvironmentMissing(f"Ray did not start: {' '.join(lines[-2:])[-400:]}", f"read {log}")


def _stop(request: NodeRequest) -> None:
    """End every process of the host by its id, and remove its files; harmless when nothing is there."""
    _end_all(request)
    shutil.rmtree(folder(request.cluster, request.host), ignore_errors=True)


def _end_all(request: NodeRequest) -> None:
    """End all that the host has, but keep its secrets, so that it can be started again."""
    deadline = time.monotonic() + STOP_TIMEOUT_S
    first = True
    while left := pids(request.cluster, request.host):
        if time.monotonic() > deadline:
            raise RowpathError(f"cannot stop {len(left)} processes of host '{request.host}'", f"kill -9 {left[0]}")
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                # What Ray started by itself asks its head to let it go first, for half a minute.
                gentle = first and processes.name(pid).startswith(("postgres", "mariadbd"))
                os.kill(pid, signal.SIGQUIT if gentle else signal.SIGKILL)
        first = False
        time.sleep(0.1)
    private = folder(request.cluster, request.host)
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(Path((private / "session").read_text()), ignore_errors=True)


def pids(cluster: str, host: str) -> list[int]:
    """Every living process that belongs to that host: known by its environment, or a child of one that is."""
    mark = f"{MARK}={cluster}/{host}".encode()
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]  # noqa: PTH208
    marked = [pid for pid in pids if mark in _environment(pid)]
    # A program that changes its title writes over its environment.
    every = {pid: None for root in marked for pid in (root, *processes.descendants(root))}
    return [pid for pid in every if pid != os.getpid()]


def join_foreign(given: Mapping[str, str]) -> None:
    """Let an agent of a cluster that others brought up be what `start` makes of ours. `given`: environment."""
    raylet = os.getppid()
    os.environ[CPUS] = ",".join(map(str, sorted(os.sched_getaffinity(raylet))))
    os.environ[NICE] = str(os.getpriority(os.PRIO_PROCESS, raylet))
    os.environ[FOREIGN] = "1"
    os.environ.update(given)
    with contextlib.suppress(OSError):  # root only
        os.setpriority(os.PRIO_PROCESS, 0, int(os.environ[NICE]))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(Path(f"/proc/{raylet}/oom_score_adj").read_text())


def foreign_helpers() -> tuple[int, ...]:
    """The pids of what joins an agent's host where others brought it up, as far as known; else none."""
    return (os.getpid(), os.getppid()) if FOREIGN in os.environ else ()


def running(cluster: str, host: str, more: Iterable[int] = ()) -> Iterator[Running]:
    """What belongs to the host now, with what each process has used."""
    for pid in (*more, *pids(cluster, host)):
        resident = 0
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
            resident = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:")), 0)
        yield Running(pid, processes.name(pid), cpu.process_ns(pid) or 0, resident)


def _environment(pid: int) -> list[bytes]:
    fields = processes.stat_fields(pid)
    if not fields or fields[0] == "Z":
        return []
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


if __name__ == "__main__":
    sys.exit(main())
