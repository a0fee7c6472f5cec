"""The table of which layers make their classes: its name, its primary key, and what its columns are called there."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import msgspec

from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import Layer, language


@dataclass(frozen=True)
class MappedTable:
    """A table by its quoted name, with the columns of its primary key in order."""

    name: str
    key: tuple[str, ...]

    def work(self, work: PreparedPhase, planned: PlannedPath) -> PreparedPhase:
        """The query of the whole table as the work of a layer: columns by their attributes, and the key."""
        names = [column.name for column in work.columns]
        attributes = attributes_of(names, reserved(planned.adapter.layer_of(planned.path), planned.path.language))
        pairs = zip(work.columns, attributes, strict=True)
        columns = tuple(msgspec.structs.replace(column, name=attribute) for column, attribute in pairs)
        phase = msgspec.structs.replace(work.phase, table=self.name)
        return replace(work, phase=phase, table_columns=columns, key_columns=self.key)


def reserved(layer: Layer | None, language_name: str) -> set[str]:
    """What an attribute of a layer's class cannot be called."""
    return {*language(language_name).snippets.keywords, *(layer.reserved if layer else ())}


def attributes_of(names: Sequence[str], refused: Collection[str]) -> list[str]:
    """The columns' names where classes can have them, else `column_3`; no two are the same."""
    plain = [name.lower() for name in names]
    return [
        name if _is_plain(name) and low not in refused and plain.count(low) == 1 else f"column_{number}"
        for number, (name, low) in enumerate(zip(names, plain, strict=True), 1)
    ]


def _is_plain(name: str) -> bool:
    """Whether every layer can have it: some read a double underscore, or one at an end, in their own way."""
    known = re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) and not name.lower().startswith(("column_", "model_"))
    return bool(known) and "__" not in name and not name.endswith("_")
