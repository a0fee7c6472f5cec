"""Talking to a Python runner in tests: start one, and short words for its requests."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.model.path import AccessPath
from rowpath.model.result_columns import result_columns
from rowpath.model.workload import Phase, Workload
from rowpath.runners import protocol as p
from rowpath.runners.manifest import Adapter, Command, load_manifest
from rowpath.runners.process import Runner
from rowpath.runners.toolchains import python as language
from rowpath.workloads import codec, generators

ADAPTERS = {adapter.driver: adapter for adapter in load_manifest("python").adapter}


class Talk:
    """A started runner and short words for its requests."""

    def __init__(self, runner: Runner, folder: Path) -> None:
        self.runner = runner
        self.folder = folder

    def open(self, **options: Any) -> p.OpenReply:
        return self.runner.request(p.Open, 60, options=options, expect=p.OpenReply)

    def prepare(self, workload: Workload, phase: Phase, sql: str = "", **changed: Any) -> str:
        name = f"{workload.name}.{phase.name}"
        parameter_columns, rows = generators.parameter_rows(workload, phase)
        parameters = None
        if phase.parameters:
            file = self.folder / f"{name}.rows"
            count = codec.write_rows(file, rows, parameter_columns)
            parameters = p.ParameterSlice(file=str(file), first=0, count=count)
        spec = {
            "name": name,
            "kind": phase.kind,
            "sql": sql or phase.sql,
            "table": phase.table,
            "scan": phase.scan,
            "columns": msgspec.to_builtins(result_columns(workload, phase)),
            "parameter_columns": msgspec.to_builtins(parameter_columns),
            "transaction": phase.transaction,
            "stamps": phase.stamps,
            "rows_per_operation": phase.rows_per_operation,
            "way": phase.way,
            "access": "scan" if phase.scan else phase.access,
        }
        if phase.table:
            table = workload.tables[phase.table]
            spec |= {"table_columns": msgspec.to_builtins(table.columns), "key_columns": list(table.primary_key)}
        spec |= changed
        self.runner.request(
            p.Prepare, 60, phase=msgspec.convert(spec, p.PhaseSpec), parameters=parameters, expect=p.PrepareReply
        )
        return name

    def sample(self, phase: str, **given: Any) -> p.SampleReply:
        fields = {"regime": "steady", "lead_in_ns": 1_000_000, "duration_ns": 10_000_000, "operations": 0, "first": -1}
        return self.runner.request(p.Sample, 60, phase=phase, expect=p.SampleReply, **(fields | given))

    def verify(self, phase: str, first: int = 0, count: int = 1, max_rows: int = 100_000) -> p.VerifyReply:
        return self.runner.request(
            p.Verify, 60, phase=phase, first=first, count=count, max_rows=max_rows, expect=p.VerifyReply
        )

    def run(self, *statements: str, ignore_errors: bool = False) -> None:
        self.runner.request(
            p.RunStatements, 60, statements=list(statements), ignore_errors=ignore_errors, expect=p.RunReply
        )

    def facts(self) -> p.FactsReply:
        return self.runner.request(p.Facts, 60, expect=p.FactsReply)


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

        def started(driver: str, extra: Path | None = None, **coordinates: str) -> Talk:
            runner = Runner.start(command_of(ADAPTERS.get(driver, ADAPTERS["null"]), extra, **coordinates), (0,))
            stack.callback(runner.stop)
            runner.hello(driver)
            return Talk(runner, tmp_path)

        yield started
