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
from rowpath.runners.process import Runner
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


@pytest.fixture(name="start")
def start_fixture(tmp_path: Path) -> Iterator[Callable[..., Talk]]:
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
            return Talk(runner, tmp_path)

        yield started
