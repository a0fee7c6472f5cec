"""What a contributed run must satisfy: whole, consistent, proven, quiet, and saying on what it was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Analysis
from rowpath.analysis.wording import words
from rowpath.journal.records import SampleRecord, VerifyRecord, WorkerRecord
from rowpath.model.grouping import grouped
from rowpath.model.path import AccessPath

MOST_DISTURBED = 0.2  # of all blocks; figures come from the others
STATED = ("processor", "cpus", "cores_used", "memory_kib", "distribution", "kernel")
NAMED = 3
ROUNDING = 1.001  # shares of times that were rounded to nanoseconds


def problems(evidence: Evidence, analysis: Analysis) -> tuple[str, ...]:
    """Why the run is refused, each a clause; empty when it is accepted."""
    return (
        *_incomplete(evidence),
        *_inconsistent(evidence),
        *_unproven(analysis),
        *_not_quiet(evidence, analysis),
        *_not_stated(evidence, analysis),
    )


def _incomplete(evidence: Evidence) -> Iterator[str]:
    journal = evidence.journal
    if journal.of_own_database:
        yield "it is a probe of one database, and no one else can repeat it"
    elif not journal.run.experiment.name:
        yield "it names no experiment"
    if journal.outcome != "complete":
        yield f"it is partial: {journal.outcome or 'the journal has no end record'}"
    if journal.skipped_lines:
        yield f"{text.counted(journal.skipped_lines, 'line')} of its journal cannot be read"
    unfinished = len(journal.sets) - len(journal.done.sets)
    if journal.done.sets and unfinished > 0:
        yield f"{unfinished} of its {len(journal.sets)} sets have no end"


def _inconsistent(evidence: Evidence) -> Iterator[str]:
    """What an edit of single records would leave behind; a journal that was made up whole may pass."""
    journal = evidence.journal
    renamed = [path.name for path in journal.paths.values() if _canonical(path.coordinates) != path.path_id]
    if renamed:
        yield f"the coordinates of {_some(renamed)} are not those of its id"
    members = {number: set(record.path_ids) for (number, _batch), record in journal.sets.items()}
    bad = Counter(what for sample in journal.all(SampleRecord) if (what := _contradiction(sample, members)))
    for what, count in bad.items():
        yield f"{count} of its blocks {what}"
    for number in journal.sets:
        if (excess := _longer_than_its_set(evidence, number[0])) > 1:
            yield f"the blocks of set {number[0]} take {text.ratio(excess)} the time between its begin and its end"
    right = (verify for verify in journal.all(VerifyRecord) if verify.ok and verify.expected)
    if wrong := sum(verify.digest != verify.expected for verify in right):
        yield f"{wrong} digests are marked right and differ from the expected ones"
    for (phase, rows), reads in grouped(_reads(evidence), _phase_rows).items():
        if (different := len({verify.digest for verify in reads})) > 1:
            yield f"its paths delivered {different} different digests of {phase}, {rows} rows, all marked right"


def _canonical(coordinates: dict[str, str]) -> str:
    kept = dict(coordinates)
    label = kept.pop("label", "")
    return AccessPath.of(kept, label).id


def _contradiction(sample: SampleRecord, members: dict[int, set[str]]) -> str:
    if sample.path_id not in members.get(sample.set, set()):
        return "are of a path that their set does not name"
    if min(sample.ns, sample.operations, sample.failed, sample.rows, sample.window_ns) < 0:
        return "have negative counts"
    if sample.ns > sample.window_ns * ROUNDING and sample.window_ns:
        return "take longer than the window around them"
    if not sample.clients and sample.min_ns * sample.operations > sample.ns * ROUNDING:
        return "are faster than each of their operations"
    if sample.touch and sample.expected_touch and sample.touch_ok is not None:
        right = sample.touch in sample.expected_touch
        return "" if right == sample.touch_ok else "have a touch sum that contradicts their status"
    return ""


def _longer_than_its_set(evidence: Evidence, number: int) -> float:
    """Time of all blocks of a set ÷ time from its first worker to its last block; one path is active at a time."""
    samples = [sample for sample in evidence.journal.all(SampleRecord) if sample.set == number]
    workers = evidence.journal.all(WorkerRecord)
    begun = [worker.started_ns for worker in workers if worker.set == number and worker.started_ns]
    if not samples or not begun:
        return 0.0
    lasted_ns = max(sample.at_ns + sample.window_ns for sample in samples) - min(begun)
    return sum(sample.window_ns for sample in samples) / ROUNDING / max(1, lasted_ns)


def _reads(evidence: Evidence) -> Iterator[VerifyRecord]:
    """What was delivered before anything was written."""
    for verify in evidence.journal.all(VerifyRecord):
        if verify.set < 0 and verify.ok and verify.digest and not evidence.writes(verify.workload, verify.phase):
            yield verify


def _phase_rows(verify: VerifyRecord) -> tuple[str, str]:
    """`workload.phase`, and how many rows were delivered."""
    return f"{verify.workload}.{verify.phase}", verify.digest.partition(":")[0]


def digests(evidence: Evidence) -> dict[str, str]:
    """`workload.phase:rows` → fingerprint of what was delivered: runs of the same data must agree in it."""
    return {":".join(_phase_rows(verify)): verify.digest for verify in _reads(evidence)}


def _unproven(analysis: Analysis) -> Iterator[str]:
    ranked = [row for ranking in analysis.rankings for row in ranking.rows if row.rank]
    if not ranked and not analysis.answer.groups:
        yield "it ranks no path"
    if unproven := list(dict.fromkeys(row.name for row in ranked if row.reason.startswith("rows not verified"))):
        yield f"the rows of {_some(unproven)} were not verified"


def _not_quiet(evidence: Evidence, analysis: Analysis) -> Iterator[str]:
    if analysis.refusal:
        yield "the machine was too busy for some of its paths"
    samples = evidence.journal.all(SampleRecord)
    disturbed = sum(bool(sample.disturbed) for sample in samples) / max(1, len(samples))
    if disturbed > MOST_DISTURBED:
        yield f"{text.share(disturbed)} of its blocks were disturbed, more than {text.share(MOST_DISTURBED)}"
    if ours := sum(any(user.kind == "ours" for user in sample.core_users) for sample in samples):
        yield f"Rowpath itself disturbed {ours} of its blocks"


def _not_stated(evidence: Evidence, analysis: Analysis) -> Iterator[str]:
    run = evidence.journal.run
    missing = [name for name in STATED if not run.environment.get(name)]
    missing += [name for name in ("started", "rowpath") if not getattr(run, name)]
    if missing:
        yield f"it does not state {words(name.replace('_', ' ') for name in missing)}"
    ranked = {row.path_id for ranking in analysis.rankings for row in ranking.rows if row.rank}
    silent = [
        path.name
        for path in analysis.path_details
        if path.path_id in ranked
        and evidence.coordinate(path.path_id, "engine") != "null"
        and not path.versions.get("driver")
    ]
    if silent:
        yield f"it does not state the driver's version of {_some(silent)}"


def _some(names: list[str]) -> str:
    return words(names[:NAMED] + [f"{len(names) - NAMED} more"] * (len(names) > NAMED))
