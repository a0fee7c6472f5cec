"""The JSON export: the whole analysis in long form, one record per path × workload × phase × regime × metric.

And what all JSON exports share: what they are made of, how they are written, their schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO, get_type_hints

import msgspec

from rowpath.analysis.chapters import CHAPTERS
from rowpath.analysis.model import Analysis
from rowpath.model.base import Frozen, Status, described

# What every record's `path` names; an adapter may add coordinates of its own.
SCHEMA_VERSION = 3
PATH_COORDINATES = ("engine", "deployment", "language", "driver", "version", "placement")


class DroppedPath(Frozen, frozen=True):
    """A path that did not run, why, and the command that would enable it."""

    path: dict[str, str]
    status: Status
    reason: str
    remedy: str


_DESCRIPTION = "A run's outcome. Times are in ns, sizes in bytes, rates per second, as each record's `unit` names them."
_OWN = {"dropped": tuple[DroppedPath, ...], "run": dict[str, Any]}


def export_form() -> type[msgspec.Struct]:
    """The export's form: the fields of an analysis, those of each chapter beside them."""
    fields = {name: _OWN.get(name, hint) for name, hint in get_type_hints(Analysis).items() if name != "chapters"}
    fields |= {chapter.key: chapter.figures_type for chapter in CHAPTERS.values() if chapter.figures}
    return msgspec.defstruct(
        "Export",
        [("schema_version", int), *fields.items()],
        bases=(Frozen,),
        namespace={"__doc__": _DESCRIPTION},
        frozen=True,
    )


def write_json(analysis: Analysis, file: TextIO) -> None:
    """Writes the export as schemas/results.schema.json describes it; a figure that is not finite becomes null."""
    own = {
        "schema_version": SCHEMA_VERSION,
        "dropped": tuple(
            DroppedPath(path.path.as_dict(), path.status, path.reason, path.remedy) for path in analysis.dropped
        ),
        "run": msgspec.to_builtins(analysis.run),
        **{chapter.key: chapter.of(analysis) for chapter in CHAPTERS.values() if chapter.figures},
    }
    write_export(export_of(export_form(), analysis, own), file)


def schema() -> dict[str, Any]:
    """The JSON Schema of the export: every field is always there, none but those described."""
    made = schema_of(export_form(), "Rowpath results", SCHEMA_VERSION)
    made["$defs"]["Result"]["properties"]["path"]["required"] = list(PATH_COORDINATES)
    return made


def export_of(form: type[msgspec.Struct], noun: msgspec.Struct, own: Mapping[str, Any]) -> msgspec.Struct:
    """An export of this form: its fields are the export's `own`, and the noun's of the same names."""
    return form(**{name: own[name] if name in own else getattr(noun, name) for name in form.__struct_fields__})


def write_export(export: object, file: TextIO) -> None:
    """Writes it, indented; a figure that is not finite becomes null."""
    file.write(msgspec.json.format(msgspec.json.encode(export), indent=1).decode() + "\n")


def schema_of(form: type[msgspec.Struct], title: str, version: int) -> dict[str, Any]:
    """The JSON Schema of a form: every field is always there, and no other."""
    made = described(msgspec.json.schema(form))
    for definition in made["$defs"].values():
        if definition.get("type") == "object":
            definition |= {"required": list(definition["properties"]), "additionalProperties": False}
            for field in definition["properties"].values():
                field.pop("default", None)
    made["$defs"][form.__name__]["properties"]["schema_version"]["const"] = version
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | made
