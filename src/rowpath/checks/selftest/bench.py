"""What the known-answer tests share: paths made by hand, the real schedule, the real analysis."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from rowpath.analysis.analyse import analysis_of, gather
from rowpath.analysis.model import Analysis
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase
from rowpath.execution.run import write_head
from rowpath.execution.run_options import RunOptions
from rowpath.execution.schedule import Schedule
from rowpath.execution.worker import Worker
from rowpath.journal.reader import Records
from rowpath.journal.records import EndRecord, SampleRecord
from rowpath.journal.writer import Journal, RunDirectory
from rowpath.machine import cpus, processes
from rowpath.model.experiment import ClientGroupTable, Experiment, Measure, StageTable
from rowpath.model.path import AccessPath
from rowpath.model.progress import Silent
from rowpath.model.workload import PhaseName
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners import manifest
from rowpath.runners.manifest import adapter_of, availability, build, every_adapter, language
from rowpath.scrubber import Scrubber
from rowpath.workloads.workload_file import at_scale, load_workload

CHEATS = Path(__file__).parent / "cheats"
PATIENCE_S = 2.0
NOTHING = "null.nothing"  # the phase of the null adapter: its operations have a known cost


@dataclass(frozen=True)
class Verdict:
    """The outcome of one known answer; `passed` is None where this machine cannot run the test.

    `busy`: what else ran, when a miss proves nothing for that reason.
    """

    passed: bool | None
    what: str
    figure: str
    bar: str = ""
    busy: str = ""

    @classmethod
    def exactly(cls, what: str, value: float | None, truth: int, slack: int = 0) -> Verdict:
        """A count that must be right to the last one, or to `slack`; None was not counted, and is wrong."""
        passed = value is not None and abs(value - truth) <= slack
        bar = f"exactly {truth:,}" if not slack else f"{truth:,} ± {slack}"
        return cls(passed, what, f"{value:,.12g}" if value is not None else "not counted", bar)

    @classmethod
    def within(cls, what: str, value: float, least: float, most: float, form: str = ",.2f") -> Verdict:
        """A figure that must lie between two others; `form`: the format of all three. What is no number is wrong."""
        figure = "not measured" if math.isnan(value) else f"{value:{form}}"
        return cls(least <= value <= most, what, figure, f"{least:{form}} to {most:{form}}")

    @classmethod
    def either(
        cls, what: str, seen: bool, expected: bool = True, words: tuple[str, str] = ("raised", "absent")
    ) -> Verdict:
        """What must be seen, or must not be; `words`: for both cases, by default those of a finding."""
        return cls(seen == expected, what, words[not seen], words[not expected])


class Skipped(Exception):
    """A known answer that this machine cannot give: its name, why, and what would help."""


class Bench:
    """A private directory with engines and runners for one test."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.phase_cache = PhaseCache(directory / "params")
        self.engine_instances = EngineInstances(directory, self.phase_cache, lambda _secret: None)
        self._cleanup = contextlib.ExitStack()
        self._runs = 0
        cpus.usable()

    def close(self) -> None:
        """Stop everything."""
        self._cleanup.close()
        self.engine_instances.stop_all()
        processes.stop_all()

    def languages(self) -> list[str]:
        """The languages with a null adapter that can run here."""
        nulls = [adapter for adapter in every_adapter() if adapter.driver == "null"]
        return [adapter.language for adapter in nulls if availability(adapter, adapter.versions[0]).ok]

    def sqlite_drivers(self) -> Iterator[tuple[str, str]]:
        """The languages of `languages` that read SQLite in the tests, each with its driver."""
        for name in self.languages():
            if driver := language(name).selftest_driver:
                yield name, driver

    def require_compiler(self, what: str) -> None:
        """Skipped where the C null adapter cannot be built."""
        if "c" not in self.languages():
            raise Skipped(what, "the null adapter needs a C compiler", "apt-get install gcc libc6-dev")

    def path(
        self, language_name: str, driver: str, phase: str, name: str = "", label: str = "", **coordinates: str
    ) -> PlannedPath:
        """A path made by hand; coordinates not named take the adapter's first value."""
        adapter = adapter_of(language_name, driver)
        first, engine = {key: values[0] for key, values in adapter.coordinates.items()}, adapter.engines[0]
        given = {
            "engine": engine,
            "engine_version": "none",
            "deployment": adapter.deployments[0],
            "language": language_name,
            "driver": driver,
            "version": adapter.versions[0],
            "placement": "same",
            "durability": (tuple(ENGINES[engine].durabilities) or ("none",))[0],
            "threads": "1",
            "tls": "off",
        }
        path = AccessPath.of(given | first | coordinates, label)
        return PlannedPath(path, adapter, (phase,), name or f"{language_name} {driver} {label}".strip(), "all paths")

    def cheat(self, honest: PlannedPath, how: str) -> PlannedPath:
        """A path by the adapter `HOW_DRIVER` in `cheats`, which is that of the honest path with something added."""
        driver = f"{how}-{honest.adapter.driver}"
        start = manifest.command(honest.adapter, honest.path.version, honest.path)
        environment = start.environment | {"PYTHONPATH": f"{start.environment['PYTHONPATH']}{os.pathsep}{CHEATS}"}
        words = [f"{name}={value}" for name, value in environment.items()]
        adapter = manifest.external(honest.adapter, driver, ["env", *words, *start.arguments[:-2]])
        path = AccessPath.of(honest.path.as_dict() | {"driver": driver})
        return PlannedPath(path, adapter, honest.phases, how, honest.comparison)

    def cheating_layer(self, honest: PlannedPath, how: str) -> PlannedPath:
        """A path whose layer is the file `how` in `cheats/layers`."""
        start = manifest.command(honest.adapter, honest.path.version, honest.path)
        program, *rest = start.arguments
        rest[rest.index("--source") + 1] = str(CHEATS / "layers" / f"{how}.py")
        words = [f"{name}={value}" for name, value in start.environment.items()]
        command = ["env", *words, program, *rest[: rest.index("--adapter")]]
        adapter = manifest.external(honest.adapter, honest.adapter.driver, command)
        return PlannedPath(AccessPath.of(honest.path.as_dict(), how), adapter, honest.phases, how, honest.comparison)

    def work(self, phase: str, engine: str) -> PreparedPhase:
        """The phase called `workload.phase`, ready for that engine."""
        return self.phase_cache.prepared_workload(load_workload(PhaseName.of(phase).workload), engine).phases[phase]

    def build(self, *paths: PlannedPath) -> None:
        """Bring the paths' runners up to date."""
        build([(each.adapter, each.path.version) for each in paths], paths=[each.path for each in paths])

    def instance(self, engine: str, deployment: str, name: str = "", durability: str = "none", **how: int) -> Instance:
        """A started engine of this test's own; `how` sets attributes before it starts (the ping server's burn)."""
        folder = self.directory / f"{engine}-{deployment}-{name}"
        instance = ENGINES[engine].instance(deployment, durability, Place(folder, folder, cpus.server_cpus()))
        for attribute, value in how.items():
            setattr(instance, attribute, value)
        instance.start()
        self._cleanup.callback(instance.stop)
        return instance

    def worker(
        self,
        planned: PlannedPath,
        instance: Instance,
        environment: dict[str, str] | None = None,
        clients: int = 0,
        **overrides: Any,
    ) -> Worker:
        """A living, connected runner; `clients`: of groups at work at once."""
        self.build(planned)
        how: dict[str, Any] = {"log": lambda _line: None, "timeout_s": 60.0, "environment": environment}
        worker = Worker(planned, instance, clients=clients, pinned=True, **how)
        self._cleanup.callback(worker.close)
        worker.open(**overrides)
        worker.notice_server()
        return worker

    def null_worker(
        self,
        language_name: str = "c",
        environment: dict[str, str] | None = None,
        options: dict[str, Any] | None = None,
        driver: str = "null",
        **costs: int,
    ) -> tuple[Worker, PreparedPhase]:
        """A connected null adapter whose operations cost that, prepared; `options`: more of what `open` gets."""
        planned = self.path(language_name, driver, NOTHING, **{name: str(value) for name, value in costs.items()})
        worker = self.worker(planned, self.instance("null", "none"), environment, **options or {})
        work = self.work(NOTHING, "null")
        worker.prepare(work)
        return worker, work

    def run(
        self,
        paths: list[PlannedPath],
        phase: str,
        groups: tuple[ClientGroupTable, ...] = (),
        stages: tuple[StageTable, ...] = (),
        **measure: Any,
    ) -> tuple[Analysis, Records]:
        """A whole run of these paths in one phase through the real schedule: its analysis and its journal."""
        self._runs += 1
        how = msgspec.structs.replace(Measure(max_sets=0, regimes=("steady",), warm_cap_s=1.0), **measure)
        experiment = Experiment(1, "selftest", "known answers", (phase,), (), measure=how)
        experiment = msgspec.structs.replace(experiment, client_groups=groups, stages=stages)
        workload, members = at_scale(load_workload(PhaseName.of(phase).workload), 0), tuple(paths)
        plan = Plan(experiment, {workload.name: workload}, members, (), (members,), (), self._runs, {}, False)
        self.build(*paths)
        directory = RunDirectory(self.directory / f"run-{self._runs}")
        directory.create()
        scrubber = Scrubber()
        journal = Journal(directory, scrubber)
        write_head(journal, plan, {})
        options = RunOptions(timeout_s=60.0, wait_for_quiet_s=PATIENCE_S)
        Schedule(plan, options, directory, journal, scrubber, Silent()).run()
        journal.write(EndRecord("complete"))
        journal.close()
        evidence = gather(directory.path)
        return analysis_of(evidence), evidence.journal


@contextlib.contextmanager
def beside(program: str, on: Iterable[int]) -> Iterator[None]:
    """A Python program of this text at work on these CPUs while the body runs."""
    process = processes.start([sys.executable, "-c", program], cpus=on)
    try:
        yield
    finally:
        processes.stop(process, processes.AT_ONCE)


def samples(records: Records, planned: PlannedPath) -> list[SampleRecord]:
    """The steady samples of that path."""
    wanted = (planned.path.id, "steady")
    return [sample for sample in records.all(SampleRecord) if (sample.path_id, sample.regime) == wanted]
