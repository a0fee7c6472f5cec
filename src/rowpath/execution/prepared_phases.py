"""Phases made ready for an engine: SQL in its dialect, columns it has, parameter files, and what the rows must be."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Phase, PhaseName, Table, Workload, result_columns
from rowpath.runners.protocol import ParameterSlice
from rowpath.workloads import generators, partitions
from rowpath.workloads.codec import write_rows
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import for_engine, reset_for, sql_for, whole_sql


@dataclass(frozen=True)
class PreparedWorkload:
    """One workload for one engine: its phases ready, its expected rows, its tables, and the columns the engine lacks.

    A union phase is ready only for a path: in how many parts it is done is the path's.
    """

    workload: Workload
    expected: Expected
    phases: dict[str, PreparedPhase]
    left_out: dict[str, str]

    def loaded_tables(self) -> dict[str, Table]:
        """The tables that are filled before anything is measured."""
        return {name: table for name, table in self.workload.tables.items() if table.rows}


class PhaseCache:
    """Makes phases ready once per workload and engine; parameter files are written once per content."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._made: dict[tuple[str, str], PreparedWorkload] = {}
        self._parted: dict[tuple[str, ...], PreparedWorkload] = {}

    def prepared_workload(self, workload: Workload, engine_name: str) -> PreparedWorkload:
        """The workload ready for that engine."""
        key = (workload.name, engine_name)
        if key not in self._made:
            self._made[key] = self._make(workload, engine_name)
        return self._made[key]

    def path_work(self, workload: Workload, path: AccessPath, instance: Instance) -> PreparedWorkload:
        """The workload ready for that path on its loaded instance, union phases included."""
        common = self.prepared_workload(workload, path.engine)
        if path.ranges == "none":
            return common
        key = (workload.name, *(path.get(coordinate) for coordinate in ("engine", "clients", "ranges")))
        if key not in self._parted:
            folder, counted = instance.options(path).get("path"), ENGINES[path.engine].segments
            phases = dict(common.phases)
            for phase in common.workload.phases:
                if phase.union:
                    place = Path(folder) if folder else None
                    split_rows = partitions.parameters(common.workload, phase, path, place, counted)
                    work = self._phase(common.workload, phase, path.engine, *split_rows)
                    phases[work.name] = work
            self._parted[key] = replace(common, phases=phases)
        return self._parted[key]

    def _make(self, workload: Workload, engine_name: str) -> PreparedWorkload:
        engine = ENGINES[engine_name]
        narrowed, left_out = for_engine(workload, engine.supports)
        whole = [phase for phase in narrowed.phases if not phase.union]
        works = [self._phase(narrowed, p, engine_name, *generators.parameter_rows(narrowed, p)) for p in whole]
        return PreparedWorkload(narrowed, Expected(narrowed), {work.name: work for work in works}, left_out)

    def _phase(
        self,
        workload: Workload,
        phase: Phase,
        engine_name: str,
        columns: tuple[Column, ...],
        rows: Iterable[generators.Row],
    ) -> PreparedPhase:
        engine, name = ENGINES[engine_name], f"{workload.name}.{phase.name}"
        file: Path | None = None
        count = 0
        if phase.parameters is not None:
            # The ranges of a retrieval in parts are few and follow from more than the workload: they tell files apart.
            split_rows = tuple(rows) if phase.union else ()
            rows = split_rows or rows
            content = (columns, phase.parameters, workload.tables, split_rows)
            kind = hashlib.sha256(repr(content).encode()).hexdigest()[:10]
            file = self._directory / f"{name}.{kind}.rows"
            count = len(split_rows) or phase.parameters.count
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                partial = file.with_suffix(".partial")
                write_rows(partial, rows, columns)
                partial.rename(file)
        proofs = tuple(
            select_whole(f"{name}.after{number or ''}", table, workload.tables[table])
            for number, table in enumerate(filter(None, [phase.after, *phase.also_after]))
        )
        sql = sql_for(workload, phase, engine) if phase.sql else ""
        reset = reset_for(workload, phase, engine)
        worked = workload.tables.get(phase.table or phase.after)
        whole, key = (worked.columns, worked.primary_key) if worked else ((), ())
        results = result_columns(workload, phase)
        return PreparedPhase(name, phase, sql, results, columns, file, count, reset, whole, key, proofs)


@dataclass(frozen=True)
class PreparedPhase:
    """A phase made ready for one engine: its texts in the dialect, its columns, its parameter file."""

    name: str  # workload.phase
    phase: Phase
    sql: str
    columns: tuple[Column, ...] = ()
    parameter_columns: tuple[Column, ...] = ()
    parameter_file: Path | None = None
    parameter_count: int = 0
    reset: tuple[str, ...] = ()
    table_columns: tuple[Column, ...] = ()  # of the phase's table, whole
    key_columns: tuple[str, ...] = ()  # its primary key
    proofs: tuple[PreparedPhase, ...] = ()  # selects whose digests prove what a write phase wrote: `after` first
    parameter_first: int = 0  # of the file's rows, where others take the ones before

    @property
    def after(self) -> PreparedPhase | None:
        """The first of the proofs."""
        return next(iter(self.proofs), None)

    @property
    def parameters(self) -> ParameterSlice | None:
        """Its parameter rows as a runner gets them; None: it has none."""
        if self.parameter_file is None:
            return None
        return ParameterSlice(file=str(self.parameter_file), first=self.parameter_first, count=self.parameter_count)

    def part(self, number: int, parts: int) -> PreparedPhase:
        """The phase with its share of the parameter rows: parts have none in common, where there are rows enough."""
        at_once = max(1, self.phase.rows_per_operation)
        positions = self.parameter_count // at_once
        if parts == 1 or positions < parts:
            return self
        first, last = (positions * bound // parts for bound in (number, number + 1))
        return replace(
            self,
            name=f"{self.name}.part",
            parameter_first=self.parameter_first + first * at_once,
            parameter_count=(last - first) * at_once,
        )


def select_whole(name: str, table_name: str, table: Table) -> PreparedPhase:
    """A select of every row and column of a table, for a check outside every measurement."""
    query = whole_sql(table_name, table)
    phase = Phase(PhaseName.of(name).phase, "query", query, table=table_name, scan=True)
    return PreparedPhase(name, phase, query, table.columns, table_columns=table.columns, key_columns=table.primary_key)
