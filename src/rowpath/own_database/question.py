"""What the options ask of which database: read and checked before anything is connected."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import Syntax
from rowpath.errors import UsageError
from rowpath.machine import processes
from rowpath.model.workload import Phase
from rowpath.own_database import parameters, table_name
from rowpath.own_database.parameters import KeyedQuery, ParameterRows
from rowpath.own_database.query_check import check_query
from rowpath.own_database.query_text import as_sent, text_of
from rowpath.own_database.target import Target, read_target
from rowpath.scrubber import Scrubber

DEFAULT_S = 120.0  # of the budget
ARG_START, ARG_END = 45, 46  # fields of /proc/PID/stat, counted from 0 after the name


@dataclass(frozen=True)
class ProbeOptions:
    """The options of one `rowpath probe`."""

    url: str
    query: str = ""
    query_file: Path | None = None
    table: str = ""
    params: Sequence[str] = ()  # TYPE:VALUE each
    params_file: Path | None = None
    params_query: str = ""
    languages: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    budget_s: float = DEFAULT_S
    mine: str = ""
    connections: int = 4
    clients: int = 0  # callers, whose connections are sized; 0: the fastest path is searched
    rate_per_s: float = 0.0  # arrivals of all callers together; 0: each asks again once it has its answer
    max_rows: int | None = None
    jar: Path | None = None
    odbc_driver: Path | None = None
    in_place: bool = False
    redact_query: bool = False
    yes: bool = False
    directory: Path | None = None
    seed: int | None = None
    from_host: str = ""  # the host of a file of hosts where all of it is done; empty: this machine

    @property
    def has_parameters(self) -> bool:
        """Whether the query has parameters."""
        return bool(self.params or self.params_file or self.params_query)

    @property
    def from_words(self) -> str:
        """` from host web1`; empty without such a host."""
        return f" from host {self.from_host}" if self.from_host else ""


def query_of(options: ProbeOptions, target: Target) -> str:
    """The query's text; empty for a file, which is read whole. UsageError unless exactly one option names it."""
    return queries_of(options, target)[0]


def queries_of(options: ProbeOptions, target: Target) -> tuple[str, ...]:
    """The query's text, and others where a table's name may mean several. Errors: as `query_of`."""
    given = [name for name in ("query", "query_file", "table") if getattr(options, name)]
    if target.deployment == "file":
        if given:
            what = f"--{given[0].replace('_', '-')}: not available for a file, which is read whole"
            raise UsageError(what, f"rowpath probe {target.shown}")
        return ("",)
    if len(given) != 1:
        what = "more than one query given" if given else "no query given"
        hint = f'rowpath probe {target.shown} --query "SELECT …", or --query-file FILE, or --table NAME'
        raise UsageError(what, hint)
    syntax = ENGINES[target.engine].probe.syntax or Syntax()
    if options.table:
        return table_name.queries_of(options.table, syntax)
    return (as_sent(text_of(options.query_file) if options.query_file else options.query, syntax),)


def parameters_query_of(options: ProbeOptions, engine: str) -> str:
    """The query that delivers the rows of parameters, as it is sent. Errors: UsageError."""
    sql = as_sent(options.params_query, ENGINES[engine].probe.syntax or Syntax())
    check_query(sql, engine)
    return sql


def limited(sql: str, engine: str, max_rows: int | None) -> str:
    """The query as it is sent; UsageError where the engine's dialect is unknown or a file is read.

    The engine itself stops after `max_rows`: a driver that takes a whole result first could not stop any other way.
    """
    facts = ENGINES[engine].probe
    if max_rows is None or facts.row_limit_statement:
        return sql
    if not facts.row_limit:
        raise UsageError(f"--max-rows {max_rows}: not available for {engine}", "put the limit into the query")
    return f"SELECT * FROM (\n{sql}\n) AS limited {facts.row_limit.format(rows=max_rows)}"


def keyed_by_options(sql: str, engine: str, options: ProbeOptions) -> KeyedQuery | None:
    """The query with the parameters of the command line; None without, or where a query is to deliver them.

    Errors: UsageError unless they fit.
    """
    if not options.has_parameters:
        if sql:
            parameters.refuse_unbound(sql, engine)
        return None
    if not sql:
        raise UsageError("a file is read whole: it takes no parameters", "remove --param, --params and --params-from")
    if options.params_query:
        parameters_query_of(options, engine)
        parameters.placeholders(sql, engine)
        return None
    return parameters.keyed(sql, engine, rows_by_options(options))


def rows_by_options(options: ProbeOptions) -> ParameterRows:
    """The rows of `--param` or `--params`. Errors: UsageError."""
    if options.params_file is not None:
        return parameters.rows_of_csv(options.params_file)
    return parameters.rows_of_words(options.params)


@dataclass(frozen=True)
class Question:
    """What the options ask, read and checked, before anything is connected."""

    target: Target
    phase: Phase  # the query as it is sent
    keyed: KeyedQuery | None
    scrubber: Scrubber
    other_sqls: tuple[str, ...] = ()  # for a table's name as the engine folds it, where none has the name exactly


def question_of(options: ProbeOptions, environment: Mapping[str, str] = os.environ) -> Question:
    """The query and the database that the options name. Errors: UsageError."""
    target = read_target(options.url, environment, jar=options.jar, odbc_driver=options.odbc_driver)
    hide(target.secrets())
    queries = queries_of(options, target)
    sql = queries[0]
    if sql:
        check_query(sql, target.engine)
    if options.max_rows is not None and options.max_rows < 1:
        raise UsageError(f"invalid --max-rows {options.max_rows}: expected 1 or more", "--max-rows 1000")
    limited_sql, *others = (limited(each, target.engine, options.max_rows) for each in queries)
    keyed_query = keyed_by_options(limited_sql, target.engine, options)
    scrubber = target.scrubber(sql, options.params_query)
    for text in (sql, options.params_query) if options.redact_query else ():  # drivers may quote it
        scrubber.redact(text)
    phase = Phase("query", "query", limited_sql or target.shown, scan=target.deployment == "file")
    return Question(target, phase, keyed_query, scrubber, tuple(others))


def hide(secrets: Iterable[str]) -> None:
    """Every secret in this process's command line becomes asterisks of the same length."""
    fields = processes.stat_fields(os.getpid())
    begin, end = int(fields[ARG_START]), int(fields[ARG_END])
    if not 0 < begin < end:
        return  # the kernel hides it
    line = ctypes.string_at(begin, end - begin).decode("latin-1")  # a character for each byte
    for first, last in Scrubber(secrets).spans(line):
        ctypes.memset(begin + first, ord("*"), last - first)
