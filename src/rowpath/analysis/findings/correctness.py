"""What was not delivered as it should be: wrong rows, values never read, failures, conversions, missing paths."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath.analysis.answer_model import Finding, error, note, warning
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings import mixed_load
from rowpath.analysis.path_status import failure_text, touch_text
from rowpath.analysis.wording import by_name, phase_text, phases_text, words
from rowpath.journal.records import DroppedRecord, FailureRecord, SampleRecord, VerifyRecord
from rowpath.model.grouping import grouped


def wrong_rows(evidence: Evidence) -> Iterator[Finding]:
    """The digest of the rows differs from the generator's."""
    verified_wrong = (record for record in evidence.journal.all(VerifyRecord) if record.ok is False)
    for path_id, records in grouped(verified_wrong, lambda record: record.path_id).items():
        name, first = evidence.name(path_id), records[0]
        yield error(
            f"{name} delivered wrong rows: not ranked in {phases_text(records)}",
            f"{phase_text(first)}: {first.rows} rows, digest {first.digest or 'missing'}"
            + (f" instead of {first.expected}" if first.expected else ""),
            _cause(evidence, first),
            f"rowpath verify {evidence.experiment} -v",
            (name,),
        )


def _cause(evidence: Evidence, record: VerifyRecord) -> str:
    path = evidence.path(record.path_id)
    if path is not None and path.ranges == "count" and record.rows < (record.expected_rows or 0):
        return (
            "ranges=count assumes the keys 1, 2, …, rows. No client reads the remainder of rows ÷ clients, "
            "or keys above the number of rows; ranges=bounds reads all"
        )
    return "the driver or its adapter changes, loses or repeats values"


def values_not_read(evidence: Evidence) -> Iterator[Finding]:
    """The touch sum is wrong: not every value was taken inside the clock."""
    not_taken = (sample for sample in evidence.journal.all(SampleRecord) if sample.touch_ok is False)
    verified = grouped(evidence.journal.all(VerifyRecord), lambda record: record.where)
    for path_id, samples in grouped(not_taken, lambda sample: sample.path_id).items():
        name, first = evidence.name(path_id), samples[0]
        digests = [record.ok for record in verified.get(first.where, ())]
        yield error(
            f"{name} did not read every value of every row inside the clock: not ranked in {phases_text(samples)}",
            f"{phase_text(first)}: {touch_text(first)} in {len(samples)} samples"
            + ("; outside the clock its digest was correct" if digests and all(digests) else ""),
            "values are decoded only on access, or results come from a cache",
            f"rowpath verify {evidence.experiment} -v",
            (name,),
        )
    yield from mixed_load.values_not_read(evidence)


def failed_operations(evidence: Evidence) -> Iterator[Finding]:
    """Operations or whole phases that failed; a phase with failures has no rate."""
    counted: dict[tuple[str, str, str], int] = {}
    texts: dict[tuple[str, str, str], str] = {}
    for sample in evidence.journal.all(SampleRecord):
        if sample.failed:
            counted[sample.where] = counted.get(sample.where, 0) + sample.failed
            texts.setdefault(sample.where, sample.failure.text if sample.failure else "")
    for where, count in counted.items():
        name = evidence.name(where[0])
        yield error(
            f"{count} operations of {name} failed in {where[1]}.{where[2]}: its rate is withheld",
            texts[where] or "the runner gave no message",
            "",
            f"rowpath verify {evidence.experiment} -v",
            (name,),
        )
    failures = [record for record in evidence.journal.all(FailureRecord) if record.status == "failed"]
    reported: set[tuple[tuple[str, str, str], str]] = set()
    for failure in failures:
        text = failure_text(failure)
        if (failure.where, text) in reported:
            continue
        reported.add((failure.where, text))
        name = evidence.name(failure.path_id)
        where_text = f"in {phase_text(failure)}" if failure.phase else "and did not finish"
        yield error(
            f"{name} failed {where_text}",
            text,
            "",
            f"rowpath verify {evidence.experiment} -v",
            (name,),
        )


def converted_values(evidence: Evidence) -> Iterator[Finding]:
    """The driver returns text that the adapter converts inside the clock."""
    columns: dict[str, list[str]] = {}
    for record in evidence.journal.all(VerifyRecord):
        columns.setdefault(record.path_id, []).extend(record.converted)
    converted: dict[str, str] = {}
    for path in evidence.journal.paths.values():
        named = ", ".join(dict.fromkeys(columns.get(path.path_id, []))) or path.converted
        if named:
            converted[path.name] = named
    if converted:
        yield note(
            f"{_paths(list(converted))} {'pays' if len(converted) == 1 else 'pay'} "
            "for converting text into the column's type",
            by_name(converted),
            "the driver hands these columns over as text; the adapter converts them inside the clock",
            f"rowpath run {evidence.experiment} --plan",
            tuple(converted),
        )


def missing_path(evidence: Evidence) -> Iterator[Finding]:
    """Paths that did not run or could not, by reason; and planned ones of which nothing was measured."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for dropped in evidence.journal.dropped:
        by_reason.setdefault((dropped.reason, dropped.remedy), []).append(_name(dropped))
    for (reason, remedy), names in by_reason.items():
        yield note(
            f"{_paths(names)} did not run: {reason}", words(names), reason,
            remedy or "rowpath doctor", tuple(names),
        )  # fmt: skip
    measured = {cell.path.path_id for cell in evidence.cells.cells.values()}
    measured |= {figure.path_id for figure in report_of(evidence).figures}
    failed = {record.path_id for record in evidence.journal.all(FailureRecord)}
    yield from _unsupported(evidence, measured)
    silent = [path.name for path_id, path in evidence.journal.paths.items() if path_id not in measured | failed]
    if silent:
        ended = evidence.journal.outcome or "killed, or still running"
        yield warning(
            f"no measurement of {_paths(silent)}",
            f"{words(silent)}; the run: {ended}",
            "the run ended before these paths started",
            f"rowpath run --resume {evidence.directory}",
            tuple(silent),
        )


def _unsupported(evidence: Evidence, measured: set[str]) -> Iterator[Finding]:
    """Paths of which nothing was measured, because the runner cannot do what was asked of it."""
    reasons: dict[str, dict[str, None]] = {}
    for failure in evidence.journal.all(FailureRecord):
        if failure.status == "unsupported" and not failure.phase and failure.path_id not in measured:
            reasons.setdefault(failure_text(failure), {})[evidence.name(failure.path_id)] = None
    for reason, names in reasons.items():
        yield warning(
            f"{_paths(list(names))} could not run: {reason}", words(names), reason,
            f"rowpath run {evidence.experiment} --plan", tuple(names),
        )  # fmt: skip


def _paths(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} paths"


def _name(dropped: DroppedRecord) -> str:
    """The short name; a path that never got one is named by its main coordinates."""
    if dropped.name and "=" not in dropped.name:
        return dropped.name
    main = ("engine", "deployment", "language", "driver", "version")
    return " ".join(dropped.coordinates[key] for key in main if key in dropped.coordinates)
