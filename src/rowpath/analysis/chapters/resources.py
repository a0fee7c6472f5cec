"""What an operation costs besides time, what came before it, and how cold compares with steady."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rowpath import text as fmt
from rowpath.analysis.chapter import Chapter, RankedPhase
from rowpath.drawing.grid import Cell, Grid, figure, line, of_lines, without_empty, word
from rowpath.drawing.section import Section
from rowpath.model.metrics import shown_in, title


def _resources(phase: RankedPhase) -> Iterator[Section]:
    """CPU, memory, round trips, bytes and disk of each path, and the lines of its adapter."""
    code, closure = phase.lookup.lines_of_code, phase.lookup.lines_of_code_closure
    lines = (
        line(
            *_cells(shown_in("costs"), phase, name),
            figure("lines of code", fmt.count(code.get(name)), 1),
            figure("with families", fmt.count(closure.get(name)), 1),
        )
        for name in phase.names
    )
    caption = f"Resources per operation ({phase.measured.regime})"
    grid = without_empty(of_lines(caption, lines, "–: not available on this machine or for this path."))
    yield Section(f"{phase.key}-resources", grid)


def _effort(phase: RankedPhase) -> Iterator[Section]:
    """Connecting, preparing, executing, first row and the rest, each timed apart, and what warming up took."""
    lines = (line(*_cells(shown_in("effort"), phase, name)) for name in phase.names)
    table = without_empty(of_lines(f"Where the time goes ({phase.measured.regime})", lines))
    rows = tuple(row for row in table.rows if any(cell != fmt.MISSING for cell in row.cells[1:]))
    yield Section(f"{phase.key}-effort", Grid(table.caption, table.columns, rows if len(table.columns) > 1 else ()))


def _cells(metrics: Sequence[str], phase: RankedPhase, name: str) -> Iterator[Cell]:
    yield word("path", name)
    for metric in metrics:
        yield figure(title(metric), phase.measured.text(metric, name), 1)


def _regimes(phase: RankedPhase) -> Iterator[Section]:
    """The first pass of a fresh process beside the steady one; no rows when only one regime was measured."""
    lines = []
    for name in phase.names:
        cold, steady = (phase.in_regime(regime).result("time", name) for regime in ("cold", "steady"))
        if not cold or not steady or not cold.median or not steady.median:
            continue
        row = line(
            word("path", name),
            figure("cold", fmt.duration(cold.median), 1),
            figure("cold, best of five", fmt.duration(cold.best_of_five), 1),
            figure("steady", fmt.duration(steady.median), 1),
            figure("steady, least", fmt.duration(steady.min), 1),
            figure("cold ÷ steady", fmt.ratio(cold.median / steady.median), 1),
        )
        lines.append(row)
    yield Section(f"{phase.key}-regimes", without_empty(of_lines("Cold beside steady, time per operation", lines)))


COSTS: Chapter[None] = Chapter("resources", of_phase=_resources)
EFFORTS: Chapter[None] = Chapter("effort", of_phase=_effort)
REGIMES: Chapter[None] = Chapter("regimes", of_phase=_regimes)
