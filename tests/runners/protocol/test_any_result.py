"""Any result through every adapter of an engine: each delivers the same rows; only a driver's own error ends one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.model.workload import Column, ColumnSpec
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import DescribedColumn
from rowpath.workloads import codec
from tests.runners.protocol import any_result_cases
from tests.runners.protocol.any_result import Bench, Outcome, bench
from tests.runners.protocol.query_cases import Cases

pytestmark = pytest.mark.apart
BIG = Column("a", "integer", bits=64, nullable=True)
KNOWN_ROWS: dict[tuple[str, str], tuple[list[tuple[Any, ...]], tuple[Column, ...]]] = {
    ("postgresql", "numeric(40,20)"): (
        [("1.5",), (None,), ("-12345678901234567890.1234567890123456789",)],
        (Column("n", "decimal", precision=40, scale=20, nullable=True),),
    ),
    ("sqlite", "integers"): ([(1, -(1 << 63)), (None, (1 << 63) - 1)], (BIG, BIG)),
    ("duckdb", "blobs"): ([(b"\x00\xff", b"", None)], (Column("a", "binary", nullable=True),) * 3),
    ("mariadb", "large blob"): ([(b"\x00\xff" * 524288,)], (Column("a", "binary", nullable=True),)),
}


@pytest.mark.parametrize("engine", any_result_cases.ENGINES)
def test_any_result_is_delivered(engine: str) -> None:
    availability = ENGINES[engine].availability()
    if not availability.ok:
        pytest.skip(availability.reason)
    cases = any_result_cases.ENGINES[engine]
    wrong = []
    with bench(engine, cases.setting_up, cases.storage) as made:
        made.set_up(cases.describer)
        for name, sql in cases.queries.items():
            wrong += [f"{name}: {what}" for what in mistakes(made, cases, engine, name, sql)]
    assert wrong == []


def mistakes(made: Bench, cases: Cases, engine: str, name: str, sql: str) -> list[str]:
    """What came out differently than it must."""
    columns = made.describe(made.of_python(cases.describer), sql)
    types = " ".join(map(spelt, columns))
    if ("opaque" in types) != (name in cases.opaque) or types != cases.types.get(name, types):
        return [f"described as {types}"]
    outcomes = [made.outcome(each, sql, columns) for each in made.paths]
    strangers = cases.own_ways.get(name, ())
    regular = [outcome for outcome in outcomes if not outcome.names & set(strangers)]
    found = [f"{one.path}: {why}" for one in outcomes if (why := lost(one, one not in regular, cases.own_errors))]
    found += others_describe_otherwise(made, cases, engine, name, columns)
    digests = Counter(outcome.digest for outcome in regular if outcome.digest)
    if len(digests) > 1:
        by_path = {outcome.path: outcome.digest for outcome in regular if outcome.digest}
        found.append(f"digests that differ: {by_path}")
    for driver in strangers:
        own = {(one.digest, bool(one.foreign)) for one in outcomes if driver in one.names and one.digest}
        if own and own <= {(digest, False) for digest in digests}:
            found.append(f"{driver} has no way of its own any more")
    if (engine, name) in KNOWN_ROWS:
        expected = codec.digest(*KNOWN_ROWS[engine, name])
        found += [f"{one}, not {expected}" for one in digests if one != expected] or ([] if digests else ["nothing"])
    return found


def others_describe_otherwise(
    made: Bench, cases: Cases, engine: str, name: str, columns: tuple[DescribedColumn, ...]
) -> list[str]:
    """What further adapters that describe the engine's queries say that the first does not."""
    wanted, found = [(column.name, spelt(column)) for column in columns], []
    for each in made.describers(engine):
        try:
            said = [(column.name, spelt(column)) for column in made.describe(each, cases.queries[name])]
        except RunnerFailure as failure:
            said = [(failure.kind, failure.text)]
        if said != wanted and each.adapter.driver not in cases.described_otherwise.get(name, ()):
            found.append(f"{each.name} describes {said[:9]}, not {wanted[:9]}")
    return found


def spelt(column: ColumnSpec) -> str:
    """A column's type as `Cases.types` has it."""
    if column.type == "integer":
        return f"{column.type}:{column.bits}"
    if column.type == "decimal":
        return f"decimal({column.precision},{column.scale})"
    fields = f"[{' '.join(map(spelt, column.fields))}]" if column.fields else ""
    return f"{column.type}({column.length})" if column.length else column.type + fields


def lost(outcome: Outcome, stranger: bool, own_errors: Mapping[str, str]) -> str:
    """Why a path did not deliver all values; empty: it did, or it is the driver's own error, or a stranger's value."""
    if outcome.digest:
        return "" if stranger or not outcome.foreign else f"foreign: {outcome.foreign}"
    known = [own_errors[driver] for driver in ("", outcome.driver) if driver in own_errors]
    if outcome.kind in ("sql", "unsupported") and any(re.search(each, outcome.text) for each in known):
        return ""
    return f"{outcome.kind}: {outcome.text}"


def test_the_own_ways_of_drivers_are_still_theirs() -> None:
    """A query that is not there any more cannot excuse a driver."""
    for cases in any_result_cases.ENGINES.values():
        named = set(cases.own_ways) | set(cases.types) | set(cases.described_otherwise) | cases.opaque
        assert named <= set(cases.queries)


def test_what_is_lost_is_seen() -> None:
    own = {"d": "^no such"}
    assert lost(Outcome("p", "d", "", kind="unsupported", text="no room"), True, own)
    for kind in ("verify", "other", "crashed", "internal"):
        assert lost(Outcome("p", "d", "", kind=kind, text="no such type"), True, own)
    assert lost(Outcome("p", "d", "", kind="sql", text="another error"), True, own)
    assert lost(Outcome("p", "e", "", kind="sql", text="no such type"), True, own)
    assert not lost(Outcome("p", "d", "", kind="sql", text="no such type"), False, own)
    assert lost(Outcome("p", "d", "1:00", {"a": "no date"}), False, own)
    assert not lost(Outcome("p", "d", "1:00", {"a": "no date"}), True, own)
    assert not lost(Outcome("p", "d", "1:00"), False, own)
