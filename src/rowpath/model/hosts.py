"""A file of hosts: the machines of a run over a network, and what each of them does."""

from __future__ import annotations

from typing import Literal

from rowpath.model.base import Frozen

SCHEMA_VERSION = 1
HERE = "here"  # the coordinate of a path on the controller's own machine
PORT = 6379
WAIT_S = 60.0

Role = Literal["client", "server", "load"]


class ClusterTable(Frozen, frozen=True):
    """What joins the hosts: the engine, and where its head listens on the controller's machine."""

    engine: Literal["ray"] = "ray"
    controller: str = ""  # its address in the measured network; empty: the one that leads to the first host
    port: int = PORT
    wait_s: float = WAIT_S  # for a lost host without which nothing of a run can be measured
    address: str = ""  # `ADDRESS:PORT` of the head of a cluster that others brought up; its labels name the hosts
    token: str = ""  # the files that joining such a cluster needs; empty: as Ray's own environment has it
    authority: str = ""
    certificate: str = ""
    key: str = ""
    allow_open: bool = False  # join such a cluster without a token, or without TLS


class Host(Frozen, frozen=True):
    """One machine: its address in the measured network, how to start programs there, and what it does."""

    name: str
    address: str
    roles: tuple[Role, ...]
    ssh: str = ""  # what `ssh` is to connect to, after options of its own if need be; empty: this machine
    command: tuple[str, ...] = ()  # words before our command, on this machine: `ip netns exec NAME`
    rowpath: str = ""  # the command that is Rowpath there; empty: `rowpath`, on this machine ours
    cache: str = ""  # `ROWPATH_CACHE` there, an absolute path or `~/…`; empty: as the environment there has it
    helpers: str = ""  # CPUs of what joins the hosts, such as 0 or 0-1; measured work gets the others


class HostsFile(Frozen, frozen=True):
    """A whole `hosts.toml`."""

    schema_version: int
    host: tuple[Host, ...] = ()
    cluster: ClusterTable = ClusterTable()

    def named(self, name: str) -> Host:
        """The host of that name; StopIteration when there is none."""
        return next(host for host in self.host if host.name == name)

    @property
    def loading(self) -> tuple[str, ...]:
        """The names of those over which clients of a group are spread."""
        return tuple(host.name for host in self.host if "load" in host.roles)

    def in_role(self, role: Role) -> tuple[str, ...]:
        """The names of those that have the role first, then the others: the first is the default."""
        return tuple(sorted((host.name for host in self.host), key=lambda name: role not in self.named(name).roles))


def cpu_list(text: str) -> tuple[int, ...]:
    """`0`, `0-1`, `0,2` as CPU numbers; ValueError for anything else."""
    numbers: list[int] = []
    for part in filter(None, text.split(",")):
        first, dash, last = part.partition("-")
        numbers += range(int(first), int(last if dash else first) + 1)
    return tuple(numbers)
