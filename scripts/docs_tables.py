"""Renews the generated blocks of the documents from code, manifests and TOML.

A block stands between `<!-- begin generated: NAME -->` and `<!-- end generated -->`. `make docs` runs this script;
tests/unit/house/test_docs_tables.py fails when a block is not current.
"""

from __future__ import annotations

import argparse
import ast
import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from scripts import capabilities, layer_code  # noqa: E402
from scripts.capabilities import table  # noqa: E402

from rowpath.analysis import findings  # noqa: E402
from rowpath.cli import arguments  # noqa: E402
from rowpath.engines import ENGINES  # noqa: E402
from rowpath.engines.base import BacksUp, Compresses, Engine, Stored  # noqa: E402
from rowpath.model.metrics import METRICS, is_of_groups, of_category  # noqa: E402
from rowpath.model.path import COORDINATES  # noqa: E402
from rowpath.planning import experiment_file  # noqa: E402
from rowpath.planning.selection import ALWAYS, PROCESSES, RANGES  # noqa: E402
from rowpath.runners.manifest import Adapter, every_adapter, language  # noqa: E402
from rowpath.workloads import workload_file  # noqa: E402

WIDTH = 120
BLOCK = re.compile(r"(<!-- begin generated: ([a-z-]+) -->\n).*?(<!-- end generated -->)", re.DOTALL)
# What a value means is written here; which values there are comes from the manifests and the engines.
MEANINGS = {
    "engine_version": "found, not chosen; `own` where the driver carries its own build",
    "version": "of the driver: `bundled`, `system`, or a package version, or the file of your own build",
    "statement": "prepared once; parameters, prepared on each execution; values inside the SQL",
    "fetch": "a block has n rows a call, n from 1 to 100,000; `columnar` has batches of columns; `copy` is "
    "PostgreSQL's COPY; `drain` is a floor: bytes received, not parsed",
    "result": "how a result travels; `none` is the driver's default, any n will do, `fetch-size:n` is set outside a "
    "transaction",
    "pipeline": "statements sent before the first answer is read; any other number too",
    "format": "the form of values on the wire",
    "rows": "of Python: the class that a row is made into; its values are read by name or attribute where it has them; "
    "only where named",
    "loop": "of Python's tasks: whose event loop; only where named",
    "locking": "of SQLite: whether a connection keeps its lock on the file; only where named",
    "tls": "`default` is the driver's default",
    "compression": "`zlib` of MariaDB's and MySQL's connections; `snappy` (the default), `zstd`, `lz4` of Parquet "
    "files, the last two of Arrow files; only where named: [compression](engines.md#compression)",
    "link": "`none`, or the round trip of an [emulated link](method.md#an-emulated-link) over TCP, and its rate: "
    "`0.5ms`, `25ms@100mbit`",
    "placement": "client and server on one core; on one each; on every core (only where named); `apart` on two hosts",
    "client_host": "the host of the client, of `--hosts`: a name, a pattern, or `*`",
    "server_host": "the host of the server, likewise",
    "clients": "connections at once; any other number too",
    "concurrency": "how the clients run: `goroutines` of Go, `tasks` of one event loop, `processes` of Python",
    "ranges": "one retrieval in as many parts as `clients`: by quantiles of the key, or as if keys were dense; only "
    "where named",
    "threads": "those that driver or engine may use for one operation; it gets as many cores",
    "bulk": "the driver's bulk way of storing rows",
    "durability": "what a commit promises; only `none` where nothing is written",
    "storage": "how the engine keeps a table",
    "processes": "client processes of a mixed load: one for all groups, or one for each; only where named",
    "backup": "how the engine is backed up: [the ways](engines.md#backups-while-clients-work); only where named",
    "access": "`handler` reads records by HANDLER … READ",
    "thread": "the thread of the process that calls an embedded engine's library",
    "profile": "settings named, or the driver's own defaults",
    "implementation": "of the driver: compiled or in the language itself; of psycopg: wheels with their own libpq, "
    "compiled here, or ctypes",
    "layer": "what stands above the driver, `none` by hand; only where named: [layers](layers.md)",
    "technique": "by hand: how an operation's statements are divided; only where named",
    "pool": "what lends the clients their connections, `none`: each has its own; only where named: [pools](pools.md)",
    "pool_size": "how many connections the pool has; only where named",
    "validation": "what the pool asks the server when it lends a connection; only where named",
    "pooler": "`none`, `pgbouncer`, `pgpool`, `haproxy`. A program between client and server that keeps the "
    "connections; only where named: [poolers](poolers.md)",
    "pooler_mode": "`none`, `transaction`, `session`. For how long a pooler lends a connection; only where named",
    "through": "of pandas and polars-database: the driver that brings the rows of a data frame; of duckdb-quack: the "
    "server's database is attached, or gets each query as it is",
    "poll": "only of the drain: the kernel wakes it, or it asks again and again",
    "read_transaction": "only of LMDB: one kept and renewed, or one per operation",
    "packages": "only of jt400: whether an SQL package keeps what is prepared; `uncached`: one that the driver does "
    "not download",
    "prepare_threshold": "only of pgjdbc: after how many executions it prepares",
    "label": "any text: the same path under several names",
}
Adapters = Iterable[Adapter]
Engines = Mapping[str, Engine]


def coordinates(adapters: Adapters, engines: Engines) -> str:
    """Every coordinate with its values: those every path has, then the adapters' own."""
    known = tuple(adapters)
    found = coordinate_values(known, engines)
    own = sorted(key for key in found if key not in COORDINATES)
    return bullets(_coordinate(key, found.get(key, ()), known) for key in (*COORDINATES, *own, "label"))


def coordinate_values(adapters: tuple[Adapter, ...], engines: Engines) -> dict[str, tuple[str, ...]]:
    """By coordinate its values, each once, defaults first. Of numbers after a colon only the form is given."""
    found: dict[str, dict[str, None]] = {}

    def take(key: str, values: Iterable[str]) -> None:
        found.setdefault(key, {}).update(dict.fromkeys(re.sub(r":\d+$", ":n", value) for value in values))

    take("engine", engines)
    for adapter in adapters:
        take("deployment", adapter.deployments)
        take("language", [adapter.language])
        take("driver", [adapter.driver])
    for engine in engines.values():
        take("durability", engine.durabilities)
        if isinstance(engine, Stored):
            take("storage", engine.storages)
        if isinstance(engine, Compresses):
            take("compression", engine.compressions)
        if isinstance(engine, BacksUp):
            for deployment in engine.deployments:
                take("backup", engine.backup_ways(deployment))
    for key, values in (*ALWAYS.items(), ("processes", PROCESSES), ("ranges", RANGES)):
        take(key, values)
    take("placement", ("same", "split", "free"))
    take("profile", ("tuned", "shipped"))
    for adapter in adapters:
        for layer in adapter.layers:
            take("layer", [layer.name])
            take("technique", layer.techniques)
        for pool in adapter.pools:
            take("pool", ["none", pool.name])
            take("validation", pool.validations)
        for key, values in adapter.coordinates.items():
            if key != "engine_version":
                take(key, values)
    return {key: tuple(values) for key, values in found.items()}


def _coordinate(key: str, values: tuple[str, ...], adapters: tuple[Adapter, ...]) -> str:
    listed = ", ".join(f"`{value}`" for value in values)
    meaning = MEANINGS.get(key) or _takers(key, adapters)
    return f"`{key}`: " + ". ".join(part for part in (listed, meaning[:1].upper() + meaning[1:]) if part)


def _takers(key: str, adapters: tuple[Adapter, ...]) -> str:
    """Of a coordinate that a few adapters have: which."""
    drivers = dict.fromkeys(adapter.driver for adapter in adapters if key in adapter.coordinates)
    return f"only of {', '.join(drivers)}" if 0 < len(drivers) <= 3 else ""


def engines(adapters: Adapters, every: Engines) -> str:
    """One row per engine."""
    served = [adapter for adapter in adapters if not adapter.floor]
    rows = []
    for name, engine in every.items():
        languages = dict.fromkeys(adapter.language for adapter in served if name in adapter.engines)
        storages = engine.storages if isinstance(engine, Stored) else ()
        rows.append([f"`{name}`", *map(_listed, (engine.deployments, storages, engine.durabilities, tuple(languages)))])
    return table(["engine", "deployments", "storages", "durabilities", "languages"], rows)


def languages(adapters: Adapters, _engines: Engines) -> str:
    """One row per language: what its manifest says of its clock and its loop."""
    headers = [language(name) for name in dict.fromkeys(adapter.language for adapter in adapters)]
    rows = [
        [
            header.title or header.name,
            _ns(header.shortest_operation_ns),
            _ns(header.null_operation_ns),
            f"{header.lead_in_least_ns / 1e6:g} ms" if header.lead_in_least_ns else "–",
        ]
        for header in headers
    ]
    return table(["language", "shortest operation", "bar of the null operation", "least lead-in"], rows)


def _ns(value: float) -> str:
    return f"{value:,g} ns" if value else "–"


def drivers(adapters: Adapters, _engines: Engines) -> str:
    """One row per adapter, by language."""
    rows = [
        [adapter.language, f"`{adapter.driver}`", _listed(adapter.engines), _listed(adapter.deployments)]
        for adapter in adapters
    ]
    return table(["language", "driver", "engines", "deployments"], rows)


def _listed(values: Iterable[str]) -> str:
    return ", ".join(values) or "–"


def experiments(_adapters: Adapters, _engines: Engines) -> str:
    """Every experiment that comes with Rowpath: its name and title."""
    return bullets(
        f"`{name}`: {experiment_file.load_experiment(name).experiment.title}" for name in experiment_file.names()
    )


def workloads(_adapters: Adapters, _engines: Engines) -> str:
    """Every workload: its name, title and phases."""
    return bullets(_workload(name) for name in workload_file.names())


def _workload(name: str) -> str:
    workload = workload_file.load_workload(name)
    return f"`{name}`: {workload.title}. Phases: {', '.join(f'`{phase.name}`' for phase in workload.phases)}"


def every_finding(_adapters: Adapters, _engines: Engines) -> str:
    """Every finding: its id as a link, the severities it can have, what it is about."""
    return bullets(
        f"[{name}](#{name}) ({' or '.join(severities_of(rule)) or 'see below'}): {_first_line(rule)}"
        for name, rule in findings.RULES.items()
    )


def severities_of(rule: Callable[..., Any]) -> tuple[str, ...]:
    """Those with which the rule's source states a finding, the worst first."""
    nodes = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(rule))))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return tuple(severity for severity in ("error", "warning", "note") if severity in names)


def _first_line(rule: Callable[..., Any]) -> str:
    return (inspect.getdoc(rule) or "").partition("\n")[0]


def metrics(_adapters: Adapters, _engines: Engines) -> str:
    """Metrics by unit, each a link to its heading."""
    by_unit: dict[str, list[str]] = {}
    for name, metric in METRICS.items():
        better = " ↑" if metric.more_is_better else ""
        by_unit.setdefault(metric.unit, []).append(f"[{name}](#{name}){better}")
    return bullets(f"{unit}: {', '.join(names)}" for unit, names in by_unit.items())


def claim_metrics(_adapters: Adapters, _engines: Engines) -> str:
    """The metrics that claims can name: those of paths, and those of mixed load."""
    paths = [name for name in METRICS if not is_of_groups(name)]
    return bullets(
        f"{of}: {', '.join(f'`{name}`' for name in names)}"
        for of, names in (("Of a path", paths), ("Of a mixed load", of_category("group")))
    )


def commands(_adapters: Adapters, _engines: Engines) -> str:
    """Every command of the command line, with its words and options: what `--help` says."""
    return "\n".join(_command(name, parser) for name, parser in arguments.commands().items())


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    listed = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    words = " ".join(_word(action) for action in listed if not action.option_strings)
    usage = f"rowpath {name} {words}".rstrip() + (" [OPTION …]" if any(each.option_strings for each in listed) else "")
    rows = [[named(action), said(action, parser)] for action in listed if action.help or action.choices]
    options = f"\n{table(['word or option', 'meaning'], rows)}" if rows else ""
    return f"## rowpath {name}\n{parser.description}\n\n```console\n$ {usage}\n```\n{options}"


def _word(action: argparse.Action) -> str:
    """A word of a command line, as its usage shows it."""
    named = f"{{{','.join(action.choices)}}}" if action.choices else str(action.metavar or action.dest)
    return f"[{named} …]" if action.nargs == "*" else named


def named(action: argparse.Action) -> str:
    """The forms of an option with its value, or the name of a word."""
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    choices = f"{{{','.join(action.choices)}}}" if action.choices else action.dest.upper()
    value = "" if action.nargs == 0 else f" {action.metavar or choices}"
    return ", ".join(f"`{form}{value}`" for form in action.option_strings)


def said(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    """Its help, as argparse fills it in; of a word with choices, those."""
    choices = "" if action.option_strings or not action.choices else ", ".join(f"`{each}`" for each in action.choices)
    text = (action.help or "") % {**vars(action), "prog": parser.prog}
    return (text or f"one of {choices}").replace("|", "\\|").replace("<", "&lt;")


def exit_codes(_adapters: Adapters, _engines: Engines) -> str:
    """What a command's exit code means."""
    lines = arguments.EXIT_CODES.splitlines()[1:]
    return table(["code", "meaning"], [line.split(maxsplit=1) for line in lines])


def bullets(lines: Iterable[str]) -> str:
    """A list, wrapped."""
    wrap = functools.partial(
        textwrap.fill, width=WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return "".join(f"{wrap(f'- {line}')}\n" for line in lines)


BLOCKS: dict[str, Callable[[Adapters, Engines], str]] = {
    **capabilities.BLOCKS,
    "claim-metrics": claim_metrics,
    "commands": commands,
    "coordinates": coordinates,
    "drivers": drivers,
    "engines": engines,
    "exit-codes": exit_codes,
    "experiments": experiments,
    "findings": every_finding,
    "languages": languages,
    **layer_code.BLOCKS,
    "metrics": metrics,
    "workloads": workloads,
}


def renewed(text: str, adapters: Adapters, every: Engines) -> str:
    """A page with every generated block made again; KeyError for a block without a function."""
    known = tuple(adapters)
    return BLOCK.sub(lambda found: found[1] + BLOCKS[found[2]](known, every) + found[3], text)


def main() -> int:
    """Rewrite the pages that are not current, and name them."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (current := renewed(text, every_adapter(), ENGINES)) != text:
            page.write_text(current, encoding="utf-8")
            print(page.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
