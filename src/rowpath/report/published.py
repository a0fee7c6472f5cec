"""Published figures and claims beside what was measured here."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rowpath import text as fmt
from rowpath.analysis.model import ClaimCheck, Published
from rowpath.drawing.grid import Grid, figure, line, of_lines, without_empty, word, words
from rowpath.drawing.picture import Picture, PlainBar, plain


def claims_grid(claims: Sequence[ClaimCheck]) -> Grid:
    """Every claim with its outcome and figure."""
    lines = (
        line(
            *words(claim=each.claim, here=each.outcome, figure=each.figure),
            word("id", each.id, 1, code=True),
            status=each.outcome,
        )
        for each in claims
    )
    return of_lines("Published claims and measured results", lines)


def claims_sentence(claims: Sequence[ClaimCheck]) -> str:
    """How many claims hold here."""
    holding = sum(each.outcome == "holds" for each in claims)
    failing = sum(each.outcome == "does not hold" for each in claims)
    uncertain = len(claims) - holding - failing
    counted = [(holding, "hold" if holding != 1 else "holds"), (failing, "do not" if failing != 1 else "does not")]
    counted.append((uncertain, "are uncertain" if uncertain != 1 else "is uncertain"))
    named = [f"{count} {what}" for count, what in counted if count]
    return f"Of {len(claims)} published claims {', '.join(named)} here."


def published_grid(column: str, rows: Sequence[Published]) -> Grid:
    """The figures of one published column, each beside the one measured here."""
    lines = (
        line(
            word("published", each.row),
            figure("figure", f"{fmt.count(each.value)} {fmt.clean(each.unit)}"),
            figure("to reference", fmt.ratio(each.ratio)),
            word("measured here", each.measured_name or fmt.MISSING),
            figure("figure here", fmt.figure(each.measured_value, each.unit)),
            figure("to reference here", fmt.ratio(each.measured_ratio)),
            word("note", each.note, 1),
        )
        for each in rows
    )
    return without_empty(of_lines(f"Published: {fmt.clean(column)}", lines))


def published_picture(column: str, rows: Sequence[Published]) -> Picture | None:
    """Ratios to the reference measured here as bars, each with a line to the published ratio."""
    return plain(
        "published",
        fmt.clean(column),
        (
            PlainBar(
                name=fmt.clean(each.row),
                value=here,
                text=fmt.ratio(ratio),
                low=min(ratio, here),
                high=max(ratio, here),
                ratio=fmt.ratio(here),
                note=fmt.clean(each.measured_name),
            )
            for each, ratio, here in _known(rows)
        ),
        fmt.ratio,
        "Ratio to the reference row on a logarithmic axis. The bar ends at the ratio measured here (×); the line leads "
        "from there to the published ratio.",
        uncut=True,
    )


def published_sentence(rows: Sequence[Published]) -> str:
    """Which published ratio is furthest from the one measured here."""
    others = [(ratio, here, each) for each, ratio, here in _known(rows) if (ratio, here) != (1.0, 1.0)]
    if not others:
        return ""
    ratio, here, furthest = max(others, key=lambda each: abs(math.log(each[1] / each[0])))
    return (
        f"Furthest from the published ratio is {fmt.clean(furthest.row)}: {fmt.ratio(here)} here, "
        f"by medians, {fmt.ratio(ratio)} published."
    )


def _known(rows: Sequence[Published]) -> list[tuple[Published, float, float]]:
    """The rows that were measured here, with the published ratio and the one here."""
    return [(each, each.ratio, each.measured_ratio) for each in rows if each.ratio and each.measured_ratio]
