"""Complete small programs that read the query, or the table, through a layer; templates lie with their language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rowpath.model.path import CHECKED, RAW, AccessPath
from rowpath.model.probe import Probe, Snippet, TriedPath
from rowpath.model.workload import ColumnSpec
from rowpath.own_database import table_name
from rowpath.own_database.mapped_table import MappedTable, attributes_of, reserved
from rowpath.own_database.target import Target
from rowpath.probe import snippets
from rowpath.runners.language import SnippetDriver
from rowpath.runners.manifest import Layer, adapter_of, language

ABOUT = "The rows of a query through"


def programs(
    probe: Probe, target: Target, sql: str, columns: Sequence[ColumnSpec], mapped: MappedTable | None
) -> Iterator[Snippet]:
    """A program for each layer whose raw form delivered the rows."""
    for tried in probe.tried:
        if tried.status == "ok" and tried.path.get("technique") == RAW:
            made = program(tried, target, sql, columns, mapped)
            if made is not None:
                yield made


def program(
    tried: TriedPath, target: Target, sql: str, columns: Sequence[ColumnSpec], mapped: MappedTable | None
) -> Snippet | None:
    """The program of a layer's path, without any password; None where there is no template for it.

    It has the mapped form too where there is a table.
    """
    path = tried.path
    header, layer = language(path["language"]), adapter_of(path["language"], path["driver"]).layer_of(_path(path))
    template = f"layers/{path['layer']}{header.source_suffix}.j2"
    checked = path.get("tls") in CHECKED and path["driver"] not in header.snippets.layer_checks
    if layer is None or checked or not (snippets.folder_of(header) / template).is_file():
        return None
    driver = header.snippets.drivers.get(path["driver"], SnippetDriver())
    file = f"layer-{path['layer']}{header.source_suffix}"
    needs = " ".join(filter(None, (layer.requirement, driver.needs)))
    run = (header.snippets.run_layer or header.snippets.run).format(file=file, needs=needs, stem="")
    login = f" The password comes from the environment: {driver.password}." if target.user else ""
    about = f"{ABOUT} {path['layer']}, as measured by rowpath probe.{login}"
    words = snippets.libpq_words(path, target)
    facts = snippets.context(path, target, sql, columns) | {
        "run": run,
        "needs": needs + driver.socket_needs * (target.transport == "unix"),
        "packages": layer.packages,
        "about": about,
        "engine_name": target.engine,
        "words": {key: value for key, value in words.items() if key != "dbname"},
        "mapped": _mapped(mapped, columns, layer, header.name) if mapped else None,
        "reading": "",
    }
    if facts["mapped"]:
        read = ", ".join(f"one.{column['attribute']}" for column in facts["mapped"]["columns"])
        facts["reading"] = read
    return Snippet(header.name, tried.name, file, snippets.rendered(header, template, target.engine, facts), run)


def _path(coordinates: dict[str, str]) -> AccessPath:
    return AccessPath.of({key: value for key, value in coordinates.items() if key != "label"})


def _mapped(mapped: MappedTable, columns: Sequence[ColumnSpec], layer: Layer, language_name: str) -> dict[str, Any]:
    """What a template knows of the table: its parts, its columns with what they are called, its key in order."""
    *schema, table = table_name.parts_of(mapped.name)
    attributes = attributes_of([column.name for column in columns], reserved(layer, language_name))
    named = [
        {
            "name": column.name,
            "attribute": attribute,
            "type": column.type,
            "key": column.name in mapped.key,
            "nullable": column.nullable,
            "precision": column.precision,
            "scale": column.scale,
            "length": column.length,
        }
        for column, attribute in zip(columns, attributes, strict=True)
    ]
    of_name = {column["name"]: column["attribute"] for column in named}
    return {
        "quoted": mapped.name,
        "table": table,
        "schema": ".".join(schema),
        "columns": named,
        "key": [of_name[name] for name in mapped.key],
    }
