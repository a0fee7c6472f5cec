"""The sentence of a probe about columns that its digest does not hold, and where it is shown."""

from __future__ import annotations

import msgspec
import pytest

from rowpath.analysis.chapters.probe import groups as table
from rowpath.journal.records import ProbeRecord
from rowpath.model.probe import DigestGroup, Probe
from rowpath.probe.run import not_compared
from rowpath.runners.protocol import DescribedColumn

COLUMNS = (
    DescribedColumn("id", "integer", engine_type="integer"),
    DescribedColumn("tags", "opaque", engine_type="text[]", nullable=True),
    DescribedColumn("address", "opaque", engine_type="inet", nullable=True),
)


@pytest.mark.parametrize(
    ("named", "listed"),
    [(True, "tags (text[]), address (inet)"), (False, "column 2 (text[]), column 3 (inet)")],
)
def test_what_is_not_compared_is_named(named: bool, listed: str) -> None:
    assert not_compared(COLUMNS, named=named) == f"2 of 3 columns not compared, except for NULL: {listed}."
    assert not_compared(COLUMNS[:1], named=named) == ""


@pytest.mark.parametrize("groups", [1, 2])
def test_it_stands_below_what_was_delivered(groups: int) -> None:
    differs = ("", "id")
    found = tuple(DigestGroup(f"1:{at}", 1, (f"path {at}",), differs[at]) for at in range(groups))
    probe = Probe((), (), (), found, (), (), not_compared="1 of 3 columns not compared.")
    note = table(probe).note
    assert note.startswith(probe.not_compared)
    assert ("Nobody knows which rows are right" in note) == (groups > 1)
    assert table(msgspec.structs.replace(probe, not_compared="", digest_groups=found[:1])).note == ""


def test_a_journal_without_it_is_read() -> None:
    assert msgspec.convert({"kind": "probe", "caveat": "x"}, ProbeRecord, strict=False).not_compared == ""
