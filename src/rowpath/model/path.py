"""An access path: one point in the space of coordinates."""

from __future__ import annotations

import functools

import msgspec
from typing_extensions import override

from rowpath.model.base import Frozen, Status

# The coordinates every path has; an adapter may add its own (fetch size, prepare threshold, …).
COORDINATES = (
    "engine",
    "engine_version",
    "deployment",
    "language",
    "driver",
    "version",
    "layer",
    "technique",
    "pool",
    "pool_size",
    "validation",
    "statement",
    "fetch",
    "result",
    "format",
    "rows",
    "pipeline",
    "transport",
    "tls",
    "compression",
    "link",
    "pooler",
    "pooler_mode",
    "placement",
    "client_host",
    "server_host",
    "clients",
    "loop",
    "locking",
    "ranges",
    "threads",
    "durability",
    "storage",
    "processes",
    "backup",
    "profile",
    "decode",
)


CHECKED = ("verify-ca", "verify-full")  # values of `tls` with which the server's certificate is checked
ENCRYPTED = ("on", *CHECKED)
BITS = {"k": 1e3, "m": 1e6, "g": 1e9}  # of the unit of a link's rate
BY_HAND = "none"  # the `layer` of a program that has none
RAW, MAPPED = "raw", "mapped"  # values of `technique`: a layer with a query, or a table, of the user's own

# What a path without such a coordinate does: older runs know of no pipelines.
WITHOUT = {"pipeline": "off"}


def fetch_form(fetch: str) -> str:
    """What a call hands over: `row`, `block`, `columnar`, `copy`, `drain`; a call per value is by rows too."""
    form = fetch.partition(":")[0]
    return "row" if form in ("get-data", "none") else form


class Coordinate:
    """An attribute of a path: the value of the coordinate of that name."""

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, path: WithCoordinates, _owner: type) -> str:
        return path.get(self._name)


class WithCoordinates:
    """Base of every path, planned or recorded: its coordinates by name; each is `none` where it does not apply."""

    __slots__ = ()

    engine = Coordinate()
    engine_version = Coordinate()
    deployment = Coordinate()  # `server`, `embedded`, `file` or `none`
    language = Coordinate()  # the runner's
    driver = Coordinate()  # one of its language
    version = Coordinate()  # the driver's
    layer = Coordinate()  # above the driver: a query layer, an ORM
    technique = Coordinate()  # how a program by hand collects an operation's objects; RAW, MAPPED
    pool = Coordinate()  # in the client: what lends its connections
    validation = Coordinate()  # what a pool asks the server when it lends a connection: `none` or `borrow`
    statement = Coordinate()
    result = Coordinate()
    transport = Coordinate()
    tls = Coordinate()
    compression = Coordinate()  # of what crosses a server's connection, or of a file
    link = Coordinate()
    pooler = Coordinate()  # a program between client and server that keeps the connections
    pooler_mode = Coordinate()  # for how long it lends one: `transaction` or `session`
    placement = Coordinate()  # where client and server are pinned: `same`, `split`, `free` or `none`
    client_host = Coordinate()
    server_host = Coordinate()
    ranges = Coordinate()
    durability = Coordinate()  # what a commit waits for: `full` or a weaker promise of the engine
    storage = Coordinate()
    processes = Coordinate()
    backup = Coordinate()
    profile = Coordinate()

    def get(self, key: str) -> str:
        """The value of a coordinate, `none` when the path has no such coordinate."""
        raise NotImplementedError

    @property
    def served(self) -> bool:
        """Whether a server takes part."""
        return self.deployment == "server"

    @property
    def embedded(self) -> bool:
        """Whether the engine runs in the client's process."""
        return self.deployment == "embedded"

    @property
    def kept_as(self) -> str:
        """How its tables are kept: its storage, or its files' compression; `none` where there is one way."""
        return self.storage if self.storage != "none" or self.served else self.compression

    @property
    def is_null(self) -> bool:
        """Whether it reaches no database: the null engine measures the runner itself."""
        return self.engine == "null"

    @property
    def clients(self) -> int:
        """How many clients work at once."""
        return _count(self.get("clients"))

    @property
    def pooled(self) -> bool:
        """Whether its clients borrow connections of a pool."""
        return self.pool != "none"

    @property
    def connections(self) -> int:
        """How many connections its clients have: each its own, or those of their pool."""
        return _count(self.get("pool_size")) if self.pooled else self.clients

    @property
    def threads(self) -> int:
        """How many threads the driver may use."""
        return _count(self.get("threads"))

    @property
    def pipeline(self) -> int:
        """How many statements are sent before their answers are read; 1: each answer is awaited."""
        return _count(self.get("pipeline"))

    @property
    def pipelined(self) -> bool:
        """Whether its statements are sent in pipelines, of whatever size."""
        return self.get("pipeline").isdigit()

    @property
    def link_ns(self) -> int:
        """The round trip of the emulated link, in ns; 0 without one."""
        return link_ns(self.link)

    @property
    def link_bytes_per_s(self) -> float:
        """The rate of the emulated link in each direction; 0 where none limits it."""
        return link_bytes_per_s(self.link)

    @property
    def fetch_form(self) -> str:
        """What a call hands over, without its size."""
        return fetch_form(self.get("fetch"))


class AccessPath(WithCoordinates, msgspec.Struct, frozen=True):
    """One access path: a point in the space of coordinates, every value a string, `none` where it does not apply."""

    coordinates: tuple[tuple[str, str], ...]
    label: str = ""  # distinguishes two names of the same path (A/A)

    @classmethod
    def of(cls, coordinates: dict[str, str], label: str = "") -> AccessPath:
        """The path with these coordinates, in canonical order."""
        return cls(tuple([(name, coordinates[name]) for name in _in_order(tuple(coordinates))]), label)

    @property
    def id(self) -> str:
        """The canonical text of the path: `engine=sqlite,deployment=embedded,…`."""
        text = ",".join([f"{key}={value}" for key, value in self.coordinates])
        return f"{text},label={self.label}" if self.label else text

    @override
    def get(self, key: str) -> str:
        """The value of a coordinate, `none` when the path has no such coordinate."""
        for name, value in self.coordinates:
            if name == key:
                return value
        return "none"

    def as_dict(self) -> dict[str, str]:
        """The coordinates as a mapping, the label included when there is one."""
        return dict(self.coordinates) | ({"label": self.label} if self.label else {})


def _count(value: str) -> int:
    return int(value) if value.isdigit() else 1


def link_ns(link: str) -> int:
    """The round trip that a value of the coordinate `link` states, in ns: 0 for `none`, 1,000,000 for `1ms@10mbit`."""
    return 0 if link == "none" else round(float(link.partition("ms")[0]) * 1e6)


def link_bytes_per_s(link: str) -> float:
    """Bytes a second that a value of `link` states for each direction: 0 for `1ms`, 1,250,000 for `1ms@10mbit`."""
    rate = link.partition("@")[2].removesuffix("bit")
    return float(rate[:-1]) * BITS[rate[-1]] / 8 if rate else 0.0


class Dropped(Frozen, frozen=True):
    """A path that will not run, and why; `remedy` is the command that would enable it."""

    path: AccessPath
    reason: str
    remedy: str = ""
    status: Status = "unsupported"


@functools.cache
def _in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of coordinates in canonical order; unknown ones behind, by name."""
    known = {name: position for position, name in enumerate(COORDINATES)}
    return tuple(sorted(names, key=lambda name: (known.get(name, len(known)), name)))
