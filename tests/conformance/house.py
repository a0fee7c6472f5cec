"""What the conformance suite shares: its cases, the paths they run on, and engines that are started once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path as FilePath

import msgspec

from rowpath import languages
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.fleet import Fleet, key_of
from rowpath.invocation import Invocation, Work
from rowpath.lattice import lattice, pruned, unavailable, unserved_reason
from rowpath.model import Workload
from rowpath.plan import PlannedPath
from rowpath.work import EngineWork, Workshop
from rowpath.workloads import load_workload

CASES = FilePath(__file__).parent / "cases"
TIMEOUT_S = 60.0
DURABILITIES = ("none", "full")  # the first that the engine has: conformance needs no disk


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One phase and what it must come to; what is not said is known from the controller's generators."""

    title: str
    workload: str
    phase: str
    verify: dict[str, int] = {}
    sample: dict[str, int] = {}
    rows: int | None = None
    digest: str = ""
    failed: int = 0
    error: dict[str, str] = {}
    name: str = ""


@cache
def cases() -> tuple[Case, ...]:
    """All of them, by file name."""
    return tuple(
        msgspec.structs.replace(msgspec.toml.decode(file.read_bytes(), type=Case), name=file.stem)
        for file in sorted(CASES.glob("*.toml"))
    )


@cache
def workload_of(case_workload: str) -> Workload:
    """The workload that a case names: one of ours, or a file beside the case."""
    return load_workload(CASES / case_workload if "/" in case_workload else case_workload)


@cache
def workloads() -> dict[str, Workload]:
    """Every workload that a case names."""
    return {found.name: found for found in map(workload_of, dict.fromkeys(case.workload for case in cases()))}


def phase_name(case: Case) -> str:
    """`workload.phase`."""
    return f"{workload_of(case.workload).name}.{case.phase}"


@cache
def planned_paths() -> tuple[PlannedPath, ...]:
    """Each adapter on each of its engines: every value of its own coordinates, but one transport and one durability."""
    found = []
    for adapter in languages.every_adapter():
        own = {key: ("*",) for key in adapter.coordinates if key != "transport" and not key.endswith("_ns")}
        own.pop("stall_every", None)
        for engine in adapter.engines:
            durabilities = ENGINES[engine].durabilities
            durability = next((each for each in DURABILITIES if each in durabilities), "none")
            for path in lattice(adapter, own | {"engine": (engine,), "durability": (durability,)}):
                if pruned(adapter, path):
                    continue
                served = tuple(
                    f"{workload.name}.{phase.name}"
                    for workload in workloads().values()
                    for phase in workload.phases
                    if not unserved_reason(adapter, path, phase.name, phase)
                )
                found.append(PlannedPath(path, adapter, served, title(path.as_dict(), adapter)))
    return tuple(found)


def title(coordinates: dict[str, str], adapter: languages.Adapter) -> str:
    """Language, driver, deployment and the coordinates that vary, as pytest shows it."""
    varying = [
        coordinates[key] for key, values in adapter.coordinates.items() if len(values) > 1 and key != "transport"
    ]
    return "_".join([adapter.language, adapter.driver, coordinates["deployment"], *varying])


def one_of_each() -> tuple[PlannedPath, ...]:
    """The first path of every adapter and deployment."""
    first = {(p.adapter.language, p.adapter.driver, p.path.get("deployment")): p for p in reversed(planned_paths())}
    return tuple(reversed(first.values()))


def reason_against(planned: PlannedPath) -> str:
    """Why this path cannot run here; empty when it can."""
    return unavailable(planned.adapter, planned.path)[0]


@dataclass
class House:
    """Engines that are started and loaded when a path first needs them, and runners on them."""

    directory: FilePath
    observed: dict[str, dict[str, object]] = field(default_factory=dict)  # by path name: what the cases came to

    def __post_init__(self) -> None:
        self.workshop = Workshop(self.directory / "parameters")
        self.fleet = Fleet(self.directory, self.workshop, lambda _secret: None)
        self._built: set[tuple[str, str, str]] = set()
        self._living: Invocation | None = None

    def instance(self, planned: PlannedPath) -> Instance:
        """The path's engine, loaded with everything that the cases need."""
        key = key_of(planned.path)
        if key in self.fleet:
            return self.fleet[key]
        mine = [each for each in planned_paths() if key_of(each.path) == key and not reason_against(each)]
        return self.fleet.bring_up(tuple(mine), workloads(), key)

    def invocation(
        self, planned: PlannedPath, environment: dict[str, str] | None = None, instance: Instance | None = None
    ) -> Invocation:
        """A runner on the path, started but not yet spoken to."""
        version = planned.path.get("version")
        key = (planned.adapter.language, planned.adapter.driver, version)
        if key not in self._built:
            languages.build([(planned.adapter, version)])
            self._built.add(key)
        return Invocation(
            planned,
            instance or self.instance(planned),
            log=lambda _line: None,
            timeout_s=TIMEOUT_S,
            environment=environment,
        )

    def living(self, planned: PlannedPath) -> Invocation:
        """The connected runner of the path under test; that of the path before is closed."""
        if self._living is None or self._living.planned is not planned or not self._living.runner.alive():
            if self._living is not None:
                self._living.close()
            self._living = self.invocation(planned)
            self._living.open()
        return self._living

    def end(self) -> None:
        """Stop everything."""
        if self._living is not None:
            self._living.close()
        self.fleet.stop_all()

    def engine_work(self, case: Case, planned: PlannedPath) -> EngineWork:
        """The case's workload for the path's engine."""
        return self.workshop.engine_work(workload_of(case.workload), planned.path.get("engine"))

    def work(self, case: Case, planned: PlannedPath) -> Work:
        """The case's phase for the path's engine."""
        return self.engine_work(case, planned).phases[phase_name(case)]


def case_named(name: str) -> Case:
    """The case in `NAME.toml`."""
    return next(case for case in cases() if case.name == name)


def any_case(planned: PlannedPath) -> Case:
    """A case with a result that the path serves."""
    return next(case for case in cases() if phase_name(case) in planned.phases and case.verify and not case.error)
