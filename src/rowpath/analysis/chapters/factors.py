"""Published ratios taken apart: what each change between two paths is worth, in more than one order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from rowpath import text as fmt
from rowpath.analysis import claims
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Against
from rowpath.drawing.grid import Grid, Line, line, of_lines, ratio, without_empty, word
from rowpath.drawing.picture import Picture, PlainBar, plain
from rowpath.drawing.section import Opening, Section
from rowpath.model.base import Frozen
from rowpath.model.claims import Factors
from rowpath.model.metrics import METRICS

LARGEST = 2  # factors that a sentence names


class Factor(Frozen, frozen=True):
    """One change: how many times better the path is after it, in each order; None where an order has no such step."""

    change: str
    in_orders: tuple[Against | None, ...]
    interaction: bool  # two of the intervals do not meet: what it is worth depends on what else has changed


class TakenApart(Frozen, frozen=True):
    """A published ratio, the one measured here, and its factors; `remainder`: what they leave unexplained."""

    title: str
    published: float
    first: str
    last: str
    whole: Against | None
    factors: tuple[Factor, ...]
    remainder: float | None
    reason: str

    @property
    def text(self) -> str:
        """`2.71× here, 5.00× published; largest: threads to tasks 1.32×, …`, by the first order."""
        if self.whole is None:
            return "not measured in this run."
        known = [(factor.change, own.ratio) for factor in self.factors if (own := factor.in_orders[0]) is not None]
        known.sort(key=lambda each: -abs(math.log(each[1])))
        largest = ", ".join(f"{change} {fmt.ratio(ratio)}" for change, ratio in known[:LARGEST])
        whole = f"{fmt.ratio(self.whole.ratio)} here, {fmt.ratio(self.published)} published"
        return f"{whole}; largest: {largest}."


def factors(evidence: Evidence) -> tuple[TakenApart, ...]:
    """Every ratio that the experiment takes apart."""
    return tuple(_taken_apart(evidence, one) for one in evidence.journal.run.experiment.factors)


def _taken_apart(evidence: Evidence, one: Factors) -> TakenApart:
    place = {key: getattr(one, key) for key in claims.MEASURED_AT} | one.at

    def gain(before: str, after: str) -> Against | None:
        interval = claims.ratio(evidence, one.metric, place | {"name": before}, place | {"name": after})
        if interval is None:
            return None
        return Against(*(interval.inverse if METRICS[one.metric].more_is_better else interval).ratios)

    first, last = one.orders[0].paths[0], one.orders[0].paths[-1]
    by_order = [{change: gain(*paths) for change, paths in order.steps.items()} for order in one.orders]
    changes = dict.fromkeys(change for order in by_order for change in order)
    found = [_factor(change, tuple(order.get(change) for order in by_order)) for change in changes]
    whole = gain(first, last)
    left = [_unnamed(whole, list(order.values())) for order in by_order] if whole else []
    remainder = max((each for each in left if each is not None), key=lambda each: abs(math.log(each)), default=None)
    return TakenApart(one.title, one.published, first, last, whole, tuple(found), remainder, one.reason)


def _factor(change: str, in_orders: tuple[Against | None, ...]) -> Factor:
    ends = [(own.low, own.high) for own in in_orders if own is not None and own.low and own.high]
    apart = len(ends) > 1 and max(low for low, _high in ends) > min(high for _low, high in ends)
    return Factor(change, in_orders, apart)


def _unnamed(whole: Against, steps: list[Against | None]) -> float | None:
    """What an order's factors leave of the whole; None where a step was not measured."""
    known = [step.ratio for step in steps if step is not None]
    return whole.ratio / math.prod(known) if len(known) == len(steps) else None


def _sentences(found: tuple[TakenApart, ...]) -> Iterator[Sentence]:
    return (Sentence("factors", f"{fmt.clean(one.title)}: {fmt.clean(one.text)}") for one in found if one.whole)


def _sections(found: tuple[TakenApart, ...], _lookup: Lookup) -> Iterator[Section]:
    for number, one in enumerate(found):
        if one.whole is not None:
            yield Section(
                f"factors-{number}", grid(one), Opening(fmt.clean(one.text), bars=_picture(one)), leading=True
            )


def grid(one: TakenApart) -> Grid:
    """One row for each change with its value in each order; then what they leave, the whole, and the published one."""
    orders = len(one.factors[0].in_orders)

    def row(name: str, values: Sequence[Against | None], remark: str = "") -> Line:
        known = [value or Against(math.nan) for value in (*values, *[None] * (orders - len(values)))]
        cells = (ratio(f"order {order}", own.ratio, own.low, own.high, 2) for order, own in enumerate(known, 1))
        return line(word("change", name), *itertools.chain.from_iterable(cells), word("remark", remark, 1))

    lines = [row(each.change, each.in_orders, "interaction" if each.interaction else "") for each in one.factors]
    if one.remainder is not None:
        lines.append(row("remainder", [Against(one.remainder)]))
    lines += [row("all together", [one.whole]), row("published", [Against(one.published)])]
    note = "Interaction: the intervals of two orders do not meet. The remainder is what the factors leave of the whole."
    title = f"{one.title}: how many times better after each change, from {one.first} to {one.last}"
    return without_empty(of_lines(fmt.clean(title), lines, fmt.clean(f"{note} {one.reason}".rstrip())))


def _picture(one: TakenApart) -> Picture | None:
    """A waterfall of the first order: each bar leads from what the changes before it have made to what they make."""
    bars, reached = [], 1.0
    for factor in one.factors:
        if (own := factor.in_orders[0]) is not None:
            bars.append(_step(factor.change, reached, own))
            reached *= own.ratio
    if one.whole is not None:
        bars.append(_step("all together", 1.0, one.whole))
    bars.append(_step("published", 1.0, Against(one.published)))
    how = (
        "The first order, on a logarithmic axis. Each bar leads from where the one before it ended; × is its own worth."
    )
    return plain("factors", fmt.clean(one.title), bars, fmt.ratio, how)


def _step(name: str, before: float, own: Against) -> PlainBar:
    after = before * own.ratio
    return PlainBar(
        name=fmt.clean(name),
        value=max(before, after),
        text=fmt.ratio(after),
        low=before * own.low if own.low else None,
        high=before * own.high if own.high else None,
        ratio=fmt.ratio(own.ratio),
        interval=fmt.interval(own.low, own.high),
        parts=(("before", 0.0), ("all", 0.0)),
        border=min(before, after),
    )


CHAPTER = Chapter("factors", factors, _sections, _sentences, place="published")
