"""Which paths delivered the same rows: nobody knows what is right of a user's, so implementations confirm each other.

A *voice* is an implementation that decodes by itself. Settings of one driver are one voice, and so are the columns that
one converter of ours reads. In each column the values of most voices lead; as many against as many are a tie.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rowpath.model.grouping import grouped
from rowpath.model.path import BY_HAND
from rowpath.model.workload import Column
from rowpath.planning.plan import PlannedPath
from rowpath.probe import nul_in_text, rounded_floats, text_forms
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import VERIFIED_ROWS, ColumnDigest, VerifyReply

OURS = "Rowpath"  # the voice of our own readers, in whatever language


@dataclass(frozen=True)
class Delivery:
    """What one path delivered, and for whom it stands: settings with the same digest."""

    planned: PlannedPath
    reply: VerifyReply

    @property
    def voice(self) -> str:
        """The implementation that decodes for this path; empty of a layer, which is to agree with its driver."""
        if self.planned.path.layer != BY_HAND:
            return ""
        adapter = self.planned.adapter
        return OURS if adapter.no_driver else adapter.voice_on(self.planned.path.engine)

    def voice_of(self, column: Column) -> str:
        """The implementation that decodes this column."""
        if self.voice and column.name in self.reply.converted:
            return f"{OURS} in {self.planned.adapter.language}"
        return self.voice


# Executes once more with columns declared as given: cut to a unit, or not compared.
Again = Callable[[Delivery, tuple[Column, ...]], VerifyReply]
# The rows of an execution, as far as they are kept: the encoded values of each.
Kept = Callable[[Delivery], Iterable[list[bytes]]]


@dataclass
class Verdict:
    """What is said of one digest. `wrong`: by column, or "" for whole rows, why its paths are not ranked."""

    members: list[Delivery]
    wrong: dict[str, str] = field(default_factory=dict)
    ties: dict[str, str] = field(default_factory=dict)
    cut: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    @property
    def first(self) -> Delivery:
        """The one that stands for all."""
        return self.members[0]

    def notes(self) -> Iterator[str]:
        """What was not compared, or less exactly."""
        for label, how in self.cut.items():
            before = {BOUNDS: "without ", AS_TEXT: ""}.get(how, "in ")
            part = how.endswith(LOOSE) and self.first.reply.rows > VERIFIED_ROWS
            yield f"{label} compared {before}{how}{f', in the first {VERIFIED_ROWS:,} rows' if part else ''}"
        for label, reason in self.unread.items():
            ours = "" if reason.startswith(NO_COMMON_FORM) else "our reader cannot: "
            yield f"{label} not compared: {ours}{reason}"

    def column(self, number: int) -> ColumnDigest:
        """What it delivered in a column."""
        return self.first.reply.columns[number]


@dataclass
class Agreement:
    """The verdict on each digest, the leading one first; columns in which every execution differs."""

    verdicts: list[Verdict]
    volatile: list[str] = field(default_factory=list)
    rows_change: bool = False

    @property
    def agreeing(self) -> list[Verdict]:
        """Those whose rows no other voices contradict."""
        return [verdict for verdict in self.verdicts if not verdict.wrong]

    @property
    def voices(self) -> set[str]:
        """The implementations that delivered the leading rows."""
        return {member.voice for verdict in self.agreeing if not verdict.ties for member in verdict.members} - {""}


UNITS = {1: "nanoseconds", 1_000: "microseconds", 1_000_000: "milliseconds", 1_000_000_000: "seconds"}
NO_COMMON_FORM = "no common form"  # how a runner's reason begins where the driver delivers another kind of value
ROUNDED = ", rounded"
BOUNDS = "lower bounds"
DIGITS = "digits, as text has it"
AS_TEXT = "as text"
LOOSE = (DIGITS, AS_TEXT)
TEXTS = ("text", "varchar", "char", "any")
# Executions that look for values that change by themselves: a sum of floats over threads does so only now and then.
REPEATS, REPEATS_OF_FLOATS, MOST_REPEATED = 1, 3, 8


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """What columns are called in messages: by their names; by their numbers too where these are empty or the same."""
    return tuple(
        name if name and names.count(name) == 1 else f"{name} (column {number})" if name else f"column {number}"
        for number, name in enumerate(names, 1)
    )


def agreement_of(
    deliveries: Sequence[Delivery], columns: tuple[Column, ...], labels: Sequence[str], again: Again, kept: Kept
) -> Agreement:
    """Compare what was delivered, column by column; executes again only where digests differ.

    Verdicts name columns by their labels. Errors of an execution leave the comparison as it was.
    """
    by_digest = grouped(deliveries, lambda delivery: delivery.reply.digest)
    verdicts = sorted(map(Verdict, by_digest.values()), key=lambda verdict: -len(voices_of(verdict.members)))
    if len(verdicts) < 2:
        return Agreement(verdicts)
    return _Comparison(verdicts, columns, tuple(labels), again, kept).agreement()


def voices_of(members: Iterable[Delivery]) -> set[str]:
    """The implementations that decode for these."""
    return {member.voice for member in members} - {""}


class _Comparison:
    def __init__(
        self, verdicts: list[Verdict], columns: tuple[Column, ...], labels: tuple[str, ...], again: Again, kept: Kept
    ) -> None:
        self._columns = columns
        self._labels = labels
        self._again = again
        self._kept = kept
        self._made: dict[tuple[str, tuple[Column, ...]], VerifyReply | None] = {}
        self._result = Agreement(verdicts)

    def agreement(self) -> Agreement:
        verdicts = self._result.verdicts
        if len({verdict.first.reply.rows for verdict in verdicts}) > 1:
            self._notice_changes(verdicts, [])
            if self._result.rows_change:
                return self._result
            self._compare_row_numbers()
            if any(verdict.ties for verdict in verdicts):
                return self._result
        by_column = [verdict for verdict in verdicts if verdict.first.reply.columns and not verdict.wrong]
        whole = [verdict for verdict in verdicts if not verdict.first.reply.columns and not verdict.wrong]
        differing = self._differing(by_column)
        self._notice_changes(by_column or verdicts, differing)
        if self._result.rows_change:
            return self._result
        volatile = set(self._result.volatile)
        for number in differing:
            if self._labels[number] not in volatile:
                self._compare_column(by_column, number)
        agreeing = [verdict for verdict in by_column if not verdict.wrong]
        leader = max(agreeing or verdicts, key=lambda verdict: (not verdict.ties, len(voices_of(verdict.members))))
        for verdict in agreeing:
            if verdict is not leader and not verdict.ties:
                self._compare_rows(leader, verdict)
        for verdict in whole:
            if verdict is not leader and not volatile:
                verdict.wrong[""] = f"other rows than {_who(leader.members)}"
        verdicts.sort(key=lambda verdict: (verdict is not leader, bool(verdict.wrong)))
        return self._result

    def _compare_row_numbers(self) -> None:
        by_rows = grouped(self._result.verdicts, lambda verdict: verdict.first.reply.rows)
        ranked = sorted(by_rows.items(), key=lambda item: -_weight(item[1]))
        (rows, most), (_, second), *_ = ranked
        if _weight(most) == _weight(second):
            for _rows, members in ranked:
                for verdict in members:
                    verdict.ties[""] = f"{verdict.first.reply.rows:,} rows here; nobody can say which number is right"
            return
        for other, members in ranked[1:]:
            for verdict in members:
                verdict.wrong[""] = f"{other:,} rows, {rows:,} by {_who(_all(most))}"

    def _differing(self, verdicts: list[Verdict]) -> list[int]:
        numbers = range(len(self._columns))
        return [number for number in numbers if len({verdict.column(number).digest for verdict in verdicts}) > 1]

    def _notice_changes(self, verdicts: list[Verdict], differing: list[int]) -> None:
        """What differs between two executions of one path is no path's fault."""
        wanted = {self._labels[number] for number in differing}
        floats = any(self._columns[number].type in rounded_floats.DIGITS for number in differing)
        changed: dict[str, None] = {}
        for repeated, verdict in enumerate(verdicts[:MOST_REPEATED]):
            if repeated > 1 and wanted <= set(changed):
                break
            for _ in range(REPEATS_OF_FLOATS if floats else REPEATS):
                before, after = verdict.first.reply, self._executed(verdict.first, self._columns)
                if after is None or after.digest == before.digest:
                    continue
                pairs = zip(self._labels, before.columns, after.columns, strict=False)
                columns = [label for label, old, new in pairs if old.digest != new.digest]
                if after.rows != before.rows or not columns:  # or the same values in other rows
                    self._result.rows_change = True
                    return
                changed |= dict.fromkeys(columns)
        self._result.volatile = list(changed)

    def _executed(self, delivery: Delivery, columns: tuple[Column, ...]) -> VerifyReply | None:
        try:
            return self._again(delivery, columns)
        except RunnerFailure:
            return None

    def _repeated(self, delivery: Delivery, columns: tuple[Column, ...]) -> VerifyReply | None:
        """The reply with columns declared so; executed once for each."""
        key = delivery.planned.path.id, columns
        if key not in self._made:
            self._made[key] = self._executed(delivery, columns)
        return self._made[key]

    def _compare_column(self, verdicts: list[Verdict], number: int) -> None:
        column, label = self._columns[number], self._labels[number]
        read = []
        for verdict in verdicts:
            if verdict.column(number).foreign and voices_of(verdict.members):
                verdict.unread[label] = verdict.column(number).reason
            else:
                read.append(verdict)
        groups = list(grouped(read, lambda verdict: verdict.column(number).digest).values())
        groups.sort(key=lambda group: _fineness(group[0].column(number)))
        # A layer has its driver's values: what it cuts or rounds is lost by it.
        of_layers = [group for group in groups if not voices_of(_all(group))]
        groups = [group for group in groups if group not in of_layers] if len(of_layers) < len(groups) else groups
        joined: list[list[Verdict]] = []
        if len(groups) > 1 and column.type in rounded_floats.DIGITS:
            groups = self._joined_floats(groups, number)
        elif len(groups) > 1 and column.type == "any":
            groups = self._joined_texts(groups, number)
        for group in groups:
            finer = sorted(joined, key=lambda other: -_column_weight(other, column))
            found = ((other, self._same_when_cut(other[0], group[0], number)) for other in finer)
            same, cut = next(((other, how) for other, how in found if how), (None, ""))
            if same is None:
                joined.append(group)
                continue
            for verdict in group:
                verdict.cut[label] = cut
            same.extend(group)
        joined += [group for group in of_layers if group not in joined]
        if len(joined) < 2:
            return
        whole = self._without_cut_texts(joined, number)
        whole.sort(key=lambda group: -_column_weight(group, column))
        leading, weight = whole[0], _column_weight(whole[0], column)
        tied = [group for group in whole if _column_weight(group, column) == weight]
        for group in joined:
            for verdict in group:
                if len(tied) > 1 and group in tied:
                    verdict.ties[label] = _who(_all(other for alike in tied if alike is not group for other in alike))
                elif group is not leading:
                    verdict.wrong[label] = _who(_all(leading))

    def _joined_floats(self, groups: list[list[Verdict]], number: int) -> list[list[Verdict]]:
        """The groups, those with no more digits than their type keeps joined with one that has the same in these.

        Two voices must have more digits: one could have made them up.
        """
        kind, label = self._columns[number].type, self._labels[number]
        values: dict[int, rounded_floats.Values] = {}
        for at, group in enumerate(groups):
            values[at] = rounded_floats.floats_of(self._values(group, number)) or []
        coarse = [at for at, found in values.items() if found and rounded_floats.has_no_more_digits(found, kind)]
        joined = {at: group for at, group in enumerate(groups) if at not in coarse}
        finer = [at for at, group in joined.items() if _column_weight(group, self._columns[number]) > 1]
        for at in coarse:
            same = (to for to in finer if rounded_floats.same_when_rounded(values.get(to, []), values[at], kind))
            to = next(same, at)
            if to != at:
                for verdict in groups[at]:
                    verdict.cut[label] = f"{rounded_floats.DIGITS[kind]} {DIGITS}"
            joined.setdefault(to, []).extend(groups[at])
        return list(joined.values())

    def _joined_texts(self, groups: list[list[Verdict]], number: int) -> list[list[Verdict]]:
        """The groups, those joined that have the same values as text."""
        joined: list[tuple[list[bytes], list[Verdict]]] = []
        for group in sorted(groups, key=lambda group: -_column_weight(group, self._columns[number])):
            values = self._values(group, number)
            alike = (members for known, members in joined if values and text_forms.same_as_text(known, values))
            if same := next(alike, None):
                for verdict in group:
                    verdict.cut[self._labels[number]] = AS_TEXT
                same.extend(group)
            else:
                joined.append((values, group))
        return [members for _, members in joined]

    def _without_cut_texts(self, groups: list[list[Verdict]], number: int) -> list[list[Verdict]]:
        """The groups but those that are another one's values up to a NUL, however many say so: no driver adds text."""
        if self._columns[number].type not in TEXTS:
            return groups
        columns = [self._values(group, number) for group in groups]
        pairs = zip(groups, columns, strict=True)
        return [group for group, texts in pairs if not any(nul_in_text.end_at_nul(texts, one) for one in columns)]

    def _values(self, group: list[Verdict], number: int) -> list[bytes]:
        """A column of the rows that are kept of a group; empty where executing fails."""
        with contextlib.suppress(RunnerFailure, OSError):
            return [row[number] for row in self._kept(group[0].first)]
        return []

    def _same_when_cut(self, finer: Verdict, coarser: Verdict, number: int) -> str:
        """To what the finer values must be cut or rounded to be the coarser ones; empty when they never are."""
        fine, coarse = finer.column(number), coarser.column(number)
        if _fineness(fine) == _fineness(coarse):
            return ""
        for how in ("", ROUNDED):
            reply = self._repeated(finer.first, self._as_coarse_as(coarser, finer, rounded=bool(how)))
            if reply is not None and reply.columns[number].digest == coarse.digest:
                return UNITS.get(coarse.finest_ns, BOUNDS) + how
        return ""

    def _as_coarse_as(self, coarser: Verdict, finer: Verdict, rounded: bool) -> tuple[Column, ...]:
        declared = []
        for number, column in enumerate(self._columns):
            fine, coarse = finer.column(number), coarser.column(number)
            changed: dict[str, Any] = {}
            if fine.finest_ns < coarse.finest_ns:
                changed |= {"unit_ns": coarse.finest_ns, "rounded": rounded}
            if fine.bounds and not coarse.bounds:
                changed["bounds"] = False
            declared.append(msgspec.structs.replace(column, **changed))
        return tuple(declared)

    def _compare_rows(self, leader: Verdict, verdict: Verdict) -> None:
        """Columns that agree may stand in other rows: their orders tell, else a digest of the columns that count."""
        rounded = {label for side in (leader, verdict) for label, how in side.cut.items() if how.endswith(LOOSE)}
        left_out = {*self._result.volatile, *leader.unread, *verdict.unread, *rounded}
        pairs = zip(self._labels, leader.first.reply.columns, verdict.first.reply.columns, strict=True)
        counted = [(ours, theirs) for label, ours, theirs in pairs if label not in left_out]
        if all(ours == theirs for ours, theirs in counted):
            return
        masked = [msgspec.structs.replace(column, type="opaque") for column in self._columns]
        declared = []
        to_nearest = any(ROUNDED in how for side in (leader, verdict) for how in side.cut.values())
        for side, other in ((leader, verdict), (verdict, leader)):
            cut = self._as_coarse_as(other, side, rounded=to_nearest)
            parts = zip(self._labels, cut, masked, strict=True)
            declared.append(tuple(none if label in left_out else column for label, column, none in parts))
        replies = [self._repeated(side.first, each) for side, each in zip((leader, verdict), declared, strict=True)]
        if None not in replies and len({reply.digest for reply in replies if reply}) > 1:
            verdict.wrong[""] = f"the values of {_who(leader.members)} in other rows"


def _fineness(column: ColumnDigest) -> tuple[bool, int]:
    """How exactly a column was delivered, the most exact first."""
    return not column.bounds, column.finest_ns


def _all(verdicts: Iterable[Verdict]) -> list[Delivery]:
    return [member for verdict in verdicts for member in verdict.members]


def _weight(verdicts: Iterable[Verdict]) -> int:
    return len(voices_of(_all(verdicts)))


def _column_weight(verdicts: Iterable[Verdict], column: Column) -> int:
    return len({member.voice_of(column) for member in _all(verdicts)} - {""})


def _who(members: Sequence[Delivery]) -> str:
    """The drivers of these, the first by name."""
    names = list(dict.fromkeys(f"{m.planned.adapter.language} {m.planned.adapter.driver}" for m in members))
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def in_words(verdict: Verdict) -> str:
    """What is wrong with its rows: the first column that differs, and whose values most are."""
    column, other = next(iter(verdict.wrong.items()))
    more = f" and {len(verdict.wrong) - 1} more" if len(verdict.wrong) > 1 else ""
    return f"column {column}{more}, unlike {other}" if column else other
