"""What a path's row opens to: its coordinates, what differs from its neighbour, its figures, blocks, trust, command."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from markupsafe import Markup

from rowpath import text as fmt
from rowpath.analysis.answer_model import Bar, PhaseAnswer
from rowpath.analysis.chapters.probe import CHAPTER as PROBE
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis, Neighbour, PathDetails
from rowpath.analysis.wording import ratio_text
from rowpath.drawing.picture import Panel, PanelDifference
from rowpath.drawing.scale import Block, blocks
from rowpath.model.metrics import shown_in, title
from rowpath.model.workload import with_columns

BLOCKS_DRAWN = 9_000  # on a page; each is about ten bytes
# With more of them a panel leaves out what stands elsewhere: the query, the coordinates that its command names.
FEW_PATHS = 60
BLOCKS_LEAST = 15  # of a path
LONGEST_QUERY = 20_000  # characters that are shown
_DDL = re.compile(r"\{(create|drop):([^{}]+)\}")

Phase = tuple[str, str, str]  # workload, phase, regime


class Panels:
    """Makes the panels of a run."""

    def __init__(self, analysis: Analysis, lookup: Lookup) -> None:
        self.analysis = analysis
        self.lookup = lookup
        self.details: dict[str, PathDetails] = {path.path_id: path for path in analysis.path_details}
        self.neighbours: dict[tuple[str, str, str, str], Neighbour] = {
            (one.path_id, one.workload, one.phase, one.regime): one for one in analysis.neighbours
        }
        snippets = probe.snippets if (probe := PROBE.of(analysis)) else ()
        self.programs = {snippet.name: number for number, snippet in enumerate(snippets)}
        self.codes = list(codes(analysis))
        self.varying = varying(lookup.coordinates(name) for name in analysis.names.values())
        self.blocks = _blocks(analysis.diagnostics.get("order"))

    def panel(self, phase: PhaseAnswer, bar: Bar) -> Panel:
        """What the row of a path in a phase's leading ranking opens to."""
        where = phase.workload, phase.phase, phase.regime
        neighbour = self.neighbours.get((bar.path_id, *where))
        there = self.analysis.names.get(neighbour.other_id, "") if neighbour else ""
        name = self.analysis.names.get(bar.path_id, bar.name)
        drawn, drawn_text = self._drawn(name, where)
        own = self.details.get(bar.path_id)
        against = neighbour.against if neighbour else None
        command, versions = (fmt.clean(own.command), own.versions) if own else ("", {})
        adapter = own.source if own and own.source in self.codes else ""
        common = statement(self.analysis, *where[:2]) if len(self.analysis.names) <= FEW_PATHS else ""
        return Panel(
            coordinates=self._coordinates(name, command),
            neighbour=fmt.clean(there),
            against=ratio_text(against.ratio, against.low, against.high) if against else "",
            differences=tuple(self._differences(bar.path_id, name, neighbour.other_id, there)) if neighbour else (),
            versions=", ".join(
                f"{what} {fmt.clean(versions[what])}" for what in versions if what in ("driver", "engine")
            ),
            figures=tuple(self._figures(name, where, bar)),
            query=statement(self.analysis, *where[:2], self.lookup.coordinate(name, "engine"))
            or common
            or sent(own, *where[:2]),
            program=f"program-{self.programs[name]}" if name in self.programs else "",
            adapter=fmt.clean(adapter),
            code=f"code-{self.codes.index(adapter)}" if adapter else "",
            command=command,
            trust=self._trust(name, where, bar),
            blocks=drawn,
            blocks_text=drawn_text,
        )

    def _coordinates(self, name: str, command: str) -> str:
        own = self.lookup.coordinates(name)
        words = [f"{key}={fmt.clean(value)}" for key, value in own.items() if key in self.varying]
        said = len(self.analysis.names) > FEW_PATHS and set(words) <= set(command.split())
        return "" if said else " ".join(words)

    def _differences(self, path_id: str, name: str, other_id: str, there: str) -> Iterator[PanelDifference]:
        a, b = self.lookup.coordinates(name), self.lookup.coordinates(there)
        for key in dict.fromkeys((*a, *b)):
            values = a.get(key, "none"), b.get(key, "none")
            if values[0] != values[1]:
                yield PanelDifference(key, *map(fmt.clean, values))
        own, other = self.details.get(path_id), self.details.get(other_id)
        if own is None or other is None:
            return
        for here, beside in ((own.versions, other.versions), (own.settings, other.settings)):
            for key in dict.fromkeys((*here, *beside)):
                if a.get("driver") != b.get("driver") and not (key in here and key in beside):
                    continue  # what only one of two drivers reports is no difference between them
                values = here.get(key, fmt.MISSING), beside.get(key, fmt.MISSING)
                if values[0] != values[1]:
                    yield PanelDifference(key.replace("_", " "), *map(fmt.clean, values))

    def _figures(self, name: str, where: Phase, bar: Bar) -> Iterator[tuple[str, str]]:
        measured = self.lookup.measured(*where)
        for metric in shown_in("panel"):
            figure = measured.text(metric, name)
            if figure != fmt.MISSING:
                yield title(metric), figure
        if bar.waiting_ns is not None:
            yield "waiting", fmt.duration(bar.waiting_ns)
        cold = self.lookup.measured(*where[:2], "cold").text("time", name)
        if where[2] != "cold" and cold != fmt.MISSING:
            yield "first pass, cold", cold

    def _trust(self, name: str, where: Phase, bar: Bar) -> str:
        time = self.lookup.measured(*where).result("time", name)
        if time is None:
            return ""
        own = self.blocks.get((name, *where), [])
        parts = [
            f"{fmt.counted(time.sets, 'set')}, {fmt.counted(time.blocks, 'block')}",
            f"{sum(block.disturbed for block in own)} disturbed" if own else "",
            f"interval ±{fmt.share((time.high - time.low) / 2 / time.median)}"
            if time.low is not None and time.high is not None and time.median
            else "no interval",
            "provisional" if bar.provisional else "",
            "rows proven" if time.digest else "rows without a digest",
        ]
        return "; ".join(filter(None, parts))

    def _drawn(self, name: str, where: Phase) -> tuple[Markup, str]:
        own = self.blocks.get((name, *where), [])
        if len(own) < 2:
            return Markup(""), ""
        most = max(BLOCKS_LEAST, BLOCKS_DRAWN // len(self.blocks))
        step = -(-len(own) // most)
        costs = [block.cost_ns for block in own]
        least, greatest = fmt.duration(min(costs)), fmt.duration(max(costs))
        drawn = f"One block in {step} of {len(own)}" if step > 1 else f"{len(own)} blocks"
        return blocks(own[::step], borders=step == 1), f"{drawn} as they ran: {least} to {greatest}."


def sent(path: PathDetails | None, workload: str, phase: str) -> str:
    """The statements of one operation as a proxy read them, a line each; equal ones once, with their number."""
    texts = path.sent.get(f"{workload}.{phase}", ()) if path else ()
    lines = (f"{times} × {text}" if times > 1 else text for text, times in Counter(texts).items())
    shown = "\n".join(" ".join(fmt.clean(line).split()) for line in lines)
    return shown if len(shown) <= LONGEST_QUERY else f"{shown[:LONGEST_QUERY]} … ({len(shown):,} characters)"


def codes(analysis: Analysis) -> dict[str, str]:
    """The adapters' texts that the page holds, by file: all of them, or none where there are many paths."""
    return analysis.sources if len(analysis.names) <= FEW_PATHS else {}


def varying(paths: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """The coordinates in which some of these paths differ; what only floors lack does not count."""
    listed = [path for path in paths if path]
    reaching = [path for path in listed if path.get("engine") != "null"] or listed
    keys = dict.fromkeys(key for path in reaching for key in path)
    return tuple(key for key in keys if len({path.get(key, "none") for path in reaching}) > 1)


def _blocks(order: Any) -> dict[tuple[str, str, str, str], list[Block]]:
    """The blocks of the diagnostics `order` by path and phase, as they ran; those without a cost are left out."""
    by_path: dict[tuple[str, str, str, str], list[Block]] = {}
    for record in order if isinstance(order, list | tuple) else ():
        if isinstance(record, Mapping) and record.get("cost_ns") and "phase" in record:
            key = str(record["name"]), str(record["workload"]), str(record["phase"]), str(record["regime"])
            block = Block(int(record["set"]), float(record["cost_ns"]), bool(record["disturbed"]))
            by_path.setdefault(key, []).append(block)
    return by_path


def statement(analysis: Analysis, workload: str, phase: str, engine: str = "") -> str:
    """The SQL of a phase as a reader knows it: columns named, what is the engine's own DDL in outline.

    Without an engine what those without a dialect of their own get; else what only that engine gets. Empty where it
    gets the common statement, or the journal does not say.
    """
    known = analysis.run.phase(workload, phase)
    if known is None:
        return ""
    sql = known.dialects.get(engine, "") if engine else known.sql
    named = with_columns(analysis.run.workloads[workload], known, sql)
    shown = fmt.clean(_DDL.sub(lambda match: f"{match[1].upper()} TABLE {match[2]}", named))
    return shown if len(shown) <= LONGEST_QUERY else f"{shown[:LONGEST_QUERY]} … ({len(shown):,} characters)"
