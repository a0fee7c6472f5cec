"""`rowpath hosts example|setup|check|up|status|down|node`, and joining the hosts of a run."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowpath import text
from rowpath.cli.options import WILL_RUN, add_option, add_words
from rowpath.errors import EnvironmentMissing, RowpathError, UsageError

if WILL_RUN:
    from rowpath.analysis.several_hosts import missing
    from rowpath.cli.plan import host_pairs
    from rowpath.hosts import cluster, foreign, hosts_file, network, node, setup
    from rowpath.hosts.hosts_file import Source
    from rowpath.journal.records import ClockRecord, WayRecord
    from rowpath.planning import client_groups
    from rowpath.planning.plan import Plan

if TYPE_CHECKING:
    from rowpath.hosts.session import Session


LOOK_S = 2.0  # at what helpers use


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `hosts`."""
    parser.add_argument(
        "action",
        choices=("example", "setup", "check", "up", "status", "down", "node"),
        help="example: print a hosts file; setup: fetch Ray, which joins hosts; up, status, down: start, show or stop "
        "the hosts of FILE; check: measure clocks and network; node: used by up, on each host",
    )
    add_words(parser, "FILE", "the hosts file (docs/hosts.md)")
    add_option(parser, "--cluster ADDRESS", "instead of FILE: a Ray cluster whose labels name the hosts", default=None)


def run(options: argparse.Namespace) -> int:
    """Do the action and print its lines."""
    if options.action == "node":  # what `hosts up` runs on a host: it reads a request on stdin
        return node.main()
    for line in lines(options.action, options.words, options.cluster):
        print(line, flush=True)
    return 0


def lines(action: str, words: list[str], address: str | None = None) -> Iterator[str]:
    """What an action prints. Errors: UsageError, EnvironmentMissing."""
    of_cluster: dict[str, Callable[[Any], Iterator[str]]] = {"check": check, "status": status, "down": down}
    of_file = of_cluster | {"up": up}
    if address is not None:
        if action not in of_cluster or words:
            what = f"hosts {action} takes {'either FILE or' if words else 'no'} --cluster"
            raise UsageError(what, "rowpath hosts -h")
        yield from of_cluster[action](address)
        return
    with_file = action in of_file
    if len(words) != with_file:
        what = "needs one FILE" if with_file else "takes no FILE"
        raise UsageError(f"hosts {action} {what}", f"rowpath hosts {action}{' hosts.toml' if with_file else ''}")
    if action == "example":
        yield hosts_file.EXAMPLE.rstrip("\n")
    elif action == "setup":
        print(f"fetching Ray {setup.RAY}: 77 MB", file=sys.stderr)
        yield f"Ray {setup.RAY} is in {setup.fetch()}"
    else:
        yield from of_file[action](Path(words[0]))


def _note(what: str) -> None:
    sys.stderr.write(f"{what}\n")  # at once: hosts are started side by side


def up(file: Path) -> Iterator[str]:
    """Start what joins the hosts."""
    state = cluster.up(file, hosts_file.read(file), _note)
    yield f"{len(state.hosts.host)} hosts are up; their head is {state.controller}:{state.port}"
    yield "anyone with the cluster's token and certificates can run programs on these hosts as you"
    yield f"check them: rowpath hosts check {file}"
    yield f"stop them: rowpath hosts down {file}"


def down(file: Source) -> Iterator[str]:
    """Stop what joins the hosts, and all that runs through it; of a cluster of others only what is ours."""
    hosts = hosts_file.of(file)
    if hosts.cluster.address:
        setup.require()
        from rowpath.hosts.ray_cluster import end_agents

        yield f"{end_agents(foreign.state(file))} agents ended; the cluster {hosts.cluster.address} stays"
        return
    assert isinstance(file, Path)
    cluster.down(file, hosts, _note)
    yield f"the hosts of {file} are down"


def status(file: Source) -> Iterator[str]:
    """What runs on each host."""
    if hosts_file.of(file).cluster.address:
        with joined(file) as session:
            for host in session.file.host:
                yield from _status(host.name, session.processes(host.name))
        return
    assert isinstance(file, Path)
    for name, found in cluster.status(file).items():
        if isinstance(found, RowpathError):
            yield f"{name:<12} unknown: {found.message}"
        else:
            yield from _status(name, found.processes)


def _status(name: str, running: list[node.Running]) -> Iterator[str]:
    resident = sum(process.resident_bytes for process in running)
    yield f"{name:<12} {f'{len(running)} processes, resident {text.size(resident)}' if running else 'down'}"
    for process in running:
        yield f"{'':12} {process.pid:>8} {process.name:<16} CPU {process.cpu_ns / 1e9:.1f} s"


def check(file: Source) -> Iterator[str]:
    """What each host is, its clock, what helpers use, and the way of every pair."""
    with joined(file) as session:
        yield f"{len(session.file.host)} hosts of {file}, the controller on {session.state.controller}"
        clocks = session.clocks(tuple(host.name for host in session.file.host), "before")
        for host, clock in zip(session.file.host, clocks, strict=True):
            hello = session.hello[host.name]
            cpus = f"measured on CPU {_list(hello['measured_cpus'])}, helpers on CPU {_list(hello['spare_cpus'])}"
            yield f"{host.name}: {host.address}, {' and '.join(host.roles)}"
            yield f"  Rowpath {hello['rowpath']}, Python {hello['environment']['python']}, {cpus}"
            if hello["note"]:
                yield f"  ! {hello['note']}"
            yield from (f"  ! {problem}" for problem in missing(hello["methods"]))
            yield f"  clock {clock_text(clock)}"
        before, begun = _used(session), time.monotonic()
        time.sleep(LOOK_S)
        elapsed_ns = (time.monotonic() - begun) * 1e9
        for name, used in _used(session).items():
            yield f"{name}: helpers use {(used - before[name]) / elapsed_ns:.1%} of a core while nothing is measured"
        pairs = list(session.role_pairs())
        if said := network.ways_take(len(pairs)):
            yield said
        for client, server in pairs:
            yield way_text(session.way(client.name, server.name, "before"))


def _used(session: Session) -> dict[str, int]:
    return {host.name: sum(process.cpu_ns for process in session.processes(host.name)) for host in session.file.host}


def _list(cpus: list[int]) -> str:
    return ", ".join(map(str, cpus))


def clock_text(record: ClockRecord) -> str:
    """An offset with its bound."""
    return f"{text.offset(record.offset_ns)} from the controller's, within ±{record.bound_ns / 1000:,.1f} µs"


def way_text(record: WayRecord) -> str:
    """A way in a line."""
    trips = ", ".join(f"{text.size(trip.bytes)} {text.duration(trip.median_ns)}" for trip in record.round_trips)
    rates = f"{text.size(record.to_server_bytes_per_s)}/s there, {text.size(record.from_server_bytes_per_s)}/s back"
    return f"{record.client} → {record.server}: round trip {trips}; {rates}"


@contextlib.contextmanager
def joined(file: Source, rest: str = "resume a run with: rowpath run --resume DIR") -> Iterator[Session]:
    """The hosts of a file or a cluster while the body runs. Errors: RowpathError; a host that is lost is one too.

    `rest`: how to go on when they are up again.
    """
    is_ours = not hosts_file.of(file).cluster.address
    setup.require()
    from rowpath.execution.several_hosts import HostLost
    from rowpath.hosts.session import Session

    session: Session | None = None
    try:
        session = Session(file)
        yield session
    except HostLost as lost:
        again = f"rowpath hosts down {file}, then up" if is_ours else "ray status"
        if session is not None and not is_ours and lost.host != cluster.CONTROLLER:
            again = f"there: {foreign.start_command(session.state, lost.host)}"
        is_back = session is not None and lost.host not in session.lost and lost.host != cluster.CONTROLLER
        error = EnvironmentMissing(str(lost), rest if is_back else f"{again}; {rest}")
        if lost.host == cluster.CONTROLLER:  # without its head, Ray ends this process with a crash of its own at exit
            if session is not None:
                session.close()
            print(error.shown(), file=sys.stderr, flush=True)
            sys.stdout.flush()
            atexit._run_exitfuncs()  # what was started here ends, and its files are removed
            os._exit(error.exit_code)
        raise error from lost
    finally:
        if session is not None:
            session.close()


def print_plan(session: Session, plan: Plan) -> Iterator[str]:
    """What `--plan` shows of the hosts."""
    clients_and_servers = host_pairs(plan)
    spread_over = [group for group in plan.experiment.client_groups if group.over]
    for group in spread_over:
        shares = client_groups.shares(group.clients, group.rate_per_s, 0, session.file.loading)
        listed = ", ".join(f"{each.clients} on {host}" for host, each in shares.items())
        yield f"group {group.name}: {group.clients} clients: {listed}"
    servers = dict.fromkeys(server for _client, server in clients_and_servers)
    clients_and_servers += [(host, server) for host in session.file.loading if spread_over for server in servers]
    clients_and_servers = list(dict.fromkeys(clients_and_servers))
    used = tuple(dict.fromkeys(name for pair in clients_and_servers for name in pair if name != "none"))
    for clock in session.clocks(used, "before"):
        yield f"host {clock.host}: {session.file.named(clock.host).address}, clock {clock_text(clock)}"
    for client, server in clients_and_servers:
        if server not in ("none", client):
            yield way_text(session.way(client, server, "before"))
