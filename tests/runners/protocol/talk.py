"""A runner spoken to in tests, whatever its language: by typed requests, or line by line as on the pipe."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from rowpath.engines.base import Engine
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Phase, Workload, result_columns
from rowpath.runners import manifest, protocol
from rowpath.runners.manifest import Adapter, load_manifest
from rowpath.runners.process import AnyReply, Runner
from rowpath.workloads import codec, generators
from rowpath.workloads.workload_file import reset_for, sql_for, whole_sql
from tests.waiting import PATIENCE_S

TIMEOUT_S = 60.0

NOTHING = {"name": "null.nothing", "kind": "null"}
K = {"name": "k", "type": "integer"}
V = {"name": "v", "type": "text", "nullable": True}
KNOWN = ("touch", "digest", "load", "clients", "interrupt")
LACKS = {"c": ("load",)}  # of what a runner may know, by language
WRITTEN: dict[Path, tuple[str, int]] = {}  # parameter files: what is in them, and how many rows
Start = Callable[..., "LineTalk"]
Ask = Callable[[str], str]


def adapter(language: str, driver: str) -> Adapter:
    return next(adapter for adapter in load_manifest(language).adapter if adapter.driver == driver)


def sqlite_file(folder: Path) -> Path:
    """A database of ten rows, its name one that a careless driver takes apart."""
    file = folder / "a b é%20.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT, d TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, '2000-01-02')", [(k, "é" * k) for k in range(1, 11)])
    connection.close()
    return file


def on_sqlite(file: Path, **changed: str) -> dict[str, Any]:
    """What opens the database."""
    return {"path": str(file), "statement": "prepared", "durability": "none"} | changed


class Talk:
    """A runner, and short words for its requests; RunnerFailure where it refuses one."""

    SAMPLE: Mapping[str, Any] = MappingProxyType(
        {"regime": "steady", "lead_in_ns": 0, "duration_ns": 0, "operations": 0, "first": -1}
    )
    engine: Engine  # in whose SQL `make_ready` speaks
    connected = False

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def ask(self, message: type, expect: type[AnyReply], **fields: Any) -> AnyReply:
        """The reply to a request."""
        if message is protocol.Close:
            self.connected = False
        return self.runner.request(message, TIMEOUT_S, expect=expect, **fields)

    def open(self, options: Mapping[str, Any] = MappingProxyType({}), **more: Any) -> protocol.OpenReply:
        """Connect, with these options only; what is open is closed first."""
        if self.connected:
            self.close_connection()
        reply = self.ask(protocol.Open, protocol.OpenReply, options={**options, **more})
        self.connected = True
        return reply

    def close_connection(self) -> None:
        """Close the connection, keep the process."""
        self.ask(protocol.Close, protocol.CloseReply)

    def run(self, *statements: str, ignore_errors: bool = False) -> None:
        """Execute statements."""
        self.ask(protocol.RunStatements, protocol.RunReply, statements=list(statements), ignore_errors=ignore_errors)

    def facts(self) -> protocol.FactsReply:
        """What the live connection says."""
        return self.ask(protocol.Facts, protocol.FactsReply)

    def describe(self, sql: str) -> list[protocol.DescribedColumn]:
        """The columns of a query's result."""
        return self.ask(protocol.Describe, protocol.DescribeReply, sql=sql).columns

    def prepare_spec(self, spec: protocol.PhaseSpec, parameters: protocol.ParameterSlice | None = None) -> None:
        """Prepare a phase that is no workload's."""
        self.ask(protocol.Prepare, protocol.PrepareReply, phase=spec, parameters=parameters)

    def prepare_phase(self, workload: Workload, phase: Phase, sql: str, folder: Path, **changed: Any) -> str:
        """Prepare a phase of the workload, its parameter rows in that folder; the phase's name."""
        parameter_columns, parameters = parameters_of(workload, phase, folder)
        table = workload.tables.get(phase.table)
        spec = protocol.PhaseSpec(
            name=phase.name,
            kind=phase.kind,
            sql=sql,
            table=phase.table,
            scan=phase.scan,
            columns=result_columns(workload, phase),
            parameter_columns=parameter_columns,
            transaction=phase.transaction,
            stamps=phase.stamps,
            rows_per_operation=phase.rows_per_operation,
            way=phase.way,
            access="scan" if phase.scan else phase.access,
            table_columns=table.columns if table else (),
            key_columns=table.primary_key if table else (),
        )
        spec = msgspec.structs.replace(spec, **changed)
        self.prepare_spec(spec, parameters)
        return spec.name

    def make_ready(self, workload: Workload, phase: Phase, folder: Path, sql: str = "", **changed: Any) -> None:
        """Reset the phase's table and prepare the phase, in the engine's SQL."""
        if reset := reset_for(workload, phase, self.engine):
            self.run(*reset, ignore_errors=True)
        self.prepare_phase(workload, phase, sql or sql_for(workload, phase, self.engine), folder, **changed)

    def digest_after(self, workload: Workload, phase: Phase, folder: Path) -> str:
        """The digest of the whole table that the phase writes."""
        query = Phase(name="after", kind="query", table=phase.after)
        sql = whole_sql(phase.after, workload.tables[phase.after])
        return self.verify(self.prepare_phase(workload, query, sql, folder)).digest

    def sample(self, phase: str, **changed: Any) -> protocol.SampleReply:
        """One sample, as `SAMPLE` has it but for these fields."""
        return self.ask(protocol.Sample, protocol.SampleReply, phase=phase, **{**self.SAMPLE, **changed})

    def verify(self, phase: str, first: int = 0, count: int = 1, **more: Any) -> protocol.VerifyReply:
        """The digest of a phase's rows."""
        return self.ask(protocol.Verify, protocol.VerifyReply, phase=phase, first=first, count=count, **more)


def parameters_of(
    workload: Workload, phase: Phase, folder: Path
) -> tuple[tuple[Column, ...], protocol.ParameterSlice | None]:
    """The phase's parameter columns and its file of rows, written once; () and None without parameters."""
    columns, rows = generators.parameter_rows(workload, phase)
    if not columns:
        return (), None
    file = folder / f"{workload.name}.{phase.name}.rows"
    content = repr((columns, phase.parameters, workload.tables))
    if WRITTEN.get(file, ("", 0))[0] != content:
        WRITTEN[file] = content, codec.write_rows(file, rows, columns)
    return columns, protocol.ParameterSlice(file=str(file), first=0, count=WRITTEN[file][1])


class LineTalk:
    """A runner spoken to line by line, in an environment that would mislead a careless one."""

    def __init__(self, found: Adapter, **coordinates: str) -> None:
        self.driver = found.driver
        self.known = [word for word in KNOWN if word not in LACKS.get(found.language, ())]
        self.id = 0
        version = found.versions[0]
        manifest.build([(found, version)])
        command = manifest.command(found, version, AccessPath.of({"deployment": found.deployments[0], **coordinates}))
        environment = {**os.environ, **command.environment, "JAVA_TOOL_OPTIONS": "-Dnoise=1", "LC_NUMERIC": "de_DE"}
        self.process = subprocess.Popen(
            command.arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )

    def send(self, kind: str, /, **fields: Any) -> None:
        assert self.process.stdin is not None
        self.id += 1
        line = json.dumps({"id": self.id, "type": kind, "deadline_ms": 10_000, "unknown": None, **fields})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, kind: str, /, **fields: Any) -> Any:
        assert self.process.stdout is not None
        self.send(kind, **fields)
        reply = json.loads(self.process.stdout.readline())
        assert reply["id"] == self.id
        return reply

    def hello(self, **changed: Any) -> Any:
        asked = {
            "protocol": [3, 0],
            "codec": 2,
            "requires": self.known,
            "adapter": self.driver,
        }
        return self.ask("hello", **(asked | changed))

    def sample(self, phase: str, **changed: Any) -> Any:
        return self.ask("sample", phase=phase, **{**Talk.SAMPLE, **changed})

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def talks(language: str) -> Iterator[Start]:
    """What starts runners of the language; all are killed at the end."""
    started: list[LineTalk] = []

    def start(driver: str, options: dict[str, Any] | None = None, **coordinates: str) -> LineTalk:
        talk = LineTalk(adapter(language, driver), **coordinates)
        started.append(talk)
        if options is not None:
            assert "error" not in talk.hello()
            assert "error" not in talk.ask("open", options=options)
        return talk

    yield start
    for talk in started:
        talk.end()


def answers(command: list[str]) -> Iterator[Ask]:
    """What gives a program a line and returns the line it answers; the program must end well."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, replies = process.stdin, process.stdout

        def ask(request: str) -> str:
            requests.write(request + "\n")
            requests.flush()
            return replies.readline().strip()

        yield ask
        requests.close()
        assert process.wait(timeout=PATIENCE_S) == 0
