"""Breaks the hosts of a lab again and again; prints least and most times: python -m tests.hosts.repeat_faults 10."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rowpath.hosts import cluster, node
from rowpath.journal import reader
from rowpath.journal.mixed_load_records import ClientGroupRecord, SecondRecord
from tests.hosts import broken_network, lab
from tests.hosts.broken_network import DELAYS, FAULTS, Fault, Seen
from tests.hosts.conftest import load_experiment
from tests.hosts.lab import Lab

NOTICED_S, GONE_S, AT_MOST_S = 10.0, 15.0, 90.0
LATE_S, BETWEEN_S, LATE_TIMES = 0.5, 0.7, 8  # no multiple of the two seconds between two looks at a host
STILL_S = 10.0


def _of(hosts: Lab, host: str, title: str = "") -> list[int]:
    names = hosts.mine()
    return [p for p in node.pids(cluster.name_of(hosts.file), host) if names.get(p, "").startswith(title)]


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def _dies(hosts: Lab, host: str, title: str = "") -> Iterator[None]:
    _signal(_of(hosts, host, title), signal.SIGKILL)
    yield


@contextmanager
def _answers_late(hosts: Lab, host: str) -> Iterator[None]:
    """Everything that joins the host stands still, again and again, for less than makes a loss."""
    found = _of(hosts, host, "ray")
    for _ in range(LATE_TIMES):
        _signal(found, signal.SIGSTOP)
        time.sleep(LATE_S)
        _signal(found, signal.SIGCONT)
        time.sleep(BETWEEN_S)
    yield


@contextmanager
def _stands_still(hosts: Lab, host: str) -> Iterator[None]:
    """Everything on the host stands still for longer than it takes to be noticed."""
    found = _of(hosts, host)
    _signal(found, signal.SIGSTOP)
    thaw = threading.Timer(STILL_S, _signal, (found, signal.SIGCONT))
    thaw.start()
    try:
        yield
    finally:
        thaw.join()


def _dying(host: str, title: str = "") -> Fault:
    return Fault(lambda hosts: _dies(hosts, host, title), (host,))


EVERY = (
    FAULTS
    | DELAYS
    | {
        "load host dies": _dying("app2"),
        "client's host dies": _dying("app1"),
        "server's host dies": _dying("db"),
        "head dies": _dying(cluster.CONTROLLER, "gcs_server"),
        "server's host stands still": Fault(lambda hosts: _stands_still(hosts, "db"), ("db",)),
        "load host answers late": Fault(lambda hosts: _answers_late(hosts, "app2"), ()),
        "server's host answers late": Fault(lambda hosts: _answers_late(hosts, "db"), ()),
    }
)
CONTROLLER = "controller dies"
RESUMED = ("server's host cut", "load host dies", "head dies", CONTROLLER)  # one of them, each


@dataclass
class Once:
    """What one repetition came to: times, and what was not as it must be."""

    noticed_s: float
    gone_s: float
    failures: list[str]


def main(times: int, names: list[str]) -> None:
    """Each fault, that many times; a line for every one, as soon as it is known."""
    asked = names or [*EVERY, CONTROLLER]
    _repeat(times, [fault for fault in asked if fault not in DELAYS], delays=False)
    _repeat(times, [fault for fault in asked if fault in DELAYS], delays=True)


def _repeat(times: int, faults: list[str], *, delays: bool) -> None:
    with tempfile.TemporaryDirectory() as name, lab.in_namespaces(Path(name), delays=delays) as hosts:
        for fault in faults:
            seen: list[Once] = []
            for number in range(times):
                resumed = number == times - 1 and fault in RESUMED
                seen.append(_once(hosts, Path(tempfile.mkdtemp(dir=name)), fault, resumed=resumed))
                print(f"  {fault}: {seen[-1]}", file=sys.stderr, flush=True)
            print(_line(fault, seen), flush=True)


def _line(fault: str, seen: list[Once]) -> str:
    noticed, gone = sorted(each.noticed_s for each in seen), sorted(each.gone_s for each in seen)
    failures = Counter(text for each in seen for text in each.failures)
    said = "; ".join(f"{count} × {text}" for text, count in failures.items()) or "none"
    return (
        f"{fault:26} {len(seen):2} times: noticed {noticed[0]:4.1f}–{noticed[-1]:4.1f} s, "
        f"gone {gone[0]:4.1f}–{gone[-1]:4.1f} s, failures: {said}"
    )


def _once(hosts: Lab, folder: Path, fault: str, *, resumed: bool) -> Once:
    _mend(hosts)
    late = fault in EVERY and not EVERY[fault].named
    directory, file = folder / "run", load_experiment(folder, 20.0 if late else 8.0)
    if fault == CONTROLLER:
        seen = _controller_dies(hosts, file, directory)
    else:
        seen = broken_network.meet(hosts, EVERY[fault], file, directory, at_most_s=AT_MOST_S)
    once = Once(seen.noticed_s, seen.gone_s, [])
    for text, holds in _bars(fault, seen, late).items():
        if not holds:
            once.failures.append(text)
    once.failures += _lost(directory, whole=late)
    if once.failures:
        print(seen.errors, file=sys.stderr)
    if resumed and not late:
        _mend(hosts)
        again = hosts.rowpath("run", "--resume", str(directory))
        if again.returncode or reader.read(directory).outcome != "complete":
            once.failures.append(f"--resume ended with {again.returncode}: {again.stderr[-300:]}")
    return once


def _bars(fault: str, seen: Seen, late: bool) -> dict[str, bool]:
    if late:
        return {f"status {seen.status}": seen.status == 0}
    if fault == CONTROLLER:
        return {f"left {seen.left}": not seen.left, "gone late": seen.gone_s < GONE_S}
    named = seen.errors.partition("error: host ")[2].partition(" ")[0]
    return {
        f"status {seen.status}": seen.status == 3,
        f"'{named}' is named": named in EVERY[fault].named,
        "Traceback": "Traceback" not in seen.errors,
        "noticed late": seen.noticed_s < NOTICED_S,
        f"left {seen.left}": not seen.left,
        "gone late": seen.gone_s < GONE_S,
    }


def _lost(directory: Path, *, whole: bool) -> Iterator[str]:
    """What of the measured is not in the journal."""
    found = reader.read_as_written(directory)
    counted: Counter[str] = Counter()
    for second in found.all(SecondRecord):
        if second.stage == "mixed":
            counted.update({group: figures.operations for group, figures in second.client_groups.items()})
    groups = {each.client_group: each for each in found.all(ClientGroupRecord) if each.stage == "mixed"}
    if not counted:
        yield "no second is journalled"
    for group, operations in counted.items():
        if not found.outcome:  # only its seconds can be there
            return
        if group not in groups:
            yield f"nothing of {group}"
        elif groups[group].operations < operations or groups[group].cut == whole:
            yield f"{operations - groups[group].operations} operations of {group}"


def _controller_dies(hosts: Lab, file: str, directory: Path) -> Seen:
    under_way = hosts.begun("run", file, "--hosts", str(hosts.file), "-o", str(directory))
    try:
        broken_network.wait_for(lambda: broken_network.count(directory, SecondRecord) > 1, under_way)
    finally:
        under_way.kill()
    broken = time.monotonic()
    _, errors = under_way.communicate()
    while (left := broken_network.started(hosts)) and time.monotonic() - broken < AT_MOST_S:
        time.sleep(0.1)
    return Seen(under_way.returncode, errors, 0.0, time.monotonic() - broken, left)


def _mend(hosts: Lab) -> None:
    if not broken_network.whole(hosts):
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            hosts.down()
        hosts.up()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
