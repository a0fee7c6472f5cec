"""The hops of an operation in time order: lines of the terminal, one sentence, a table, a drawing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup, escape
from rich.text import Text

from rowpath import text as fmt
from rowpath.drawing.grid import Grid, figure, line, of_lines, word
from rowpath.model.explanation import Cores, Explanation, Hop, Hops, RoundTrip, Where
from rowpath.model.grouping import grouped
from rowpath.report.bars import block

WIDE = 21  # of the drawing
DIFFERENT = 0.1  # of an operation's time: hops and sum that differ by more are of two speeds
TITLES: dict[Where, str] = {
    "client": "client", "to pooler": "→", "pooler": "pooler", "to server": "→", "server": "server", "from server": "←",
    "to client": "←", "both": "more",
}  # fmt: skip
FIGURES = f"{'mean':>8} {'median':>8} {'p99':>8} {'worst':>8}"
ONE_CORE = "Client and server share one core: a sender keeps it until it waits, and that counts as sending."
SIDES: dict[Where, str] = {
    "client": "client", "to pooler": "to the pooler", "pooler": "pooler", "to server": "to the server",
    "server": "server", "from server": "back to the pooler", "to client": "to the client", "both": "more messages",
}  # fmt: skip
LANES: dict[Where, int] = {"client": 36, "server": 64}  # per cent of the width
LANES_WITH_POOLER: dict[Where, int] = {"client": 28, "pooler": 50, "server": 72}
WAYS: dict[Where, tuple[int, int]] = {
    "to pooler": (0, 1), "to server": (-2, -1), "from server": (-1, -2), "to client": (1, 0),
}  # from which lane to which  # fmt: skip
HEAD, LEAST, STRETCH = 30.0, 32.0, 170.0  # pixels: above the lanes, of a step at least, of all steps by their time
BREAK = 26.0  # between round trips
LINE = 14  # of text
HALF = 5  # of a lane's mark


def lines(one: Explanation) -> Iterator[Text]:
    """At most twelve lines about the hops; why there are none, where they were wanted."""
    if one.no_hops:
        yield Text(fmt.clean(f"{'':<8}hops: unknown: {one.no_hops}"), style="dim")
    if one.hops is None:
        return
    yield Text("")
    first, *others = one.hops.round_trips
    yield from _trips(one.hops) if others or one.hops.folded else _steps(one.hops, first)
    yield Text(f"{'':<8}{slowest(one.hops)}; {cost(one.hops)}", style="dim")


def _steps(hops: Hops, trip: RoundTrip) -> Iterator[Text]:
    """A line for each step, drawn where it lies in the operation."""
    names = [name(hop, trip) for hop in trip.hops]
    head = in_order(hops)
    wide = max(map(len, (*names, head)))
    yield Text(f"{'':<8}{head:<{wide}}  {FIGURES}", style="dim")
    whole = sum(map(mean, trip.hops)) or 1.0
    at, before = 0.0, ""
    for hop, step in zip(trip.hops, names, strict=True):
        side = TITLES[hop.where] if hop.where != before else ""
        before = hop.where
        share = mean(hop) / whole
        yield Text(f"{side:<8}{step:<{wide}}  {_figures(hop)}  {' ' * int(at * WIDE)}{block(share, WIDE)}".rstrip())
        at += share
    yield Text(f"{'':<8}{'all of it':<{wide}}  {_figures(hops)}  of {measured(hops)}")


def _figures(one: Hop | RoundTrip | Hops) -> str:
    return " ".join(f"{fmt.duration(ns):>8}" for ns in (mean(one), one.median_ns, one.p99_ns, one.worst_ns))


def mean(one: Hop | RoundTrip | Hops) -> float:
    """What adds up over hops; of an older journal, which has no mean, the median."""
    return one.median_ns if one.mean_ns is None else one.mean_ns


def in_order(hops: Hops) -> str:
    """What begins the table of hops."""
    order = "in time order, on one core" if hops.one_core else "in time order"
    return order if hops.pipeline == 1 else f"one pipeline of {hops.pipeline}, {order.removeprefix('in time order, ')}"


def measured(hops: Hops) -> str:
    """How many operations or pipelines the figures are of."""
    if hops.pipeline == 1:
        return f"{fmt.count(hops.operations)} operations"
    return f"{fmt.count(hops.operations)} pipelines of {hops.pipeline} operations"


def _trips(hops: Hops) -> Iterator[Text]:
    """A line for each round trip."""
    head = in_order(hops)
    wide = len(head)
    present = [where for where in TITLES if any(hop.where == where for trip in hops.round_trips for hop in trip.hops)]
    heads = " ".join(f"{TITLES[where]:>8}" for where in present)
    yield Text(f"{'':<8}{head:<{wide}}{heads}  {FIGURES}", style="dim")
    for number, trip in enumerate(hops.round_trips, 1):
        sums = grouped(trip.hops, lambda hop: hop.where)
        cells = [fmt.duration(sum(map(mean, sums[where]))) if where in sums else "" for where in present]
        row = " ".join(f"{cell:>8}" for cell in cells)
        yield Text(f"{'':<8}{f'round trip {number}':<{wide}}{row}  {_figures(trip)}")
    if hops.folded:
        yield Text(f"{'':<8}{folded(hops)}")
    room = " " * (9 * len(present) - 1)
    yield Text(f"{'':<8}{'all of it':<{wide}}{room}  {_figures(hops)}  of {measured(hops)}")


def folded(hops: Hops) -> str:
    """The round trips that are not shown."""
    more = "round trip" if hops.folded == 1 else "round trips"
    return f"{hops.folded} more {more}, {fmt.duration(hops.folded_ns)} each"


def name(hop: Hop, trip: RoundTrip) -> str:
    """A step as people read it, with the size of what is sent."""
    if hop.name == "more messages":
        return f"{trip.messages - 1} more messages" if trip.messages > 2 else "1 more message"
    if hop.name != "sends":
        return hop.name
    if hop.where == "client":
        return f"sends {fmt.size(trip.sent_bytes)}"
    return f"{'works and ' if trip.messages > 1 else ''}sends {fmt.size(trip.received_bytes)}"


def slowest(hops: Hops) -> str:
    """The slowest operation, and the step in which most of it passed."""
    steps = [(hop, trip) for trip in hops.round_trips for hop in trip.hops]
    most, trip = max(steps, key=lambda step: step[0].slowest_ns)
    where = _with_side(most, trip)
    return f"the slowest took {fmt.duration(hops.worst_ns)}, {fmt.duration(most.slowest_ns)} of it: {where}"


def _with_side(hop: Hop, trip: RoundTrip) -> str:
    return f"{hop.where} {name(hop, trip)}" if hop.where in LANES_WITH_POOLER else name(hop, trip)


def cost(hops: Hops) -> str:
    """What stamping cost."""
    return f"stamping changed an operation's time by {100 * hops.stamping_share:+.1f} %"


SPEEDS: dict[Cores, str] = {
    "one": "with the server on the client's core",
    "two": "with the server on another core",
    "changing": "with the server moving between cores",
}


def speed_sentences(hops: Hops, operation_ns: float) -> Iterator[str]:
    """The speeds of the path by the server's core, and whether hops and sum are of two speeds."""
    if hops.speeds:
        speeds = (
            f"{fmt.share(one.share)} of the operations {SPEEDS[one.cores]} take {fmt.duration(one.mean_ns)}"
            f" (median {fmt.duration(one.median_ns)})"
            for one in hops.speeds
        )
        yield f"By core: {', '.join(speeds)}."
    whole_ns = mean(hops) / hops.pipeline
    if abs(whole_ns - operation_ns) > DIFFERENT * operation_ns:
        both = f"the operations of the sum take {fmt.duration(operation_ns)}, those of the hops"
        yield f"The machine had two speeds: {both} {fmt.duration(whole_ns)}."


def sentence(one: Explanation, hops: Hops) -> str:
    """The mean operation by who had it, and its speeds."""
    by_side = grouped((hop for trip in hops.round_trips for hop in trip.hops), lambda hop: hop.where)
    sums = {where: sum(map(mean, steps)) for where, steps in by_side.items()}
    sides = SIDES if hops.server_seen else SIDES | {"to server": "server and both ways"}
    words = [f"{sides[where]} {fmt.duration(sums[where])}" for where in sides if where in sums]
    words += [folded(hops)] if hops.folded else []
    whole = f"{measured(hops)} take {fmt.duration(mean(hops))} on average"
    speeds = " ".join(speed_sentences(hops, one.operation_ns))
    return fmt.clean(f"{one.name}: {whole} ({', '.join(words)}); {slowest(hops)}. {speeds}".rstrip())


def grid(one: Explanation, hops: Hops) -> Grid:
    """Every step with its mean, median, 99th percentile and worst, and what it took in the slowest operation."""
    several = len(hops.round_trips) > 1
    rows = [
        line(
            *((figure("round trip", str(number)),) if several else ()),
            word("step", _with_side(hop, trip)),
            figure("mean", fmt.duration(mean(hop))),
            figure("median", fmt.duration(hop.median_ns)),
            figure("p99", fmt.duration(hop.p99_ns)),
            figure("worst", fmt.duration(hop.worst_ns)),
            figure("in the slowest", fmt.duration(hop.slowest_ns)),
        )
        for number, trip in enumerate(hops.round_trips, 1)
        for hop in trip.hops
    ]
    more = f"{folded(hops)}. " if hops.folded else ""
    what = f"Of one pipeline of {hops.pipeline} operations. " if hops.pipeline > 1 else ""
    note = f"{what}{more}{cost(hops).capitalize()}." + (f" {ONE_CORE}" if hops.one_core else "")
    return of_lines(fmt.clean(f"{one.phase}: hops of {one.name}"), rows, note)


def draw(hops: Hops, key: str, label: str) -> Markup:
    """The drawing of mean times; `key`: unique on the page."""
    whole = sum(mean(hop) for trip in hops.round_trips for hop in trip.hops) or 1.0
    through_pooler = any(hop.where == "pooler" for trip in hops.round_trips for hop in trip.hops)
    places = LANES_WITH_POOLER if through_pooler else LANES
    parts: list[str] = []
    at = HEAD
    for number, trip in enumerate(hops.round_trips):
        if number:
            parts.append(_between(at, f"round trip {number + 1}"))
            at += BREAK
        for hop in trip.hops:
            high = LEAST + STRETCH * mean(hop) / whole
            parts += _hop(hop, trip, at, high, key, places, server_seen=hops.server_seen)
            at += high
    if hops.folded:
        parts.append(_between(at, folded(hops)))
        at += BREAK
    lanes = "".join(
        f'<line class="lane" x1="{x}%" x2="{x}%" y1="{HEAD - 6}" y2="{at:.0f}"/>'
        f'<text class="head" x="{x}%" y="16">{title}</text>'
        for title, x in places.items()
    )
    arrow = (
        f'<marker id="{key}-arrow" refX="8" refY="4" markerWidth="9" markerHeight="8" orient="auto" '
        'markerUnits="userSpaceOnUse"><path d="M0 0l9 4l-9 4z"/></marker>'
    )
    return Markup(
        f'<svg class="hops" role="img" aria-label="{escape(label)}" width="100%" height="{at + 8:.0f}">'
        f"{arrow}{lanes}{''.join(parts)}</svg>"
    )


def _hop(
    hop: Hop, trip: RoundTrip, at: float, high: float, key: str, places: Mapping[Where, int], *, server_seen: bool
) -> Iterator[str]:
    time = fmt.duration(mean(hop))
    tip = f"<title>{escape(f'{name(hop, trip)}: mean {time}, p99 {fmt.duration(hop.p99_ns)}, worst ')}"
    tip += f"{fmt.duration(hop.worst_ns)}</title>"
    middle = at + high / 2
    if hop.where in places:
        x = places[hop.where]
        yield f'<g>{tip}<svg x="{x}%" y="{at:.1f}" overflow="visible"><rect class="{hop.where}" x="-{HALF}" '
        yield f'width="{2 * HALF}" height="{high:.1f}"/></svg>{_beside(hop, trip, middle, time, x)}</g>'
        return
    if hop.where == "both":
        yield f'<g>{tip}<text class="way" x="50%" y="{middle - 3:.1f}">{escape(hop.name)}</text>'
        yield f'<text class="way" x="50%" y="{middle + LINE - 3:.1f}">⇄ {time}</text></g>'
        return
    lanes, (begin, end) = tuple(places.values()), WAYS[hop.where]
    from_x, to_x = lanes[begin], lanes[end]
    marker = f'marker-end="url(#{key}-arrow)"'
    if server_seen:
        yield f'<g>{tip}<line class="arrow" x1="{from_x}%" x2="{to_x}%" y1="{at + 4:.1f}" y2="{at + high - 4:.1f}" '
        yield f'{marker}/><text class="way" x="{(from_x + to_x) / 2:g}%" y="{middle - 7:.1f}">{time}</text></g>'
        return
    for first, last, top in ((from_x, to_x, at + 4), (to_x, from_x, middle + 4)):
        yield f'<line class="arrow" x1="{first}%" x2="{last}%" y1="{top:.1f}" y2="{top + high / 2 - 8:.1f}" {marker}/>'
    yield f'<g>{tip}<text class="after" x="{places["server"] + 2}%" y="{middle + 4:.1f}">{time}</text></g>'


def _beside(hop: Hop, trip: RoundTrip, middle: float, time: str, lane: int) -> str:
    """The step's name and time beside its lane, one below the other."""
    x, kind = (lane - 2, "up") if hop.where == "client" else (lane + 2, "after")
    words = [*name(hop, trip).split(", "), time]
    top = middle + 4 - LINE * (len(words) - 1) / 2
    return "".join(
        f'<text class="{kind}" x="{x}%" y="{top + LINE * number:.1f}">{escape(each)}</text>'
        for number, each in enumerate(words)
    )


def _between(at: float, text: str) -> str:
    return f'<text class="way" x="50%" y="{at + BREAK - 9:.1f}">{escape(text)}</text>'
