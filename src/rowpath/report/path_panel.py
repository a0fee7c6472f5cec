"""What a path's row opens to: its coordinates, what differs from its neighbour, its figures, blocks, trust, command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from markupsafe import Markup

from rowpath import text as fmt
from rowpath.analysis.answer_model import Bar, PhaseAnswer
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis, Neighbour, PathDetails
from rowpath.analysis.wording import ratio_text
from rowpath.drawing.picture import Difference, Panel
from rowpath.drawing.scale import Block, blocks
from rowpath.report import statement

FIGURES = (
    "round_trips",
    "bytes_sent",
    "bytes_received",
    "client_cpu",
    "server_cpu",
    "client_peak_memory",
    "server_peak_memory",
    "prepare",
    "first_row",
    "commits",
    "syncs",
    "system_calls",
    "deferred",
    "lines_of_code",
)
BLOCKS_DRAWN = 9_000  # on a page; each is about ten bytes
# With more of them a panel leaves out what stands elsewhere: the query, the coordinates that its command names.
FEW_PATHS = 60
BLOCKS_LEAST = 15  # of a path

Phase = tuple[str, str, str]  # workload, phase, regime


class Panels:
    """Makes the panels of a run."""

    def __init__(self, analysis: Analysis, lookup: Lookup) -> None:
        self.analysis = analysis
        self.lookup = lookup
        self.details: dict[str, PathDetails] = {each.path_id: each for each in analysis.path_details}
        self.neighbours: dict[tuple[str, str, str, str], Neighbour] = {
            (each.path_id, each.workload, each.phase, each.regime): each for each in analysis.neighbours
        }
        self.programs = (
            {each.name: number for number, each in enumerate(analysis.probe.snippets)} if analysis.probe else {}
        )
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
        command = fmt.clean(own.command) if own else ""
        adapter = own.source if own and own.source in self.codes else ""
        return Panel(
            coordinates=self._coordinates(name, command),
            neighbour=fmt.clean(there),
            against=ratio_text(against.ratio, against.low, against.high) if against else "",
            differences=tuple(self._differences(bar.path_id, name, neighbour.other_id, there)) if neighbour else (),
            versions=_versions(own.versions) if own else "",
            figures=tuple(self._figures(name, where, bar)),
            query=self._query(name, where),
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

    def _differences(self, path_id: str, name: str, other_id: str, there: str) -> Iterator[Difference]:
        a, b = self.lookup.coordinates(name), self.lookup.coordinates(there)
        for key in dict.fromkeys((*a, *b)):
            values = a.get(key, "none"), b.get(key, "none")
            if values[0] != values[1]:
                yield Difference(key, *map(fmt.clean, values))
        own, other = self.details.get(path_id), self.details.get(other_id)
        if own is None or other is None:
            return
        for here, beside in ((own.versions, other.versions), (own.settings, other.settings)):
            for key in dict.fromkeys((*here, *beside)):
                if a.get("driver") != b.get("driver") and not (key in here and key in beside):
                    continue  # what only one of two drivers reports is no difference between them
                values = here.get(key, fmt.MISSING), beside.get(key, fmt.MISSING)
                if values[0] != values[1]:
                    yield Difference(key.replace("_", " "), *map(fmt.clean, values))

    def _figures(self, name: str, where: Phase, bar: Bar) -> Iterator[tuple[str, str]]:
        measured = self.lookup.measured(*where)
        for metric in FIGURES:
            found = measured.text(metric, name)
            if found != fmt.MISSING:
                yield fmt.metric(metric), found
        if bar.waiting_ns is not None:
            yield "waiting", fmt.duration(bar.waiting_ns)
        cold = self.lookup.measured(*where[:2], "cold").text("time", name)
        if where[2] != "cold" and cold != fmt.MISSING:
            yield "first pass, cold", cold

    def _query(self, name: str, where: Phase) -> str:
        common = statement.common(self.analysis, *where[:2]) if len(self.analysis.names) <= FEW_PATHS else ""
        return statement.own(self.analysis, *where[:2], self.lookup.coordinate(name, "engine")) or common

    def _trust(self, name: str, where: Phase, bar: Bar) -> str:
        time = self.lookup.measured(*where).result("time", name)
        if time is None:
            return ""
        found = self.blocks.get((name, *where), [])
        disturbed = sum(each.disturbed for each in found)
        parts = [
            f"{_count(time.sets, 'set')}, {_count(time.blocks, 'block')}",
            f"{disturbed} disturbed" if found else "",
            f"interval ±{fmt.share((time.high - time.low) / 2 / time.median)}"
            if time.low is not None and time.high is not None and time.median
            else "no interval",
            "provisional" if bar.provisional else "",
            "rows proven" if time.digest else "rows without a digest",
        ]
        return "; ".join(filter(None, parts))

    def _drawn(self, name: str, where: Phase) -> tuple[Markup, str]:
        found = self.blocks.get((name, *where), [])
        if len(found) < 2:
            return Markup(""), ""
        most = max(BLOCKS_LEAST, BLOCKS_DRAWN // len(self.blocks))
        step = -(-len(found) // most)
        costs = sorted(each.cost_ns for each in found)
        least, greatest = fmt.duration(costs[0]), fmt.duration(costs[-1])
        drawn = f"One block in {step} of {len(found)}" if step > 1 else f"{len(found)} blocks"
        return blocks(found[::step], borders=step == 1), f"{drawn} as they ran: {least} to {greatest}."


def codes(analysis: Analysis) -> dict[str, str]:
    """The adapters' texts that the page holds, by file: all of them, or none where there are many paths."""
    return analysis.sources if len(analysis.names) <= FEW_PATHS else {}


def varying(paths: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """The coordinates in which some of these paths differ; what only floors lack does not count."""
    listed = [path for path in paths if path]
    reaching = [path for path in listed if path.get("engine") != "null"] or listed
    keys = dict.fromkeys(key for path in reaching for key in path)
    return tuple(key for key in keys if len({path.get(key, "none") for path in reaching}) > 1)


def _versions(versions: Mapping[str, str]) -> str:
    return fmt.clean(", ".join(f"{name} {value}" for name, value in versions.items() if name in ("driver", "engine")))


def _blocks(order: Any) -> dict[tuple[str, str, str, str], list[Block]]:
    """The blocks of the diagnostics `order` by path and phase, as they ran; those without a cost are left out."""
    found: dict[tuple[str, str, str, str], list[Block]] = {}
    for each in order if isinstance(order, list | tuple) else ():
        if isinstance(each, Mapping) and each.get("cost_ns") and "phase" in each:
            key = str(each["name"]), str(each["workload"]), str(each["phase"]), str(each["regime"])
            block = Block(int(each["set"]), float(each["cost_ns"]), bool(each["disturbed"]))
            found.setdefault(key, []).append(block)
    return found


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
