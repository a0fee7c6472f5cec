"""A lab's network broken in stated ways, and what a run that meets it does: when it ends, what it says and leaves."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowpath.hosts import cluster
from rowpath.journal import reader
from rowpath.journal.mixed_load_records import SecondRecord
from rowpath.journal.record_base import Record
from rowpath.journal.records import SampleRecord
from tests.hosts.lab import Lab

NOWHERE = "02:00:00:00:00:99"  # no interface has it
STARTED = ("postgres", "libpq", "ray::Agent")  # what a run has on hosts
PATIENCE_S = 120.0


def _ip(there: list[str], *words: str) -> None:
    subprocess.run([*there, "ip", *words], check=True, capture_output=True)


@contextmanager
def cut(lab: Lab, host: str) -> Iterator[None]:
    """The cable of a host is pulled; its end of it stays up."""
    _ip(lab.inside, "link", "set", host, "nomaster")
    try:
        yield
    finally:
        _ip(lab.inside, "link", "set", host, "master", "switch")


@contextmanager
def deaf(lab: Lab, pairs: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Every packet from the first of each pair to the second is lost; neither end gets an error."""
    with ExitStack() as cleanup:
        for sender, receiver in pairs:
            there = lab.commands.get(sender, lab.inside)
            device = "eth0" if sender in lab.commands else "switch"
            address = lab.addresses.get(receiver, lab.controller)
            _ip(there, "neigh", "replace", address, "lladdr", NOWHERE, "nud", "permanent", "dev", device)
            cleanup.callback(_ip, there, "neigh", "del", address, "dev", device)
        yield


def late(lab: Lab, host: str, delay_s: float) -> contextlib.AbstractContextManager[None]:
    """What a host sends arrives that late; a lab with the delaying switch only."""
    assert lab.switch is not None
    return lab.switch.late(host, delay_s)


def _others(lab: Lab, name: str) -> list[str]:
    return [each for each in (cluster.CONTROLLER, *lab.addresses) if each != name]


@dataclass(frozen=True)
class Fault:
    """How the network breaks, and who is named then."""

    breaks: Callable[[Lab], contextlib.AbstractContextManager[None]]
    named: tuple[str, ...]


def both_ways(name: str, others: Iterable[str]) -> list[tuple[str, str]]:
    """Between one and each of the others."""
    return [pair for other in others for pair in ((name, other), (other, name))]


def _from(name: str) -> Fault:
    return Fault(lambda lab: deaf(lab, [(name, other) for other in _others(lab, name)]), (name,))


def _to(name: str) -> Fault:
    return Fault(lambda lab: deaf(lab, [(other, name) for other in _others(lab, name)]), (name,))


FAULTS = {
    "load host cut": Fault(lambda lab: cut(lab, "app2"), ("app2",)),
    "server's host cut": Fault(lambda lab: cut(lab, "db"), ("db",)),
    "from load host": _from("app2"),
    "to load host": _to("app2"),
    "from server's host": _from("db"),
    "to server's host": _to("db"),
    "controller's network": Fault(
        lambda lab: deaf(lab, both_ways(cluster.CONTROLLER, lab.addresses)), ("db", "app1", "app2")
    ),
    "load host's way": Fault(lambda lab: deaf(lab, both_ways("app2", ["db"])), ("app2", "db")),
    "client's way": Fault(lambda lab: deaf(lab, both_ways("app1", ["db"])), ("app1", "db")),
    "from server to client": Fault(lambda lab: deaf(lab, [("db", "app1")]), ("app1", "db")),
}

DELAYS = {  # on the delaying switch
    "load host's frames late": Fault(lambda lab: late(lab, "app2", 0.3), ()),
    "server's frames late": Fault(lambda lab: late(lab, "db", 0.3), ()),
    "load host's frames as lost": Fault(lambda lab: late(lab, "app2", 30.0), ("app2",)),
    "server's frames as lost": Fault(lambda lab: late(lab, "db", 30.0), ("db",)),
}


@dataclass
class Seen:
    """What a run did that met a fault."""

    status: int
    errors: str
    noticed_s: float
    gone_s: float
    left: list[str]


def meet(lab: Lab, fault: Fault, file: str, directory: Path, *, at_most_s: float) -> Seen:
    """Begin a run, break the network while it is at work, and wait for the end of all of it."""
    under_way = lab.begun("run", file, "--hosts", str(lab.file), "-o", str(directory))
    try:
        wait_for(lambda: max(count(directory, SecondRecord) - 1, count(directory, SampleRecord) - 5) > 0, under_way)
        with fault.breaks(lab):
            broken = time.monotonic()
            _, errors = under_way.communicate(timeout=at_most_s)
            noticed_s = time.monotonic() - broken
            while (left := started(lab)) and time.monotonic() - broken < at_most_s:
                time.sleep(0.1)
            return Seen(under_way.returncode, errors, noticed_s, time.monotonic() - broken, left)
    finally:
        under_way.kill()
        under_way.communicate()


def started(lab: Lab) -> list[str]:
    """What a run has on hosts."""
    return [name for name in lab.mine().values() if name.startswith(STARTED)]


def whole(lab: Lab) -> bool:
    """Whether all that joins the hosts is there."""
    names = [*lab.mine().values()]
    return names.count("raylet") == 1 + len(lab.addresses) and "gcs_server" in names


def make_whole(lab: Lab) -> None:
    """Bring the hosts up, where anything that joins them is missing."""
    if not whole(lab):
        lab.down()
        lab.up()


def count(directory: Path, kind: type[Record]) -> int:
    """How many records of that kind the run has so far."""
    with contextlib.suppress(Exception):
        return len(reader.read_as_written(directory).all(kind))
    return 0


def wait_for(what: Callable[[], bool], under_way: subprocess.Popen[Any]) -> None:
    """Return once it is so, while the run goes on."""
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert under_way.poll() is None, under_way.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.3)
