"""A figure with its bar."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """What was measured; `met` is None where this machine cannot ask the question, `value` says why then."""

    name: str
    value: str
    bar: str
    met: bool | None
