"""What was not delivered as it should be: wrong rows, values never read, failures, conversions, missing paths."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rowpath.analysis.answer_model import Finding, error, note, warning
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.findings import mixed_load
from rowpath.analysis.path_status import failure_text, touch_text
from rowpath.analysis.wording import by_name, phase_text, phases_text, words
from rowpath.journal.records import DroppedRecord, FailureRecord, PathRecord, SampleRecord, VerifyRecord
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
            _cause(evidence.path(path_id), first),
            f"rowpath verify {evidence.experiment} -v",
            (name,),
        )


def _cause(path: PathRecord | None, record: VerifyRecord) -> str:
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
    """Operations or whole phases that failed, those of one message together; a phase with failures has no rate."""
    failing = (sample for sample in evidence.journal.all(SampleRecord) if sample.failed)
    for (path_id, *_phase), samples in grouped(failing, lambda sample: sample.where).items():
        name, first = evidence.name(path_id), samples[0]
        count = sum(sample.failed for sample in samples)
        yield error(
            f"{count} operations of {name} failed in {phase_text(first)}: its rate is withheld",
            (first.failure.text if first.failure else "") or "the runner gave no message",
            "",
            f"rowpath verify {evidence.experiment} -v",
            (name,),
        )
    failures = (record for record in evidence.journal.all(FailureRecord) if record.status == "failed")
    for (where_text, text), alike in grouped(failures, lambda one: (_where(one), failure_text(one))).items():
        names = tuple(dict.fromkeys(evidence.name(one.path_id) for one in alike))
        yield error(
            f"{_paths(names)} failed {where_text}",
            text if len(names) == 1 else f"{words(names)}: {text}",
            "",
            f"rowpath verify {evidence.experiment} -v",
            names,
        )


def _where(failure: FailureRecord) -> str:
    return f"in {phase_text(failure)}" if failure.phase else "and did not finish"


def converted_values(evidence: Evidence) -> Iterator[Finding]:
    """The driver returns text that the adapter converts inside the clock."""
    verified = grouped(evidence.journal.all(VerifyRecord), lambda record: record.path_id)
    converted: dict[str, str] = {}
    for path in evidence.journal.paths.values():
        columns = dict.fromkeys(column for record in verified.get(path.path_id, ()) for column in record.converted)
        if named := ", ".join(columns) or path.converted:
            converted[path.name] = named
    if converted:
        yield note(
            f"{_paths(converted)} {'pays' if len(converted) == 1 else 'pay'} "
            "for converting text into the column's type",
            by_name(converted),
            "the driver hands these columns over as text; the adapter converts them inside the clock",
            f"rowpath run {evidence.experiment} --plan",
            tuple(converted),
        )


def missing_path(evidence: Evidence) -> Iterator[Finding]:
    """Paths that did not run or could not, by reason; and planned ones of which nothing was measured."""
    for (reason, remedy), dropped in grouped(evidence.journal.dropped, lambda path: (path.reason, path.remedy)).items():
        names = list(map(_name, dropped))
        yield note(
            f"{_paths(names)} did not run: {reason}", words(names), reason,
            remedy or "rowpath doctor", tuple(names),
        )  # fmt: skip
    measured = {cell.path.path_id for cell in evidence.cells.cells.values()}
    measured |= {figure.path_id for figure in report_of(evidence).figures}
    failures = evidence.journal.all(FailureRecord)
    reasons: dict[str, dict[str, None]] = {}
    for failure in failures:  # of paths of which nothing was measured, for the runner cannot do what was asked of it
        if failure.status == "unsupported" and not failure.phase and failure.path_id not in measured:
            reasons.setdefault(failure_text(failure), {})[evidence.name(failure.path_id)] = None
    for reason, unsupported in reasons.items():
        yield warning(
            f"{_paths(unsupported)} could not run: {reason}", words(unsupported), reason,
            f"rowpath run {evidence.experiment} --plan", tuple(unsupported),
        )  # fmt: skip
    measured |= {record.path_id for record in failures}
    silent = [path.name for path_id, path in evidence.journal.paths.items() if path_id not in measured]
    if silent:
        ended = evidence.journal.outcome or "killed, or still running"
        yield warning(
            f"no measurement of {_paths(silent)}",
            f"{words(silent)}; the run: {ended}",
            "the run ended before these paths started",
            f"rowpath run --resume {evidence.directory}",
            tuple(silent),
        )


def _paths(names: Collection[str]) -> str:
    return words(names) if len(names) == 1 else f"{len(names)} paths"


def _name(dropped: DroppedRecord) -> str:
    """The short name; a path that never got one is named by its main coordinates."""
    if dropped.name and "=" not in dropped.name:
        return dropped.name
    main = ("engine", "deployment", "language", "driver", "version")
    return " ".join(dropped.coordinates[key] for key in main if key in dropped.coordinates)
