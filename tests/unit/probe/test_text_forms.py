"""Values that have the same text."""

from __future__ import annotations

from rowpath.model.workload import Column
from rowpath.probe.text_forms import same_as_text
from rowpath.workloads.codec import encode_value

MIDNIGHT = encode_value("1900-01-01 00:00:00", Column("v", "timestamp"))
NOON = encode_value("1900-01-01 12:00:00", Column("v", "timestamp"))
DAY = encode_value("1900-01-01", Column("v", "text"))


def test_a_day_is_its_midnight() -> None:
    assert same_as_text([MIDNIGHT, NOON], [DAY, NOON])
    assert not same_as_text([NOON], [DAY]) and not same_as_text([DAY], [DAY, DAY])


def test_null_is_no_text() -> None:
    assert not same_as_text([b"\0"], [encode_value("", Column("v", "text"))])
