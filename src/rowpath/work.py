"""Phases made ready for an engine: SQL in its dialect, columns it has, parameter files, and what the rows must be."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path as FilePath

from rowpath import generators
from rowpath.codec import write_rows
from rowpath.engines import ENGINES
from rowpath.invocation import Work
from rowpath.model import Column, Phase, Table, Workload
from rowpath.truth import Truth
from rowpath.workloads import after_sql, for_engine, reset_for, result_columns, sql_for


@dataclass(frozen=True)
class EngineWork:
    """One workload for one engine: its phases ready, its truth, its tables, and the columns the engine lacks."""

    workload: Workload
    truth: Truth
    phases: dict[str, Work]
    left_out: dict[str, str]

    def loaded_tables(self) -> dict[str, Table]:
        """The tables that are filled before anything is measured."""
        return {name: table for name, table in self.workload.tables.items() if table.rows}


class Workshop:
    """Makes phases ready once per workload and engine; parameter files are written once per content."""

    def __init__(self, directory: FilePath) -> None:
        self._directory = directory
        self._made: dict[tuple[str, str], EngineWork] = {}

    def engine_work(self, workload: Workload, engine_name: str) -> EngineWork:
        """The workload ready for that engine."""
        key = (workload.name, engine_name)
        if key not in self._made:
            self._made[key] = self._make(workload, engine_name)
        return self._made[key]

    def _make(self, workload: Workload, engine_name: str) -> EngineWork:
        engine = ENGINES[engine_name]
        narrowed, left_out = for_engine(workload, engine.supports)
        phases = {}
        for phase in narrowed.phases:
            name = f"{workload.name}.{phase.name}"
            phases[name] = self._phase(narrowed, phase, name, engine_name)
        return EngineWork(narrowed, Truth(narrowed), phases, left_out)

    def _phase(self, workload: Workload, phase: Phase, name: str, engine_name: str) -> Work:
        engine = ENGINES[engine_name]
        file: FilePath | None = None
        count = 0
        columns: tuple[Column, ...] = ()
        if phase.parameters is not None:
            columns, rows = generators.parameter_rows(workload, phase)
            kind = hashlib.sha256(repr((columns, phase.parameters, workload.tables)).encode()).hexdigest()[:10]
            file = self._directory / f"{name}.{kind}.rows"
            count = phase.parameters.count
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                partial = file.with_suffix(".partial")
                write_rows(partial, rows, columns)
                partial.rename(file)
        after = None
        if phase.after:
            table = workload.tables[phase.after]
            query = after_sql(workload, phase)
            select = Phase(f"{phase.name}.after", "query", query, table=phase.after, scan=True)
            layout = (table.columns, table.primary_key)
            after = Work(f"{name}.after", select, query, table.columns, (), None, 0, (), *layout)
        sql = sql_for(workload, phase, engine) if phase.sql else ""
        reset = reset_for(workload, phase, engine)
        worked = workload.tables.get(phase.table or phase.after)
        whole, key = (worked.columns, worked.primary_key) if worked else ((), ())
        results = result_columns(workload, phase)
        return Work(name, phase, sql, results, columns, file, count, reset, whole, key, after)
