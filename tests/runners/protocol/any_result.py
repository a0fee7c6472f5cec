"""Any result whatever through every adapter of an engine: described by one of them, prepared and verified by all."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rowpath.checks.conformance.paths import planned, reason_against
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.model.workload import Column, Phase
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Describe, DescribedColumn, DescribeReply

TIMEOUT_S = 30.0
SHAPING = ("fetch", "result", "format")


@dataclass
class Outcome:
    """What a path made of a query: a digest and its foreign values' reasons by column, or the driver's own error."""

    path: str
    driver: str
    digest: str
    foreign: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    text: str = ""

    @property
    def names(self) -> set[str]:
        """Of the driver, and with its language before it."""
        return {self.driver, f"{self.path.partition('_')[0]}_{self.driver}"}


def started(engine: str, folder: Path, storage: str = "") -> Iterator[Instance]:
    """An instance of the engine without any table, stopped afterwards."""
    folder.chmod(0o755)  # a server of root's runs as another user
    for name in ("s", "d"):
        (folder / name).mkdir(mode=0o777)
        (folder / name).chmod(0o777)
    kind = ENGINES[engine]
    place = Place(folder / "d", folder / "s", (0,), storage=storage)
    instance = kind.instance(kind.deployments[0], kind.durabilities[-1], place)
    instance.start()
    try:
        instance.load({})
        yield instance
    finally:
        instance.stop()


def paths(engine: str) -> list[PlannedPath]:
    """The default path on the engine of each adapter that a probe tries, and one for each other form of results."""
    found = []
    deployment = ENGINES[engine].deployments[0]
    for adapter in manifest.every_adapter():
        if engine not in adapter.engines or "query" not in adapter.phases or adapter.serves or adapter.floor:
            continue
        if adapter.only_named:  # it has forms of its own for some types
            continue
        known: dict[str, str] = {}
        further: set[str] = set()
        for each in planned(adapter, "values", {"engine": (engine,), "deployment": (deployment,)}):
            if each.path.get("access") == "handler":  # takes records of a table, and no query
                continue
            # Another value of one of these is tried once: each further path takes a process more.
            other = {key for key in SHAPING if each.path.get(key) != known.get(key)}
            if (not known or other - further) and not reason_against(each):
                further = further | other if known else set()
                known = known or {key: each.path.get(key) for key in SHAPING}
                found.append(each)
    manifest.build([(each.adapter, each.path.get("version")) for each in found])
    return found


class Bench:
    """One engine, a runner on each of its paths."""

    def __init__(self, instance: Instance, every: list[PlannedPath], setting_up: list[str]) -> None:
        self.instance = instance
        self.paths = every
        self.setting_up = setting_up
        self.workers: dict[str, Worker] = {}

    def worker(self, each: PlannedPath) -> Worker:
        """The path's runner, opened; a new one where the last was lost."""
        known = self.workers.get(each.path.id)
        if known is not None and known.runner.alive():
            return known
        self.instance.own_copy(each.path)
        made = Worker(each, self.instance, log=lambda _line: None, timeout_s=TIMEOUT_S)
        self.workers[each.path.id] = made
        made.open()
        if self.instance.deployment != "server":
            made.run(self.setting_up)
        return made

    def set_up(self, driver: str) -> None:
        """Make a server's tables; an embedded engine's paths have each its own."""
        if self.instance.deployment == "server":
            self.worker(self.of_python(driver)).run(self.setting_up)

    def of_python(self, driver: str) -> PlannedPath:
        """A path of Python's adapter of that driver."""
        return next(one for one in self.paths if (one.adapter.language, one.adapter.driver) == ("python", driver))

    def describers(self, engine: str) -> list[PlannedPath]:
        """A path of each adapter that a probe may ask what columns a query of the engine has."""
        found = {one.adapter.driver: one for one in reversed(self.paths) if engine in one.adapter.describes}
        return list(found.values())

    def describe(self, each: PlannedPath, sql: str) -> tuple[DescribedColumn, ...]:
        """The columns, as the path's adapter says. Errors: RunnerFailure."""
        runner = self.worker(each).runner
        return tuple(runner.request(Describe, TIMEOUT_S, sql=sql, expect=DescribeReply).columns)

    def outcome(self, each: PlannedPath, sql: str, columns: tuple[DescribedColumn, ...]) -> Outcome:
        """What the path makes of the query, checked and inside the clock."""
        try:
            living = self.worker(each)
            work = work_of(sql, columns)
            living.prepare(work)
            reply = living.verify(work, 0, 1)
            timed = living.sample(work, "steady", operations=1, first=0).reply
            if (timed.touch, timed.rows, timed.failed) != (reply.touch, reply.rows, 0):
                return Outcome(each.name, each.adapter.driver, "", kind="other", text=f"inside the clock: {timed}")
            found = zip(columns, reply.columns, strict=True)
            foreign = {column.name: digest.reason for column, digest in found if digest.foreign}
            return Outcome(each.name, each.adapter.driver, reply.digest, foreign)
        except RunnerFailure as failure:
            return Outcome(each.name, each.adapter.driver, "", kind=failure.kind, text=failure.text)

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()


def work_of(sql: str, columns: tuple[DescribedColumn, ...]) -> PreparedPhase:
    """A stranger's query as a phase."""
    fields = Column.__struct_fields__
    own = tuple(Column(**{key: getattr(column, key) for key in fields}) for column in columns)
    return PreparedPhase("any.result", Phase("result", "query", sql, columns=own), sql, own, (), None, 0)


@contextlib.contextmanager
def bench(engine: str, setting_up: list[str], storage: str = "") -> Iterator[Bench]:
    """The engine with every runner; all are stopped afterwards."""
    # Not pytest's directories, which any other run of pytest closes to other users.
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.contextmanager(started)(engine, Path(folder), storage) as instance,
    ):
        made = Bench(instance, paths(engine), setting_up)
        try:
            yield made
        finally:
            made.close()
