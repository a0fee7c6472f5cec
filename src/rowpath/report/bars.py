"""Rankings as horizontal bars of text on a log scale: one line a path, its figures beside the bar."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text

from rowpath import text as fmt
from rowpath.analysis.answer_model import GroupAnswer, PhaseAnswer, places
from rowpath.model.grouping import grouped

EIGHTHS = " ▏▎▍▌▋▊▉█"
BEFORE_FASTEST = 2.0  # the axis begins at the least value divided by this, so that the shortest bar is seen
MOST_WIDE = 60
LEAST_WIDE = 6
LEAST_NAME = 12
GAP = 2
CUT = "…"
LANGUAGE = "language="  # how the comparison of a probe begins
TIES = {"": " ", "first": "╭", "middle": "│", "last": "╰"}  # by where a bar stands in a bracket
FASTEST = "bold green"


@dataclass(frozen=True)
class TextBar:
    """A bar with what stands beside it; `tie`: a sign that joins it to its neighbours."""

    name: str
    value: float
    figures: tuple[str, ...]
    tie: str = " "
    first: bool = False


@dataclass(frozen=True)
class TextPicture:
    """Lines below a title; `headings`: of their figures; `rest`: what was left out, in words."""

    title: str
    headings: tuple[str, ...]
    lines: tuple[TextBar, ...]
    rest: str = ""
    axis: str = ""  # pictures of one axis are drawn to one scale


def block(share: float, width: int) -> str:
    """A bar of this share of `width` cells, in eighths of a cell; never empty."""
    eighths = max(1, round(min(1.0, max(0.0, share)) * width * 8))
    return EIGHTHS[8] * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")


def log_scale(values: Sequence[float]) -> Callable[[float], float]:
    """The function from a value to its share of a logarithmic axis that ends at the greatest of these."""
    least = min(values, default=1.0) / BEFORE_FASTEST
    span = math.log(max(values, default=1.0) / least)
    return lambda value: math.log(value / least) / span


def shorten(name: str, width: int) -> str:
    """The name in at most `width` cells: its middle is left out, as paths differ at their ends."""
    if len(name) <= width:
        return name
    head = max(0, (width - len(CUT)) // 2)
    tail = max(0, width - len(CUT) - head)
    return f"{name[:head]}{CUT}{name[len(name) - tail :]}"[:width]


def picture(answer: PhaseAnswer | GroupAnswer, rows: int) -> TextPicture:
    """The fastest `rows` of a ranking, or the paths on which a client group reaches the greatest rates."""
    if isinstance(answer, GroupAnswer):
        return _of_group(answer, rows)
    bars = answer.bars[:rows]
    lines = [
        TextBar(
            fmt.clean(f"{bar.name} ({bar.note})" if bar.note else bar.name),
            bar.cost_ns,
            (fmt.duration(bar.cost_ns), fmt.ratio(bar.ratio), bar.interval if at else ""),
            TIES[tie],
            bar.tier == bars[0].tier,
        )
        for at, (bar, (_rank, tie)) in enumerate(zip(bars, places(answer.bars), strict=False))
    ]
    axis = "probe" if answer.comparison.startswith(LANGUAGE) else f"{answer.title} {answer.comparison}"
    return TextPicture(_title(answer), ("time", "×", "95 %"), tuple(lines), _rest(answer, rows), axis)


def one_line(answer: PhaseAnswer | GroupAnswer) -> str:
    """A ranking without bars: the fastest and the slowest; of a client group its rates."""
    if isinstance(answer, GroupAnswer):
        listed = "; ".join(f"{bar.name} {fmt.rate(bar.rate_per_s)}" for bar in answer.bars)
        return fmt.clean(f"{answer.stage} · {answer.client_group}: {listed}")
    first, *others = answer.bars
    tied = sum(bar.tier == first.tier for bar in others)
    also = f" and {tied} tied" if tied else ""
    last = f"; {answer.bars[-1].name} {fmt.ratio(answer.bars[-1].ratio)}" if len(others) > tied else ""
    return fmt.clean(f"{_title(answer)}: {first.name}{also} {fmt.duration(first.cost_ns)}{last}")


def importance(answer: PhaseAnswer | GroupAnswer) -> tuple[bool, float]:
    """Greater where a picture shows more: a ranking of more paths, a client group with a wider range of rates."""
    if isinstance(answer, PhaseAnswer):
        return len(answer.bars) > 1, len(answer.bars)
    rates = [bar.rate_per_s for bar in answer.bars if bar.rate_per_s > 0]
    return len(rates) > 1, math.log(max(rates) / min(rates)) if rates else 0.0


def _of_group(group: GroupAnswer, rows: int) -> TextPicture:
    bars = [bar for bar in group.bars if bar.rate_per_s > 0]
    lines = []
    for at, bar in enumerate(bars[:rows]):
        tail = fmt.duration(bar.p99_ns) if bar.reached else "rate not reached"
        figures = (fmt.rate(bar.rate_per_s), fmt.ratio(bar.ratio if at else 1.0), tail)
        lines.append(TextBar(fmt.clean(bar.name), bar.rate_per_s, figures, first=not at))
    more = len(group.bars) - len(lines)
    requested = f" · {fmt.rate(group.requested_per_s)} requested" if group.requested_per_s else ""
    title = fmt.clean(f"{group.stage} · {group.client_group}{requested}")
    return TextPicture(title, ("rate", "×", "p99"), tuple(lines), f"+ {more} more" if more else "", group.client_group)


def drawn(pictures: Sequence[TextPicture], width: int) -> list[list[Text]]:
    """Every picture as lines of this width; names, bars and figures of all of them stand in the same columns."""
    every = [line for picture in pictures for line in picture.lines]
    cells = [*(line.figures for line in every), *(picture.headings for picture in pictures)]
    beside = [max(map(len, column)) for column in itertools.zip_longest(*cells, fillvalue="")]
    while len(beside) > 1 and 2 + LEAST_NAME + GAP + LEAST_WIDE + sum(beside) + GAP * len(beside) > width:
        beside.pop()
    figures = sum(beside) + GAP * len(beside)
    longest = max((len(line.name) for line in every), default=0)
    names = min(longest, max(1, width - 2 - GAP - figures - LEAST_WIDE))
    wide = max(LEAST_WIDE, min(MOST_WIDE, width - 2 - names - GAP - figures))
    scales = {
        axis: log_scale([line.value for picture in alike for line in picture.lines])
        for axis, alike in grouped(pictures, lambda picture: picture.axis).items()
    }
    return [_draw(picture, names, wide, beside, width, scales[picture.axis]) for picture in pictures]


def _draw(
    picture: TextPicture, names: int, wide: int, beside: Sequence[int], width: int, scale: Callable[[float], float]
) -> list[Text]:
    at = 2 + names + GAP + wide
    title = shorten_end(picture.title, at)
    lines = [Text(title.ljust(at), style="bold").append(_figures(picture.headings, beside), style="dim not bold")]
    for line in picture.lines:
        style = FASTEST if line.first else ""
        text = Text(f"{line.tie} ", style="dim")
        text.append(shorten(line.name, names).ljust(names + GAP), style=f"not dim {style}")
        text.append(block(scale(line.value), wide).ljust(wide), style=f"not dim {style or 'cyan'}")
        text.append(_figures(line.figures, beside), style=f"not dim {style}")
        text.rstrip()
        lines.append(text)
    if picture.rest:
        lines.append(Text(f"  {shorten_end(picture.rest, width - 2)}", style="dim"))
    return lines


def shorten_end(text: str, width: int) -> str:
    """The text in at most `width` cells: its end is left out."""
    return text if len(text) <= width else text[: width - 1].rstrip() + CUT


def _figures(figures: Sequence[str], beside: Sequence[int]) -> str:
    return "".join(" " * GAP + figure.rjust(room) for figure, room in zip(figures, beside, strict=False))


def _title(phase: PhaseAnswer) -> str:
    if phase.comparison.startswith(LANGUAGE):
        return fmt.clean(phase.title)
    comparison = "" if phase.comparison == "all paths" else phase.comparison
    return fmt.clean(" · ".join(filter(None, (phase.title, phase.regime, comparison))))


def _rest(phase: PhaseAnswer, rows: int) -> str:
    left, unranked = phase.bars[rows:], list(phase.unranked)
    out = f"not ranked: {unranked[0]}" if len(unranked) == 1 else f"{len(unranked)} not ranked" if unranked else ""
    if not left:
        return fmt.clean(out)
    slowest = left[-1]
    figure = fmt.ratio(slowest.ratio) + (f" ({slowest.interval})" if slowest.interval else "")
    many = f"+ {len(left)} slower, up to {slowest.name}" if len(left) > 1 else f"+ {slowest.name}"
    return fmt.clean(f"{many} {figure}{f'; {out}' if out else ''}")
