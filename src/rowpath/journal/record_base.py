"""The bases of all records of a journal."""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Record(msgspec.Struct, tag_field="record"):
    """Base of all records: unknown fields are ignored, so that a newer journal of the same version can be read.

    `foreign_fields`: those with nothing but what a driver or a server reports; the journal takes secrets out of them.
    In every other field foreign text had none when it came in.
    """

    foreign_fields: ClassVar[tuple[str, ...]] = ()


class InSet(Record):
    """What belongs to one set, and is forgotten when the set is run again."""

    set: int = -1  # numbered through all batches; −1: the verification pass
    batch: int | None = None  # None: not known yet; once taken that of the last `set` record of its number
    path_id: str = ""
    workload: str = ""
    phase: str = ""

    @property
    def where(self) -> tuple[str, str, str]:
        """(path id, workload, phase)."""
        return self.path_id, self.workload, self.phase


class OperationFailure(msgspec.Struct):
    """Why an operation failed."""

    kind: str = ""
    code: str = ""
    text: str = ""


class InStage(Record):
    """A record of client groups at work at once; `set` is the file's own number, the same for all paths."""

    set: int = -1  # −1: before the first
    batch: int | None = None
    path_id: str = ""
    stage: str = ""
