"""What was published beside what was measured here: claims with their outcomes, and figures column by column."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rowpath import text as fmt
from rowpath.analysis import claims as checks
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import ClaimCheck, Published
from rowpath.drawing.grid import Grid, figure, line, of_lines, without_empty, word, words
from rowpath.drawing.picture import Picture, PlainBar, plain
from rowpath.drawing.section import Opening, Section
from rowpath.model.grouping import grouped


def claims(evidence: Evidence) -> tuple[ClaimCheck, ...]:
    """Every claim of the experiment with its outcome and figure."""
    return checks.check_claims(evidence, evidence.journal.run.experiment.claims)


def _claims_sections(checked: tuple[ClaimCheck, ...], _lookup: Lookup) -> Iterator[Section]:
    lines = (
        line(
            *words(claim=claim.claim, here=claim.outcome, figure=claim.figure),
            word("id", claim.id, 1, code=True),
            status=claim.outcome,
        )
        for claim in checked
    )
    holding = sum(claim.outcome == "holds" for claim in checked)
    failing = sum(claim.outcome == "does not hold" for claim in checked)
    uncertain = len(checked) - holding - failing
    counted = [
        (holding, "hold" if holding != 1 else "holds"),
        (failing, "do not hold" if failing != 1 else "does not hold"),
    ]
    counted.append((uncertain, "are uncertain" if uncertain != 1 else "is uncertain"))
    named = [f"{count} {what}" for count, what in counted if count]
    sentence = f"Of {len(checked)} published claims {', '.join(named)} here."
    yield Section("claims", of_lines("Published claims and measured results", lines), Opening(sentence))


def published(evidence: Evidence) -> tuple[Published, ...]:
    """Every published figure of the experiment beside the measured one."""
    return tuple(checks.published(evidence, evidence.journal.run.experiment.published))


def _sentences(figures: tuple[Published, ...]) -> Iterator[Sentence]:
    return (Sentence("published", text) for text in checks.order_sentences(figures))


def _sections(figures: tuple[Published, ...], _lookup: Lookup) -> Iterator[Section]:
    """One for each column."""
    for number, (column, rows) in enumerate(grouped(figures, lambda row: row.column).items()):
        yield Section(f"published-{number}", _grid(column, rows), Opening(_sentence(rows), bars=_picture(column, rows)))


def _grid(column: str, rows: Sequence[Published]) -> Grid:
    """The figures of one published column, each beside the one measured here."""
    lines = (
        line(
            word("published", row.row),
            figure("figure", f"{fmt.count(row.value)} {fmt.clean(row.unit)}"),
            figure("to reference", fmt.ratio(row.ratio)),
            word("measured here", row.measured_name or fmt.MISSING),
            figure("figure here", fmt.figure(row.measured_value, row.unit)),
            figure("to reference here", fmt.ratio(row.measured_ratio)),
            word("note", row.note, 1),
        )
        for row in rows
    )
    return without_empty(of_lines(f"Published: {fmt.clean(column)}", lines))


def _picture(column: str, rows: Sequence[Published]) -> Picture | None:
    """Ratios to the reference measured here as bars, each with a line to the published ratio."""
    return plain(
        "published",
        fmt.clean(column),
        (
            PlainBar(
                name=fmt.clean(row.row),
                value=here,
                text=fmt.ratio(ratio),
                low=min(ratio, here),
                high=max(ratio, here),
                ratio=fmt.ratio(here),
                note=fmt.clean(row.measured_name),
            )
            for row, ratio, here in _known(rows)
        ),
        fmt.ratio,
        "Ratio to the reference row on a logarithmic axis. The bar ends at the ratio measured here (×); the line leads "
        "from there to the published ratio.",
        uncut=True,
    )


def _sentence(rows: Sequence[Published]) -> str:
    """Which published ratio is furthest from the one measured here."""
    others = [(ratio, here, row) for row, ratio, here in _known(rows) if (ratio, here) != (1.0, 1.0)]
    if not others:
        return ""
    ratio, here, furthest = max(others, key=lambda known: abs(math.log(known[1] / known[0])))
    return (
        f"Furthest from the published ratio is {fmt.clean(furthest.row)}: {fmt.ratio(here)} here, "
        f"by medians, {fmt.ratio(ratio)} published."
    )


def _known(rows: Sequence[Published]) -> list[tuple[Published, float, float]]:
    """The rows that were measured here, with the published ratio and the one here."""
    return [(row, row.ratio, row.measured_ratio) for row in rows if row.ratio and row.measured_ratio]


CLAIMS = Chapter("claims", claims, _claims_sections, place="claims")
PUBLISHED = Chapter("published", published, _sections, _sentences, place="published")
