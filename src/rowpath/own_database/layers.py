"""Query layers and ORMs that `--layer` names: the paths that they add, each beside the driver that it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.model.path import BY_HAND, MAPPED, RAW, AccessPath, Dropped
from rowpath.own_database import table_name
from rowpath.own_database.access import Access
from rowpath.own_database.candidates import NAME, Candidates, candidates_of, in_words
from rowpath.own_database.mapped_table import MappedTable
from rowpath.own_database.question import ProbeOptions, Question
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import Adapter, Layer, availability, every_adapter
from rowpath.toml_file import suggest

# What layers ask of their drivers: the path of a driver that is most like it is what they are compared with.
LIKE_LAYERS = {"statement": "prepared", "fetch": "row", "result": "whole", "format": "text"}
POOLER = "--layer: not available through a connection pooler, where a layer has no transaction that only reads"

Above = tuple[Adapter, Layer]


def with_layers(found: Candidates, question: Question, options: ProbeOptions) -> Candidates:
    """The candidates, and those of the layers that the options name; the driver beneath each takes part.

    Errors: UsageError.
    """
    paths, dropped, beneath = list(found.paths), list(found.dropped), dict(found.beneath)
    techniques = (RAW, MAPPED) if options.table else (RAW,)
    if options.layers and options.table and options.max_rows is not None:
        what = f"--layer with --table: a mapped class reads the whole table, --max-rows {options.max_rows} only a part"
        raise UsageError(what, "remove --max-rows, or name the table in --query, for the raw form")
    for adapter, layer in named(options.layers, question.target.engine):
        bare = _bare(adapter, question, options)
        if bare.path.id not in {planned.path.id for planned in paths}:
            taken = bare.name in {planned.name for planned in paths}
            paths.append(replace(bare, name=f"{bare.name} beneath") if taken else bare)
        for technique in techniques:
            path = AccessPath.of(bare.path.as_dict() | {"layer": layer.name, "technique": technique})
            if technique == MAPPED and layer.unmapped:
                dropped.append(Dropped(path, layer.unmapped))
                continue
            if not (here := availability(adapter, path.version, path)).ok:
                dropped.append(Dropped(path, here.reason, here.remedy))
                continue
            paths.append(PlannedPath(path, adapter, (NAME,), f"{adapter.language} {layer.name} {technique}"))
            beneath[path.id] = bare.path.id
    return replace(found, paths=tuple(paths), dropped=tuple(dropped), beneath=beneath)


def named(names: Sequence[str], engine: str) -> list[Above]:
    """The layers of these names, or of packages with them, above each driver for the engine. Errors: UsageError."""
    every = [(a, layer) for a in every_adapter() for layer in a.layers if layer.name != BY_HAND]
    found: dict[tuple[str, str, str], Above] = {}
    for name in names:
        meant = [above for above in every if name and name in (above[1].name, above[1].requirement)]
        if not meant:
            known = sorted({layer.name for _adapter, layer in every if layer.own_query})
            raise UsageError(f"unknown layer '{name}' in --layer", suggest(name, known))
        written = [above for above in meant if above[1].own_query]
        if not written:
            known = sorted({layer.name for _adapter, layer in every if layer.own_query})
            what = f"--layer {name}: Rowpath runs no query of yours through it yet"
            raise UsageError(what, f"one of: {', '.join(known)}")
        here = [(adapter, layer) for adapter, layer in written if engine in layer.over[adapter.driver]]
        if not here:
            drivers = ", ".join(dict.fromkeys(adapter.driver for adapter, _layer in written))
            there = sorted({layer.name for a, layer in every if layer.own_query and engine in layer.over[a.driver]})
            hint = f"one of: {', '.join(there)}" if there else "remove --layer"
            raise UsageError(f"--layer {name}: it has no path to {engine} here; it stands on {drivers}", hint)
        found |= {(adapter.language, adapter.driver, layer.name): (adapter, layer) for adapter, layer in here}
    return list(found.values())


def _bare(adapter: Adapter, question: Question, options: ProbeOptions) -> PlannedPath:
    """The driver's own path that does most like a layer. Errors: UsageError."""
    only = replace(options, languages=(adapter.language,), drivers=(adapter.driver,), mine="")
    found = candidates_of(question.target, question.phase, only).paths
    own = [planned for planned in found if planned.adapter == adapter]
    return min(own, key=lambda p: sum(p.path.get(key) not in (value, "none") for key, value in LIKE_LAYERS.items()))


def mapped_table(access: Access, sql: str, options: ProbeOptions, directory: Path) -> MappedTable | None:
    """The table that is mapped; None where a query is given. Errors: UsageError, such as without a primary key."""
    if access.session.pooled is not None:
        raise UsageError(POOLER, "name the server itself in the URL, or remove --layer")
    if not options.table:
        return None
    name, ask = sql.removeprefix(table_name.WHOLE), ENGINES[access.target.engine].probe.primary_key_query
    key: list[str] = []
    if ask is not None:
        (key,) = access.ask((), (ask(table_name.parts_of(name)),), directory / "key.kept")
    if not key:
        what = f"--layer with --table {options.table}: it has no primary key, by which a mapped class knows its objects"
        raise UsageError(what, f'--layer {",".join(options.layers)} --query "{sql}", for the raw form')
    return MappedTable(name, tuple(key))


def description(planned: PlannedPath, keyed: bool) -> str:
    """What a path is in a user's words."""
    layer = planned.path.layer
    if layer == BY_HAND:
        return in_words(planned, keyed)
    return f"{layer}, {planned.path.technique}, above {planned.adapter.driver}"
