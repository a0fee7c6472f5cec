"""The bases of all records of a journal."""

from __future__ import annotations

import msgspec


class Record(msgspec.Struct, tag_field="record"):
    """Base of all records: unknown fields are ignored, so that a newer journal of the same version can be read."""


class InSet(Record):
    """What belongs to one set, and is forgotten when the set is run anew."""

    set: int = -1  # numbered through all groups; −1: the proof pass
    group: int | None = None
    path_id: str = ""
    workload: str = ""
    phase: str = ""

    @property
    def where(self) -> tuple[str, str, str]:
        """(path id, workload, phase)."""
        return self.path_id, self.workload, self.phase


class InStage(Record):
    """The same of groups at work at once; `set` is the file's own number, the same for all paths."""

    set: int = -1  # −1: before the first
    path_id: str = ""
    stage: str = ""
    set_group: int = 0  # of the `set` record before it; not written
