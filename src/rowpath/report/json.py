"""The JSON export: the whole analysis in long form, one record per path × workload × phase × regime × metric."""

from __future__ import annotations

from typing import Any, TextIO, get_type_hints

import msgspec

from rowpath.analysis.chapters import CHAPTERS
from rowpath.analysis.model import Analysis
from rowpath.model.base import Frozen, Status
from rowpath.report.json_export import export_of, schema_of, write_export

# What every record's `path` names; an adapter may add coordinates of its own.
SCHEMA_VERSION = 3
PATH_COORDINATES = ("engine", "deployment", "language", "driver", "version", "placement")


class DroppedPath(Frozen, frozen=True):
    """A path that did not run, why, and the command that would enable it."""

    path: dict[str, str]
    status: Status
    reason: str
    remedy: str


_DESCRIPTION = (
    """A run's outcome. Times are in ns, sizes in bytes, rates per second, as each record's `unit` names them."""
)
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
    path = made["$defs"]["Result"]["properties"]["path"]
    path["required"] = list(PATH_COORDINATES)
    return made
