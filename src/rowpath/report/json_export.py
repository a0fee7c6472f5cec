"""What the JSON exports share: what they are made of, how they are written, their schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

import msgspec


def export_of(form: type[msgspec.Struct], noun: msgspec.Struct, own: Mapping[str, Any]) -> msgspec.Struct:
    """An export of this form: its fields are the export's `own`, and the noun's of the same names."""
    return form(**{name: own[name] if name in own else getattr(noun, name) for name in form.__struct_fields__})


def write_export(export: object, file: TextIO) -> None:
    """Writes it, indented; a figure that is not finite becomes null."""
    file.write(msgspec.json.format(msgspec.json.encode(export), indent=1).decode())
    file.write("\n")


def schema_of(form: type[msgspec.Struct], title: str, version: int) -> dict[str, Any]:
    """The JSON Schema of a form: every field is always there, and no other."""
    made = msgspec.json.schema(form)
    for definition in made["$defs"].values():
        if definition.get("type") == "object":
            definition |= {"required": list(definition["properties"]), "additionalProperties": False}
            for field in definition["properties"].values():
                field.pop("default", None)
    made["$defs"][form.__name__]["properties"]["schema_version"]["const"] = version
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | made
