"""What is known of an engine's queries of any result."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cases:
    """An engine's queries by name; `describer` is the Python driver that says what their columns are."""

    describer: str
    queries: dict[str, str]
    setting_up: list[str] = field(default_factory=list)
    # Queries with columns of which only NULL or not is compared.
    opaque: frozenset[str] = frozenset()
    # By query: drivers that deliver another value than the engine has, each seen apart from us; `LANGUAGE_DRIVER` where
    # other languages' drivers have the same name.
    own_ways: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # By query: its columns' types, each `type`, `type:bits`, `type(length)`, `type(precision,scale)` or `type[fields]`.
    types: dict[str, str] = field(default_factory=dict)
    # By query: drivers that describe it otherwise than `describer`, with what their interface lets them know.
    described_otherwise: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Where the engine has several: the one that every driver's build reads.
    storage: str = ""
    # By driver: what its own errors match, where it knows no such type, value or SQL; "": the engine's.
    own_errors: dict[str, str] = field(default_factory=dict)


def each_and_null(**values: str) -> dict[str, str]:
    """By name of a type a query of one such value and NULL."""
    return {name: f"SELECT {value} AS a UNION ALL SELECT NULL" for name, value in values.items()}


def wide(count: int) -> str:
    """So many columns of one row."""
    return "SELECT " + ", ".join(f"{number} AS column_{number}" for number in range(count))
