"""Databases made and filled through a driver: the one with the engine in `loads` of its manifest entry."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Engine, Imports
from rowpath.errors import RowpathError, UsageError
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.runners import manifest, protocol
from rowpath.runners.manifest import Adapter, every_adapter
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.workloads import load_progress
from rowpath.workloads.codec import write_rows
from rowpath.workloads.generators import kept_file, rows

TIMEOUT_S = 600.0
SLICE_ROWS = 50_000  # brought at a time, so that memory does not grow with the table


def loader(engine: str, deployment: str = "") -> Adapter:
    """The adapter that makes and fills the engine's databases, by `loads` of its entry; the first of that deployment.

    Errors: UsageError.
    """
    loading = (adapter for adapter in every_adapter() if engine in adapter.loads)
    adapter = next((adapter for adapter in loading if deployment in ("", *adapter.deployments)), None)
    if adapter is None:
        raise UsageError(f"no adapter loads the engine '{engine}'", f"write loads = ['{engine}'] into an entry of one")
    return adapter


def availability(engine: str, what: str, version: str = "") -> Availability:
    """Whether that adapter can be built and run here, its first version or this one; `what` is what would run."""
    adapter = loader(engine)
    here = manifest.availability(adapter, version or adapter.versions[0])
    return Availability(here.ok, what, here.reason, here.remedy)


class DriverMade(Engine):
    """An engine whose databases that adapter makes and loads."""

    title: str

    @override
    def availability(self) -> Availability:
        """The availability of the adapter that makes and loads its databases."""
        return availability(self.name, f"{self.title} {self.version()}")

    @override
    def version(self) -> str:
        """The version of that adapter's pinned driver, which carries the engine."""
        return loader(self.name).versions[0]


@contextlib.contextmanager
def connected(options: dict[str, Any], version: str = "") -> Iterator[Runner]:
    """A runner of the engine's loader, connected with these options, for work outside every measurement.

    `options`: the path's coordinates, `engine` among them, and what its instance adds. `version`: of the driver; empty:
    its first. Errors: RowpathError, in the body too.
    """
    adapter = loader(options["engine"], options["deployment"])
    version = version or adapter.versions[0]
    manifest.build([(adapter, version)])
    coordinates = {key: options[key] for key in ("engine", "deployment", "durability")} | {"driver": adapter.driver}
    runner = Runner.start(manifest.command(adapter, version, AccessPath.of(coordinates)), ())
    try:
        runner.hello(adapter.driver)
        runner.request(protocol.Open, TIMEOUT_S, options=options, expect=protocol.OpenReply)
        yield runner
        runner.request(protocol.Close, TIMEOUT_S, expect=protocol.CloseReply)
    except RunnerFailure as failure:
        raise RowpathError(f"cannot use the database of {options['engine']}: {failure}", "rowpath doctor") from failure
    finally:
        runner.stop()


def make_tables(
    runner: Runner, engine: Engine, tables: dict[str, Table], folder: Path, by_sample: bool = False
) -> None:
    """Remake these tables and fill them from the generators; `folder` takes the rows until then.

    `by_sample`: through a runner without the request `load`, each row an operation of its own.

    Errors: RunnerFailure, RowpathError when rows are missing.
    """
    with tempfile.TemporaryDirectory(prefix="rowpath-load-", dir=folder) as place:
        for name, table in tables.items():
            run(runner, [engine.drop(name)], ignore_errors=True)
            run(runner, [engine.create(name, table)])
            if table.rows:
                fill(runner, engine, name, table, Path(place) / f"{name}.rows", by_sample)
            run(runner, engine.filled(name, table))


def fill(runner: Runner, engine: Engine, name: str, table: Table, file: Path, by_sample: bool = False) -> None:
    """Store the table's rows: the engine reads a kept file, or the rows come by way of parameter files.

    Errors: RunnerFailure, RowpathError when rows are missing.
    """
    if isinstance(engine, Imports) and (kept := kept_file(table)):
        with load_progress.reported(f"{engine.name} {name}", table.rows):
            run(runner, engine.imported(name, table, kept, file.parent))
        return
    marks = ", ".join("?" * len(table.columns))
    names = ", ".join(column.name for column in table.columns)
    phase = protocol.PhaseSpec(
        name=f"load.{name}",
        kind="execute",
        sql=f"INSERT INTO {name} ({names}) VALUES ({marks})",
        table=name,
        parameter_columns=table.columns,
        access="insert",
        table_columns=table.columns,
        key_columns=table.primary_key,
    )
    made = load_progress.counted(f"{engine.name} {name}", rows(table), table.rows)
    stored = 0
    for _ in range(0, table.rows, SLICE_ROWS):
        count = write_rows(file, islice(made, SLICE_ROWS), table.columns)
        parameters = protocol.ParameterSlice(file=str(file), first=0, count=count)
        runner.request(protocol.Prepare, TIMEOUT_S, phase=phase, parameters=parameters, expect=protocol.PrepareReply)
        own = {"phase": phase.name, "first": 0}
        if not by_sample:
            stored += runner.request(protocol.Load, TIMEOUT_S, **own, count=count, expect=protocol.LoadReply).rows
            continue
        fields = own | {"regime": "warm", "lead_in_ns": 0, "duration_ns": 0, "operations": count}
        reply = runner.request(protocol.Sample, TIMEOUT_S, **fields, expect=protocol.SampleReply)
        if reply.failure is not None:
            raise RunnerFailure(reply.failure.kind, reply.failure.text, reply.failure.code)
        stored += reply.operations
    if stored != table.rows:
        raise RowpathError(
            f"{stored} of {table.rows} rows arrived in {name} of {engine.name}", f"rowpath verify engine={engine.name}"
        )


def run(runner: Runner, statements: list[str], ignore_errors: bool = False) -> int:
    """Execute statements, each committed; ns of all."""
    if not statements:
        return 0
    fields = {"statements": statements, "ignore_errors": ignore_errors}
    return sum(runner.request(protocol.RunStatements, TIMEOUT_S, **fields, expect=protocol.RunReply).ns)
