"""Groups of clients on a real runner of any language: start one, make shared counters, let groups begin and end."""

from __future__ import annotations

import contextlib
import math
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowpath.engines.base import Instance
from rowpath.execution.mixed_load.shared_counters import DONE, SharedCounters
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column
from rowpath.runners import manifest, protocol
from rowpath.runners.manifest import Adapter, load_manifest
from rowpath.runners.process import Runner
from rowpath.workloads import codec
from tests.runners.c.talk import started
from tests.runners.protocol.talk import Talk
from tests.waiting import PATIENCE_S

ID = Column(name="id", type="integer")
N = Column(name="n", type="integer")
NOTE = Column(name="note", type="varchar", length=600)
NOTHING = "nothing"
SOME = 50  # operations
LEDGER_SQL = "SELECT id, n FROM ledger ORDER BY id"
MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Group:
    """One group to be asked for; `rows`: parameter rows whose acknowledged operations the shared counters counts."""

    phase: str
    name: str = "group"
    clients: int = 1
    pacing: str = "closed"
    rate_per_s: float = 0.0
    seed: int = 0
    operations: int = 0
    pause_ns: int = 0
    spin_ns: int = 0
    rows: int = 0
    dispatch: str = "own"
    population: int = 0

    @property
    def has_dues(self) -> bool:
        """Whether operations are due, so that their latency counts from then."""
        return self.pacing != "closed" or self.dispatch == "shared"


@dataclass(frozen=True)
class Subject:
    """An adapter of some language with an engine that is up: what the cases are tried on."""

    adapter: Adapter
    instance: Instance
    path: AccessPath
    folder: Path

    @contextlib.contextmanager
    def talk(self, clients: int = 1, **options: Any) -> Iterator[GroupTalk]:
        """A runner with so many connections; these options beside those of the path."""
        talk = GroupTalk(self, {"clients": str(clients)} | options)
        try:
            yield talk
        finally:
            talk.runner.stop()


@contextlib.contextmanager
def subject(language: str, driver: str, folder: Path, deployment: str = "", **coordinates: str) -> Iterator[Subject]:
    """The adapter built, its engine started (empty); the engine is stopped at the end."""
    adapter = next(adapter for adapter in load_manifest(language).adapter if adapter.driver == driver)
    engine, deployment = coordinates.pop("engine", adapter.engines[0]), deployment or adapter.deployments[0]
    version = coordinates.pop("version", adapter.versions[0])
    first = {key: values[0] for key, values in adapter.coordinates.items()}
    fixed = {"engine": engine, "deployment": deployment, "language": language, "driver": driver, "version": version}
    path = AccessPath.of(fixed | {"durability": "none"} | first | coordinates)
    manifest.build([(adapter, version)], paths=[path])
    with started(engine, deployment=deployment) as instance:
        instance.load({})  # an embedded engine's database is made by it
        instance.own_copy(path)
        yield Subject(adapter, instance, path, folder)


class GroupTalk(Talk):
    """A runner on the subject's path, connected."""

    def __init__(self, subject: Subject, options: dict[str, Any]) -> None:
        self.subject = subject
        command = manifest.command(subject.adapter, subject.path.get("version"), subject.path)
        self.log: list[str] = []
        self.runner = Runner.start(command, tuple(cpus.usable()), self.log.append)
        try:
            self.runner.hello(subject.adapter.driver, requires=("clients", "client-groups"))
            self.open(subject.path.as_dict() | subject.instance.options(subject.path) | options)
        except BaseException:
            self.runner.stop()
            raise

    def make_ledger(self, rows: int) -> None:
        """A new table of `rows` rows: id 1, 2, …; n = 0."""
        self.run("DROP TABLE ledger", ignore_errors=True)
        self.run("CREATE TABLE ledger (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL)")
        if rows:
            self.run("INSERT INTO ledger VALUES " + ", ".join(f"({id_}, 0)" for id_ in range(1, rows + 1)))

    def prepare_nothing(self) -> None:
        """The phase NOTHING, of kind null."""
        self._prepare(protocol.PhaseSpec(name=NOTHING, kind="null"))

    def prepare_write(self, ids: Sequence[int], name: str = "write", sql: str = "") -> None:
        """A phase that adds 1 to n of one row (or what `sql` does with one id) for each of the ids in turn."""
        sql = sql or "UPDATE ledger SET n = n + 1 WHERE id = ?"
        self._prepare(protocol.PhaseSpec(name=name, kind="execute", sql=sql, table="ledger"), ids)

    def prepare_read(self, ids: Sequence[int], name: str = "read") -> None:
        """A phase that reads id and n of one row for each of the ids in turn."""
        sql = "SELECT id, n FROM ledger WHERE id = ?"
        self._prepare(protocol.PhaseSpec(name=name, kind="query", sql=sql, table="ledger", columns=(ID, N)), ids)

    def _prepare(self, spec: protocol.PhaseSpec, ids: Sequence[int] = ()) -> None:
        parameters = None
        if ids:
            file = self.subject.folder / f"{spec.name}.rows"
            codec.write_rows(file, [(id_,) for id_ in ids], (ID,))
            parameters = protocol.ParameterSlice(file=str(file), first=0, count=len(ids))
            spec.parameter_columns = (ID,)
        self.prepare_spec(spec, parameters)

    def kept(
        self, file: Path, sql: str = LEDGER_SQL, columns: Sequence[Column] = (ID, N)
    ) -> tuple[protocol.VerifyReply, list[bytes]]:
        """`verify` of a query (the whole ledger) with its rows kept: the reply, and the rows' codec bytes."""
        file.unlink(missing_ok=True)
        self._prepare(protocol.PhaseSpec(name="all", kind="query", sql=sql, table="ledger", columns=columns))
        reply = self.verify("all", keep=str(file))
        data, at, rows = file.read_bytes(), 0, []
        while at < len(data):
            (length,) = struct.unpack_from("<I", data, at)
            rows.append(data[at + 4 : at + 4 + length])
            at += 4 + length
        assert at == len(data)
        return reply, rows

    def ledger(self) -> dict[int, int]:
        """id → n, as the database has them."""
        _reply, rows = self.kept(self.subject.folder / "kept")
        return {row[0]: row[1] for row in (codec.decode_row(row, (ID, N)) for row in rows)}

    @contextlib.contextmanager
    def groups(self, *groups: Group) -> Iterator[Working]:
        """Shared counters and the request `groups`; clients wait for `begin`. They are closed at the end."""
        shared_counters = SharedCounters([(group.name, group.clients, group.rows) for group in groups])
        try:
            yield Working(self, shared_counters, groups)
        finally:
            shared_counters.close()


class Working:
    """Groups that the runner was asked for."""

    def __init__(self, talk: GroupTalk, shared_counters: SharedCounters, groups: Sequence[Group]) -> None:
        self.talk = talk
        self.shared_counters = shared_counters
        self.groups = groups
        self.begun_ns = 0
        asked = []
        first_client = 0
        for group in groups:
            place = shared_counters.client_groups[group.name]
            asked.append(
                protocol.GroupSpec(
                    name=group.name,
                    phase=group.phase,
                    first_client=first_client,
                    clients=group.clients,
                    pacing=group.pacing,
                    rate_per_s=group.rate_per_s,
                    seed=group.seed,
                    operations=group.operations,
                    pause_ns=group.pause_ns,
                    spin_ns=group.spin_ns,
                    control=place.control,
                    slots=place.slots,
                    slot_bytes=place.slot_bytes,
                    acknowledged=place.acknowledged,
                    dispatch=group.dispatch,
                    population=group.population,
                )
            )
            first_client += group.clients
        reply = talk.ask(
            protocol.ClientGroups, protocol.ClientGroupsReply, shared_counters=shared_counters.file, client_groups=asked
        )
        assert reply.clients == first_client

    def begin(self, after_s: float = 0.02) -> int:
        """Let every group begin; the instant at which."""
        self.begun_ns = time.monotonic_ns() + int(after_s * 1e9)
        for group in self.groups:
            self.shared_counters.begin(group.name, self.begun_ns)
        return self.begun_ns

    def set_end(self, at_ns: int = 0) -> None:
        """No operation begins from that instant (0: now) on."""
        for group in self.groups:
            self.shared_counters.end(group.name, at_ns or time.monotonic_ns())

    def work_a_little(self) -> None:
        """Begin, and end once each group has done some operations."""
        self.begin()
        names = [group.name for group in self.groups]
        self.wait(
            lambda: all(self.shared_counters.snapshot(name, time.monotonic_ns()).operations >= SOME for name in names)
        )
        self.set_end()
        self.wait_until_done()

    def wait(self, reached: Callable[[], bool]) -> None:
        """Until that is so; AssertionError when it takes too long."""
        deadline = time.monotonic() + PATIENCE_S
        while not reached():
            assert time.monotonic() < deadline, "the groups did not come so far"
            time.sleep(0.001)

    def wait_until_done(self) -> None:
        """Until every client is done or gave up."""
        self.wait(
            lambda: all(state >= DONE for group in self.groups for state in self.shared_counters.states(group.name))
        )

    def end(self) -> dict[str, protocol.GroupTotal]:
        """`groups-end`, with the end set now where it was not: what each group did."""
        if self.begun_ns:
            self.wait_until_done_or_end()
        reply = self.talk.ask(protocol.ClientGroupsEnd, protocol.ClientGroupsEndReply)
        assert [total.name for total in reply.client_groups] == [group.name for group in self.groups]
        return {total.name: total for total in reply.client_groups}

    def wait_until_done_or_end(self) -> None:
        """Set the end now for clients that are not done."""
        if any(state < DONE for group in self.groups for state in self.shared_counters.states(group.name)):
            self.set_end()


def due_distances_s(seed: int, rate_per_s: float) -> Iterator[float]:
    """The distances of a client whose own rate is that, from SplitMix64 as runners/PROTOCOL.md says."""
    state = seed & MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        mixed = state
        mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & MASK
        mixed ^= mixed >> 31
        yield -math.log(1 - (mixed >> 11) / (1 << 53)) / rate_per_s
