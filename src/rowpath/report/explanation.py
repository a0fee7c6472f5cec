"""Where the time of an operation goes, on the terminal: a sentence, the bar, and how each part is known."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from rowpath import text as fmt
from rowpath.model.explanation import MOST_UNEXPLAINED, Explanation, Part, ServerSays, Side
from rowpath.report import hops
from rowpath.report.bars import block

NAMED = 4  # parts in the sentence
LEAST_NAMED = 0.01  # of an operation, in the sentence
LEAST_SHARE = 0.005  # of an operation: smaller parts of a side are one line
BAR_WIDE = 30
MANY_ROWS, FEW_ROWS = 1_000, 200  # of an operation that has its time by its rows; of one that stops early
LATE_SHARE = 0.1  # of an operation's time: a first row after that waits for the others
SIDES: tuple[Side, ...] = ("client", "pooler", "server", "wire", "core")


def show(explanation: Explanation, console: Console, *, how: bool = False) -> None:
    """Print it; `how`: also by which clock each part is known."""
    for line in lines(explanation, how=how):
        console.print(line, soft_wrap=True, highlight=False)


def lines(one: Explanation, *, how: bool = False) -> Iterator[Text]:
    """The lines, without the room that a narrow terminal lacks."""
    yield Text(fmt.clean(f"{one.name} · {one.phase}"), style="bold")
    yield Text(sentence(one))
    for said in sentences_beside(one):
        yield Text(said)
    yield Text("")
    if one.adds_up:
        parts = shown(one)
        wide = max(len(part.name) for part in parts)
        before = ""
        for part in parts:
            share = part.ns / one.operation_ns
            side = part.side if part.side != before else ""
            before = part.side
            figures = f"{side:<8}{fmt.clean(part.name):<{wide}}  {fmt.duration(part.ns):>8} {fmt.share(share):>7}"
            yield Text(f"{figures}  {block(share, BAR_WIDE)}".rstrip())
            if how:
                yield Text(f"{'':<8}{part.known_by}", style="dim")
    for text in not_explained(one):
        yield Text(f"{'':<8}{text}", style="dim")
    yield from hops.lines(one)


def not_explained(one: Explanation) -> Iterator[str]:
    """What the parts lack, and what profiling cost."""
    rest = one.unexplained_ns / one.operation_ns
    single = one.low_ns is None or one.high_ns is None
    between = "one block" if single else f"95 %: {fmt.duration_interval(one.low_ns, one.high_ns)}"
    disturbed = fmt.counted(one.disturbed_blocks, "disturbed block")
    again = f", {disturbed} taken again" if one.disturbed_blocks else ""
    with_stamps = ", those of the hops" if one.stamped else ""
    of = f"{fmt.count(one.operations)} operations{with_stamps}"
    operation = f"{fmt.duration(one.operation_ns)} ({between}, {of}{again})"
    yield f"not explained: {_signed(rest)} of {operation}"
    if one.not_profiled:
        yield one.not_profiled
    if one.profiling_share is not None:
        yield f"profiling changed an operation's time by {_signed(one.profiling_share)}: only shares are taken from it"


def shown(one: Explanation) -> list[Part]:
    """The parts by side, the greatest first; the small ones of a side together."""
    parts: list[Part] = []
    for side in SIDES:
        of_side = sorted((part for part in one.parts if part.side == side), key=lambda part: -part.ns)
        small = [part for part in of_side if part.ns < LEAST_SHARE * one.operation_ns and side != "wire"]
        parts += [part for part in of_side if part not in small]
        if small and side != "core":
            parts.append(Part(side, "other parts", sum(part.ns for part in small), small[0].known_by))
    return parts


def sentence(one: Explanation) -> str:
    """What an operation's time consists of, the greatest parts first; of parts that do not add up only that."""
    time = fmt.duration(one.operation_ns)
    if not one.adds_up:
        accounted = fmt.share(1 - one.unexplained_ns / one.operation_ns)
        off = f"over {MOST_UNEXPLAINED * 100:g} % are missing or too much"
        return f"An operation takes {time}. Its parts add up to {accounted} of it: {off}, so no bar is drawn."
    named = [part for part in one.parts if part.ns >= LEAST_NAMED * one.operation_ns]
    greatest = sorted(named, key=lambda part: -part.ns)[:NAMED]
    words = [f"{100 * part.ns / one.operation_ns:.0f} % {in_words(part.side, part.name)}" for part in greatest]
    return f"Of {time}: {', '.join(words)}."


def sentences_beside(one: Explanation) -> Iterator[str]:
    """What the server reports, what the number of rows says, and the speeds of the path."""
    if one.server_says is not None:
        yield server_sentence(one.server_says, one.operation_ns)
    if one.rows >= MANY_ROWS:
        yield rows_sentence(one)
    if one.hops is not None:
        yield from hops.speed_sentences(one.hops, one.operation_ns)


def server_sentence(says: ServerSays, operation_ns: float) -> str:
    """What the server says that it needs, beside what the client waits for, and the CPU of its process."""
    words = [f"The server's part is unknown: {fmt.clean(says.why)}."]
    if says.ns is not None:
        share = fmt.share(says.ns / operation_ns)
        more = ", more than the client waits: both sides work at once for a part of it" if says.overlaps else ""
        apart = [f"{fmt.duration(says.planning_ns)} of it plans"] if says.planning_ns else []
        apart += [f"{fmt.duration(says.output_ns)} of it makes the output"] if says.output_ns is not None else []
        also = f"; {', '.join(apart)}" if apart else ""
        words = [f"The server reports {fmt.duration(says.ns)} ({says.by}), {share} of it{more}{also}."]
    words += map(fmt.clean, says.notes)
    if says.cpu_ns is not None and says.cpu_ns != says.ns:
        words.append(f"Its process used {fmt.duration(says.cpu_ns)} of CPU.")
    return " ".join(words)


def rows_sentence(one: Explanation) -> str:
    """How the time follows the number of rows, and when the first of them is there."""
    each_ns = one.operation_ns / one.rows
    few = f"{FEW_ROWS} of them about {fmt.duration(one.trip_ns + FEW_ROWS * each_ns)} where the server needs no others"
    words = f"{fmt.count(round(one.rows))} rows take {fmt.duration(each_ns)} each, {few}"
    first = f"the first is there after {fmt.share(one.first_row_share)} of the time"
    late = ": this path takes the others first, a cursor or fetch size does not" * (one.first_row_share > LATE_SHARE)
    return f"{words}; {first}{late}."


def in_words(side: str, name: str) -> str:
    """A part of an operation's time with its side; what is of the core has none."""
    return fmt.clean(name) if side == "core" else f"{fmt.clean(name)} ({side})"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f} %"
