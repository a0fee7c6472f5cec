"""How many connections a program needs: the answer in one sentence, and the 99th percentile over their number."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis.answer_model import Sentence, Trust, TrustLevel
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.size_choice import LEAST_BLOCKS, SizeChoice, SizeFigures, chosen
from rowpath.drawing.grid import figure, line, of_lines, word
from rowpath.drawing.line_chart import Curve, Point, of_curves
from rowpath.drawing.section import Section, of_chart
from rowpath.model.base import Frozen
from rowpath.model.sizing import SizingQuestion, SizingStop

UNKNOWN = "how many connections suffice is not known"
FEW = 100  # operations of a block: a 99th percentile needs as many


class Sizing(Frozen, frozen=True):
    """What was asked, what the blocks say, why it ended early, and what the result cannot say."""

    question: SizingQuestion
    choice: SizeChoice
    stopped: SizingStop | None = None
    failed: int = 0  # operations
    fewest: int = 0  # operations of a block
    blocks: int = 0
    seconds: float = 0.0  # of all blocks
    caveats: tuple[str, ...] = ()


def sizing_of(evidence: Evidence) -> Sizing | None:
    """What the sizing of this run found; None when the run is none."""
    records = evidence.journal.sizing
    question = next((record.question for record in records if record.question is not None), None)
    if question is None:
        return None
    blocks = [record.block for record in records if record.block is not None]
    return Sizing(
        question,
        chosen(blocks),
        next((record.stopped for record in records if record.stopped is not None), None),
        sum(block.failed for block in blocks),
        min((block.operations for block in blocks if block.kept_up), default=0),
        len(blocks),
        sum(block.seconds for block in blocks),
        tuple(record.caveat for record in records if record.caveat),
    )


def headline(sizing: Sizing | None) -> str:
    """`9 connections, not 50: 99th percentile 4.10 ms instead of 11.0 ms at 2,000 a second; below 6 it breaks`.

    Empty of a run that is no sizing.
    """
    if sizing is None:
        return ""
    answer = _found(sizing)
    if sizing.stopped is None:
        return f"{answer[:1].upper()}{answer[1:]}"
    return f"Stopped with {connections(sizing.stopped.size)}; so far: {answer}"


def _found(sizing: Sizing) -> str:
    choice, question = sizing.choice, sizing.question
    found = choice.of(choice.found)
    if found is None:
        unkept = [one for one in choice.sizes if not one.kept_up]
        if not unkept or len(unkept) < len(choice.sizes):
            return UNKNOWN
        most = max(unkept, key=lambda one: one.rate_per_s)
        reached = f"{fmt.count(round(most.rate_per_s))} a second was reached with {connections(most.size)}"
        return f"no number keeps up with {fmt.count(question.rate_per_s)} a second: {reached}"
    percentile = f"99th percentile {fmt.duration(found.p99_ns)}"
    under = f"at {fmt.count(question.rate_per_s)} a second" if question.rate_per_s else _callers(question)
    return f"{_compared(found, choice.sizes[-1], percentile, under)}{_breaks(choice)}"


def _compared(found: SizeFigures, largest: SizeFigures, percentile: str, under: str) -> str:
    """What was found beside the largest size that was tried."""
    if found.size == largest.size:
        return f"{connections(found.size)}, the most that was tried: {percentile} {under}"
    if not largest.kept_up:
        return f"{connections(found.size)}, not {largest.size}: {percentile} {under}; with {largest.size} it breaks"
    other = fmt.duration(largest.p99_ns)
    if largest.behind:
        return f"{connections(found.size)}, not {largest.size}: {percentile} instead of {other} {under}"
    enough = f"{connections(found.size)} suffice{'s' * (found.size == 1)}: {percentile} {under}"
    return f"{enough}; {largest.size}, with {other}, are not surely better"


def _breaks(choice: SizeChoice) -> str:
    """Up to where the rate is not kept up with, as exactly as sizes were tried."""
    if choice.broken is None:
        return ""
    next_size = choice.broken + 1
    if next_size == choice.found or choice.of(next_size) is not None:
        return f"; below {next_size} it breaks" if choice.broken > 1 else "; 1 breaks"
    return f"; with {choice.broken} it breaks"


def _callers(question: SizingQuestion) -> str:
    return f"with {fmt.counted(question.callers, 'caller')}"


def connections(number: int) -> str:
    """`1 connection`, `9 connections`."""
    return fmt.counted(number, "connection")


def trust_of_sizing(sizing: Sizing, outcome: str) -> Trust:
    """One process measured all sizes: its blocks show what differs by chance, no other process confirms them."""
    partial = [f"The run is partial: {outcome}."] if outcome != "complete" else []
    blocks = f"{fmt.counted(sizing.blocks, 'block')} in one process, {fmt.clock(sizing.seconds)} under load"
    level: TrustLevel = "partial" if partial else "provisional"
    return Trust(level, f"{level}: {blocks}; rows not compared", (*partial, "One process measured all sizes."))


def sentences(sizing: Sizing | None) -> Iterator[Sentence]:
    """What stopped it, what was measured with, what was free, what is not certain."""
    if sizing is None:
        return
    question, stopped = sizing.question, sizing.stopped
    if stopped is not None:
        took, before = fmt.duration(stopped.took_ns), fmt.duration(stopped.before_ns)
        yield Sentence("sizing", f"It stopped because an empty query took {took} instead of {before}.")
    whose = "your driver" if question.yours else f"not with {question.instead}" if question.instead else ""
    whose = f", {whose}" if whose else ": --mine names a driver of yours"
    yield Sentence("sizing", f"Measured with {question.path} ({question.title}){whose}.")
    most = f"at most {connections(question.most)} were tried"
    yield Sentence("sizing", f"{question.free}: {most}, half of the free ones at most.")
    if question.others:
        yield Sentence("sizing", f"{fmt.counted(question.others, 'other session')} had worked just before.")
    if sizing.failed:
        yield Sentence("sizing", f"{fmt.counted(sizing.failed, 'operation')} failed and count in no percentile.")
    if 0 < sizing.fewest < FEW:
        few = f"A block had as few as {fmt.counted(sizing.fewest, 'operation')}"
        yield Sentence("sizing", f"{few}: its 99th percentile is its longest one. A larger --budget has longer blocks.")
    for caveat in reversed(sizing.caveats):  # the last one says why it ended
        yield Sentence("uncertain", caveat, 1)


def sections(sizing: Sizing | None, _lookup: Lookup) -> Iterator[Section]:
    """Every size that was tried, begun with the answer over the curve."""
    if sizing is None:
        return
    kept = [one for one in sizing.choice.sizes if one.kept_up and one.p99_ns and one.p50_ns]
    curves = (
        Curve("99th percentile", tuple(Point(one.size, one.p99_ns or 0, one.low_ns, one.high_ns) for one in kept)),
        Curve("median", tuple(Point(one.size, one.p50_ns or 0) for one in kept)),
    )
    chart = of_curves(
        "Latency by the number of connections; the table holds the figures",
        "latency",
        "connections",
        curves,
        fmt.duration,
        "A point is of all blocks of a size; sizes that did not keep up have none.",
    )
    lines = (
        line(
            figure("connections", str(one.size)),
            figure("99th percentile", fmt.duration(one.p99_ns)),
            figure("95 % interval", fmt.duration_interval(one.low_ns, one.high_ns) or fmt.MISSING, 1),
            figure("median", fmt.duration(one.p50_ns), 1),
            figure("rate", fmt.rate(one.rate_per_s)),
            word("verdict", verdict(one, sizing.choice)),
            figure("blocks", str(one.blocks), 1),
        )
        for one in sizing.choice.sizes
    )
    grid = of_lines("Latency by the number of connections", lines)
    yield Section("sizing", grid, of_chart(headline(sizing), chart), leading=True)


def verdict(one: SizeFigures, choice: SizeChoice) -> str:
    """What is said of a size, in a word or two."""
    if not one.kept_up:
        return "breaks"
    if one.size == choice.found:
        return "enough"
    if one.behind:
        return "longer"
    if one.blocks < LEAST_BLOCKS:
        return f"{fmt.counted(one.blocks, 'block')} only"
    return "best" if one.size == choice.best else "no certain difference" if choice.found is not None else fmt.MISSING


CHAPTER = Chapter("sizing", sizing_of, sections, sentences, place="first", nothing=None)
