"""What many operations take together: an experiment's `per_operations`, in seconds, with CPU and memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rowpath import text as fmt
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.lookup import Lookup, PhaseFigures
from rowpath.drawing.grid import Grid, figure, line, of_lines, without_empty, word
from rowpath.drawing.section import Section, section_key
from rowpath.model.grouping import grouped


def _sections(_nothing: None, lookup: Lookup) -> Iterator[Section]:
    """One per ranked phase."""
    analysis = lookup.analysis
    many = analysis.run.experiment.per_operations
    together = grouped(analysis.rankings if many else (), lambda ranking: (ranking.workload, ranking.phase))
    for (workload, phase), rankings in together.items():
        # Published figures are of fresh programs: the cold ones are what stands beside them.
        regime = "cold" if any(ranking.regime == "cold" for ranking in rankings) else "steady"
        names = dict.fromkeys(row.name for ranking in rankings for row in ranking.rows if row.is_ranked)
        table = grid(lookup.measured(workload, phase, regime), names, lookup, many)
        yield Section(section_key(workload, phase, "many"), table, leading=True)


def grid(measured: PhaseFigures, names: Iterable[str], lookup: Lookup, operations: int) -> Grid:
    """Seconds, CPU seconds of both sides and peak memory of this many operations."""

    def seconds(ns: float | None) -> str:
        return fmt.MISSING if ns is None else f"{ns * operations / 1e9:.2f}"

    lines = []
    for name in names:
        took = measured.median("time", name)
        if took is None or lookup.coordinate(name, "engine") == "null":
            continue
        client, server = measured.median("client_cpu", name), measured.median("server_cpu", name)
        served = lookup.coordinate(name, "deployment") == "server"
        both = client if not served or client is None else None if server is None else client + server
        row = line(
            word("path", name),
            figure("seconds", seconds(took)),
            figure("CPU s, client", seconds(client)),
            figure("CPU s, server", seconds(server)),
            figure("CPU s, both", seconds(both)),
            figure("client peak memory", measured.text("client_peak_memory", name)),
            figure("server peak memory", measured.text("server_peak_memory", name)),
        )
        lines.append((took, row))
    title = f"{measured.workload}.{measured.phase}: {operations:,} operations ({measured.regime})"
    note = "Peak memory of a server includes the whole server and its caches."
    ordered = (row for _took, row in sorted(lines, key=lambda pair: pair[0]))
    return without_empty(of_lines(title, ordered, note))


CHAPTER: Chapter[None] = Chapter("many_operations", sections=_sections)
