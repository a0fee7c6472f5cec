"""Talking to a Python runner in tests: start one, and short words for its requests."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase, Workload
from rowpath.runners import protocol as p
from rowpath.runners.manifest import Adapter, Command, load_manifest, toolchain
from rowpath.runners.process import Runner, RunnerFailure
from tests.runners.protocol import talk

language: Any = toolchain("python")
ADAPTERS = {adapter.driver: adapter for adapter in load_manifest("python").adapter}


class Talk(talk.Talk):
    """A started runner, its parameter rows in one folder; a phase is named with its workload."""

    SAMPLE = MappingProxyType({**talk.Talk.SAMPLE, "lead_in_ns": 1_000_000, "duration_ns": 10_000_000})

    def __init__(self, runner: Runner, folder: Path) -> None:
        self.runner = runner
        self.folder = folder

    def prepare(self, workload: Workload, phase: Phase, sql: str = "", **changed: Any) -> str:
        name = f"{workload.name}.{phase.name}"
        return self.prepare_phase(workload, phase, sql or phase.sql, self.folder, **({"name": name} | changed))

    def verify(self, phase: str, first: int = 0, count: int = 1, max_rows: int = 100_000, **more: Any) -> p.VerifyReply:
        return super().verify(phase, first, count, max_rows=max_rows, **more)


def command_of(adapter: Adapter, extra: Path | None = None, **coordinates: str) -> Command:
    version = coordinates.get("version", adapter.versions[0])
    path = AccessPath.of({"driver": adapter.driver, **coordinates})
    language.build([(adapter, version)], [path])
    command = language.command(adapter, version, path)
    if extra is None:
        return command
    both = {**command.environment, "PYTHONPATH": f"{extra}{os.pathsep}{command.environment['PYTHONPATH']}"}
    return Command(arguments=(*command.arguments[:-1], "toy"), environment=both)


KEPT = 3  # runners that live on for the tests to come


@contextlib.contextmanager
def starting(folder: Path) -> Iterator[Callable[..., Talk]]:
    """What starts runners whose parameter rows are in the folder; all are stopped at the end."""
    with contextlib.ExitStack() as stack:

        def started(driver: str, extra: Path | None = None, source: Path | None = None, **coordinates: str) -> Talk:
            command = command_of(ADAPTERS.get(driver, ADAPTERS["null"]), extra, **coordinates)
            if source:
                own = (*command.arguments, "--source").index("--source")
                program = command.arguments[: min(own, len(command.arguments) - 2)]
                arguments = (*program, "--source", str(source), *command.arguments[-2:])
                command = Command(arguments=arguments, environment=command.environment)
            runner = Runner.start(command, (0,))
            stack.callback(runner.stop)
            runner.hello(driver)
            return Talk(runner, folder)

        yield started


@pytest.fixture(name="start")
def start_fixture(tmp_path: Path) -> Iterator[Callable[..., Talk]]:
    with starting(tmp_path) as start:
        yield start


@pytest.fixture(name="living", scope="module")
def living_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Callable[..., Talk], dict[Any, Talk]]]:
    with starting(tmp_path_factory.mktemp("kept")) as start:
        yield start, {}


@pytest.fixture(name="kept")
def kept_fixture(living: tuple[Callable[..., Talk], dict[Any, Talk]]) -> Iterator[Callable[..., Talk]]:
    """What gives a runner that tests before this one may have had: importing a driver costs more than most tests do.

    A few live on, those asked for last; no connection outlives its test.
    """
    start, talks = living

    def found(driver: str, **coordinates: str) -> Talk:
        key = driver, *sorted(coordinates.items())
        talks[key] = talks.pop(key, None) or start(driver, **coordinates)
        if len(talks) > KEPT:
            talks.pop(next(iter(talks))).runner.stop()
        return talks[key]

    yield found
    for key, one in list(talks.items()):
        try:
            if one.connected:
                one.close_connection()
        except RunnerFailure:
            talks.pop(key).runner.stop()
