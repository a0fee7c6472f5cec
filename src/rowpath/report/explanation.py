"""Where the time of an operation goes, on the terminal: a sentence, the bar, and how each part is known."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from rowpath import text as fmt
from rowpath.model.explanation import MOST_UNEXPLAINED, Explanation, Part
from rowpath.report.bars import block

NAMED = 4  # parts in the sentence
LEAST_TOLD = 0.01  # of an operation, in the sentence
LEAST_SHARE = 0.005  # of an operation: smaller parts of a side are one line
BAR_WIDE = 30
SIDES = {"client": "client", "server": "server", "core": "waiting"}


def show(explanation: Explanation, console: Console, *, how: bool = False) -> None:
    """Print it; `how`: also by which clock each part is known."""
    for line in lines(explanation, how=how):
        console.print(line, soft_wrap=True, highlight=False)


def lines(one: Explanation, *, how: bool = False) -> Iterator[Text]:
    """The lines, without the room that a narrow terminal lacks."""
    yield Text(fmt.clean(f"{one.name} · {one.phase}"), style="bold")
    yield Text(sentence(one))
    yield Text("")
    if one.adds_up:
        parts = shown(one)
        wide = max(len(part.name) for part in parts)
        before = ""
        for part in parts:
            share = part.ns / one.operation_ns
            side = SIDES[part.side] if part.side != before else ""
            before = part.side
            figures = f"{side:<8}{fmt.clean(part.name):<{wide}}  {fmt.duration(part.ns):>8} {share:>6.1%}"
            yield Text(f"{figures}  {block(share, BAR_WIDE)}".rstrip())
            if how:
                yield Text(f"{'':<8}{part.known_by}", style="dim")
    rest = one.unexplained_ns / one.operation_ns
    yield Text(f"{'':<8}not explained: {rest:+.1%} of {fmt.duration(one.operation_ns)}", style="dim")
    if one.not_profiled:
        yield Text(f"{'':<8}{one.not_profiled}", style="dim")
    elif one.profiling_share is not None:
        profiled = f"profiled, an operation took {one.profiling_share:+.1%}: the profiler gives shares only"
        yield Text(f"{'':<8}{profiled}", style="dim")


def shown(one: Explanation) -> list[Part]:
    """The parts by side, the greatest first; the small ones of a side together."""
    found: list[Part] = []
    for side in SIDES:
        mine = sorted((part for part in one.parts if part.side == side), key=lambda part: -part.ns)
        small = [part for part in mine if part.ns < LEAST_SHARE * one.operation_ns]
        found += [part for part in mine if part not in small]
        if small and side != "core":
            total = sum(part.ns for part in small)
            found.append(Part(small[0].side, "other parts", total, small[0].known_by))
    return found


def sentence(one: Explanation) -> str:
    """What an operation's time consists of, the greatest parts first; of parts that do not add up only that."""
    time = fmt.duration(one.operation_ns)
    if not one.adds_up:
        return (
            f"{time} an operation ({fmt.duration(one.low_ns)} to {fmt.duration(one.high_ns)}). Its parts add up to "
            f"{1 - one.unexplained_ns / one.operation_ns:.0%} of it, more than {MOST_UNEXPLAINED:.0%} off: no account."
        )
    told = [part for part in one.parts if part.ns >= LEAST_TOLD * one.operation_ns]
    greatest = sorted(told, key=lambda part: -part.ns)[:NAMED]
    words = [f"{part.ns / one.operation_ns:.0%} {_in_words(part)}" for part in greatest]
    return f"Of {time}: {', '.join(words)}."


def _in_words(part: Part) -> str:
    if part.side == "core":
        return "nobody (waiting)" if part.name == "nobody" else part.name
    return f"{fmt.clean(part.name)} ({part.side})"
