"""The base of every noun, and the words that nouns of several files share."""

from __future__ import annotations

import inspect
from typing import Any, Literal

import msgspec

Regime = Literal["cold", "warm", "steady"]
Status = Literal["ok", "tied", "wrong", "failed", "unsupported", "disturbed"]


class Frozen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of every noun: immutable, and an unknown field in a file is an error."""


class OfPhase(Frozen, frozen=True):
    """Base of what is about one workload phase in one regime.

    `regime`: cold or steady; none: of the phase as a whole.
    """

    workload: str
    phase: str
    regime: str


class OfMeasuredPhase(OfPhase, frozen=True):
    """Base of what was measured of one workload phase in one regime."""

    regime: Regime


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema with its definitions' texts as every Python has them: since 3.13 they are not indented."""
    for definition in schema["$defs"].values():
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
    return schema
