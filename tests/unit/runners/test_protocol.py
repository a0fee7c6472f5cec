"""The schema of the runner protocol is the one of its types, and tells messages from what is none."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest

from rowpath.runners import protocol

SCHEMA = Path(__file__).parents[3] / "schemas" / "protocol.schema.json"


def test_the_schema_is_current() -> None:
    assert json.loads(SCHEMA.read_text()) == json.loads(msgspec.json.encode(protocol.schema()))


def test_a_request_follows_the_schema_and_a_broken_one_does_not() -> None:
    kept = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(kept)
    request = msgspec.to_builtins(protocol.Sample(4, 60000, "keyed.read", "cold", 0, 0, operations=1))
    sample = {"$ref": "#/$defs/Sample", "$defs": kept["$defs"]}
    jsonschema.validate(request, sample)
    for broken in (request | {"lead_in_ns": "soon"}, {k: v for k, v in request.items() if k != "phase"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, sample)
