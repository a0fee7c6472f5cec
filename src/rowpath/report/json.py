"""The JSON export: the whole analysis in long form, one record per path × workload × phase × regime × metric."""

from __future__ import annotations

from typing import Any, TextIO

import msgspec

from rowpath.analysis.mixed_load.model import MixedLoadReport
from rowpath.analysis.model import (
    AcrossLink,
    Analysis,
    Answer,
    BlockSizes,
    ClaimCheck,
    CostModel,
    Finding,
    Neighbour,
    PathDetails,
    PhaseAnswer,
    Published,
    Ranking,
    Result,
    Retrieval,
    Scaling,
    Sweep,
)
from rowpath.model.base import Frozen, Status
from rowpath.model.explanation import Explanation
from rowpath.model.probe import Probe

# What every record's `path` names; an adapter may add coordinates of its own.
SCHEMA_VERSION = 2
PATH_COORDINATES = ("engine", "deployment", "language", "driver", "version", "placement")


class DroppedPath(Frozen, frozen=True):
    """A path that did not run, why, and the command that would enable it."""

    path: dict[str, str]
    status: Status
    reason: str
    remedy: str


class Export(Frozen, frozen=True):
    """A run's outcome. Times are in ns, sizes in bytes, rates per second, as each record's `unit` names them."""

    schema_version: int
    results: tuple[Result, ...]
    rankings: tuple[Ranking, ...]
    findings: tuple[Finding, ...]
    verdict: tuple[str, ...]
    answer: Answer
    refusal: str
    claims: tuple[ClaimCheck, ...]
    published: tuple[Published, ...]
    cost_models: tuple[CostModel, ...]
    sweeps: tuple[Sweep, ...]
    scalings: tuple[Scaling, ...]
    retrievals: tuple[Retrieval, ...]
    block_sizes: tuple[BlockSizes, ...]
    across_links: tuple[AcrossLink, ...]
    explanations: tuple[Explanation, ...]
    dropped: tuple[DroppedPath, ...]
    probe: Probe | None
    mixed_load: MixedLoadReport | None
    path_details: tuple[PathDetails, ...]
    sources: dict[str, str]
    neighbours: tuple[Neighbour, ...]
    pictures: tuple[PhaseAnswer, ...]
    names: dict[str, str]
    lines_of_code: dict[str, int]
    lines_of_code_closure: dict[str, int]
    trust: dict[str, Any]
    run: dict[str, Any]


def write_json(analysis: Analysis, file: TextIO) -> None:
    """Writes the export as schemas/results.schema.json describes it; a figure that is not finite becomes null."""
    own = {
        "schema_version": SCHEMA_VERSION,
        "dropped": tuple(
            DroppedPath(each.path.as_dict(), each.status, each.reason, each.remedy) for each in analysis.dropped
        ),
        "run": msgspec.to_builtins(analysis.run),
    }
    export = Export(
        **{name: own[name] if name in own else getattr(analysis, name) for name in Export.__struct_fields__}
    )
    file.write(msgspec.json.format(msgspec.json.encode(export), indent=1).decode())
    file.write("\n")


def schema() -> dict[str, Any]:
    """The JSON Schema of the export: every field is always there, none but those described."""
    made = msgspec.json.schema(Export)
    for definition in made["$defs"].values():
        if definition.get("type") == "object":
            definition["required"] = list(definition["properties"])
            for field in definition["properties"].values():
                field.pop("default", None)
    path = made["$defs"]["Result"]["properties"]["path"]
    path["required"] = list(PATH_COORDINATES)
    made["$defs"]["Export"]["properties"]["schema_version"]["const"] = SCHEMA_VERSION
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Rowpath results"} | made
