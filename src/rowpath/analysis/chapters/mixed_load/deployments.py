"""One engine embedded and behind a server: the rates of each group, and databases copied from one to the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from rowpath import text as fmt
from rowpath.analysis.client_groups import GroupValues, interval
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import ratio_text
from rowpath.analysis.wording import words as in_words
from rowpath.drawing.grid import Grid, figure, line, of_lines, ratio, without_empty, word, words
from rowpath.drawing.picture import Picture, PlainBar, plain
from rowpath.journal.mixed_load_records import DirectoryCopyRecord
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped

# Coordinates in which an embedded path and one behind a server may differ and still be the same otherwise.
DEPLOYED = ("deployment", "driver", "version", "transport", "tls", "processes", "placement")
LONGEST = 4  # figures in one sentence


class GroupRatio(Frozen, frozen=True):
    """A group's rate behind a server ÷ its rate on the same engine embedded, over the sets that both are in."""

    stage: str
    client_group: str
    server: str  # names of the paths
    embedded: str
    ratio: float
    low: float | None
    high: float | None
    sets: int


class DirectoryCopy(Frozen, frozen=True):
    """A database directory copied from one deployment or version to another, and what came of it."""

    source: str
    target: str
    bytes: int
    digest: str
    expected: str
    ok: bool
    seconds: float
    reason: str = ""


def ratios(evidence: Evidence) -> Iterator[GroupRatio]:
    """Every group of every stage behind a server against the same engine embedded, paths that differ in no more."""
    rates = [values for values in evidence.group_values if values.metric == "group_rate"]
    for server in rates:
        for embedded in rates:
            if not _deployed_apart(server, embedded):
                continue
            shared = sorted(server.values.keys() & embedded.values.keys())
            quotients = (server.values[number] / embedded.values[number] for number in shared)
            if change := interval(quotients, evidence.cells.confidence):
                compared = server.path.name, embedded.path.name, *change.ratios, change.sets
                yield GroupRatio(server.stage, server.client_group, *compared)


def _deployed_apart(server: GroupValues, embedded: GroupValues) -> bool:
    if server.at_work[1:] != embedded.at_work[1:]:
        return False
    one, other = server.path, embedded.path
    keys = one.coordinates.keys() | other.coordinates.keys()
    return one.served and other.embedded and all(one.get(key) == other.get(key) for key in keys - set(DEPLOYED))


def moves(evidence: Evidence) -> Iterator[DirectoryCopy]:
    """Every database directory that was copied."""
    for copy in evidence.journal.all(DirectoryCopyRecord):
        delivered = copy.digest, copy.expected, copy.ok
        yield DirectoryCopy(copy.source, copy.target, copy.bytes, *delivered, copy.ns / 1e9, copy.reason)


def ratio_sentences(ratios: Iterable[GroupRatio]) -> Iterator[str]:
    """One for each pair of paths: the groups that the server's way changes most."""
    for (server, embedded), alike in grouped(ratios, lambda one: (one.server, one.embedded)).items():
        changed = [one for one in alike if one.high is not None and not (one.low or 0) <= 1 <= one.high]
        if all(one.low is None for one in alike):
            yield f"{server} vs {embedded}: only one set, so no confidence interval and no claim."
        elif not changed:
            yield f"{server} vs {embedded}: no significant difference in throughput in any stage."
        else:
            most = sorted(changed, key=lambda one: -abs(math.log(one.ratio)))[:LONGEST]
            ends = {one: ratio_text(one.ratio, one.low, one.high) for one in most}
            listed = in_words(f"{one.client_group} in '{one.stage}' {text}" for one, text in ends.items())
            rest = len(alike) - len(changed)
            more = f"; for {rest} of {len(alike)} the difference is uncertain" if rest else ""
            yield f"Throughput of {server} ÷ {embedded}: {listed}{more}."


def move_sentences(moves: Iterable[DirectoryCopy]) -> Iterator[str]:
    """What was opened with the same rows, and what was not."""
    copied: dict[tuple[str, str], dict[str, None]] = {}
    for move in moves:
        if move.ok:
            copied.setdefault((move.source, fmt.size(move.bytes)), {})[move.target] = None
        else:
            yield f"A database of {move.source} differs in {move.target}: {move.reason or 'a different digest'}."
    for (source, size), targets in copied.items():
        yield f"A database of {source}, copied ({size}) and opened by {in_words(targets)}, holds the same rows."


def ratios_grid(ratios: Iterable[GroupRatio]) -> Grid:
    """Each group's rate behind a server relative to its rate on the same engine embedded."""
    lines = (
        line(
            *words(stage=one.stage, group=one.client_group, server=one.server, embedded=one.embedded),
            *ratio("server ÷ embedded", one.ratio, one.low, one.high),
            figure("sets", str(one.sets), 1),
        )
        for one in ratios
    )
    return of_lines("Rates: server against embedded, same engine", lines)


def ratio_bar(name: str, value: float, low: float | None, high: float | None, note: str = "") -> PlainBar:
    """A ratio of rates as a bar."""
    return PlainBar(
        name=fmt.clean(name),
        value=value,
        text="",
        low=low,
        high=high,
        ratio=fmt.ratio(value),
        interval=fmt.interval(low, high),
        note=fmt.clean(note),
    )


def ratios_picture(ratios: Iterable[GroupRatio]) -> Picture | None:
    """Each group's rate behind a server relative to embedded."""
    return plain(
        "ratios",
        "Rate behind a server ÷ embedded",
        (
            ratio_bar(f"{one.client_group}, {one.stage}", one.ratio, one.low, one.high, one.server)
            for one in sorted(ratios, key=lambda one: -one.ratio)
        ),
        fmt.ratio,
        "Rate behind a server ÷ the same engine's embedded, on a logarithmic axis: below 1 the server is slower. "
        "The line at a bar's end is its 95 % interval.",
    )


def ratios_sentence(ratios: Sequence[GroupRatio]) -> str:
    """The range of the server's rates, relative to embedded."""
    if not ratios:
        return ""
    low, high = (chosen(ratios, key=lambda one: one.ratio) for chosen in (min, max))
    ends = {
        f"{ratio_text(one.ratio, one.low, one.high)} for {fmt.clean(one.client_group)} in {fmt.clean(one.stage)}": None
        for one in (low, high)
    }
    return f"Rates behind a server ÷ embedded: {' to '.join(ends)}."


def moves_grid(moves: Sequence[DirectoryCopy]) -> Grid:
    """Database directories that were copied under another engine, and whether it delivered the same rows."""
    lines = (
        line(
            word("from", move.source),
            word("to", move.target),
            figure("size", fmt.size(move.bytes), 2),
            figure("time", fmt.duration(move.seconds * 1e9), 1),
            word("rows after it", "the same" if move.ok else "different" if move.digest else "none"),
            word("digest", move.digest, 3, code=True),
            word("expected", move.expected, 4, code=True),
            status="ok" if move.ok else "wrong",
        )
        for move in moves
    )
    reasons = (fmt.clean(f"{move.target}: {move.reason}.") for move in moves if move.reason)
    return without_empty(of_lines("Databases copied as directories", lines, " ".join(reasons)))
