"""The hops of an operation as a drawing: two lanes with time downwards, arrows for what is on the way."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup, escape

from rowpath import text as fmt
from rowpath.model.explanation import Hop, Hops, RoundTrip, Where
from rowpath.report.hops import folded, name

LANES: dict[Where, int] = {"client": 36, "server": 64}  # per cent of the width
HEAD, LEAST, STRETCH = 30.0, 32.0, 170.0  # pixels: above the lanes, of a step at least, of all steps by their time
BREAK = 26.0  # between round trips
LINE = 14  # of text
HALF = 5  # of a lane's mark


def draw(hops: Hops, key: str, label: str) -> Markup:
    """The drawing of median times; `key`: unique on the page."""
    whole = sum(hop.median_ns for trip in hops.round_trips for hop in trip.hops) or 1.0
    parts: list[str] = []
    at = HEAD
    for number, trip in enumerate(hops.round_trips):
        if number:
            parts.append(_between(at, f"round trip {number + 1}"))
            at += BREAK
        for hop in trip.hops:
            high = LEAST + STRETCH * hop.median_ns / whole
            parts += _hop(hop, trip, at, high, key, hops.server_seen)
            at += high
    if hops.folded:
        parts.append(_between(at, folded(hops)))
        at += BREAK
    lanes = "".join(
        f'<line class="lane" x1="{x}%" x2="{x}%" y1="{HEAD - 6}" y2="{at:.0f}"/>'
        f'<text class="head" x="{x}%" y="16">{title}</text>'
        for title, x in LANES.items()
    )
    arrow = (
        f'<marker id="{key}-arrow" refX="8" refY="4" markerWidth="9" markerHeight="8" orient="auto" '
        'markerUnits="userSpaceOnUse"><path d="M0 0l9 4l-9 4z"/></marker>'
    )
    return Markup(
        f'<svg class="hops" role="img" aria-label="{escape(label)}" width="100%" height="{at + 8:.0f}">'
        f"{arrow}{lanes}{''.join(parts)}</svg>"
    )


def _hop(hop: Hop, trip: RoundTrip, at: float, high: float, key: str, server_seen: bool) -> Iterator[str]:
    time = fmt.duration(hop.median_ns)
    tip = f"<title>{escape(f'{name(hop, trip)}: median {time}, p99 {fmt.duration(hop.p99_ns)}, worst ')}"
    tip += f"{fmt.duration(hop.worst_ns)}</title>"
    middle = at + high / 2
    if hop.where in LANES:
        x = LANES[hop.where]
        yield f'<g>{tip}<svg x="{x}%" y="{at:.1f}" overflow="visible"><rect class="{hop.where}" x="-{HALF}" '
        yield f'width="{2 * HALF}" height="{high:.1f}"/></svg>{_beside(hop, trip, middle, time)}</g>'
        return
    from_x, to_x = (LANES["server"], LANES["client"]) if hop.where == "to client" else LANES.values()
    if hop.where == "both":
        yield f'<g>{tip}<text class="way" x="50%" y="{middle - 3:.1f}">{escape(hop.name)}</text>'
        yield f'<text class="way" x="50%" y="{middle + LINE - 3:.1f}">⇄ {time}</text></g>'
        return
    marker = f'marker-end="url(#{key}-arrow)"'
    if server_seen:
        yield f'<g>{tip}<line class="arrow" x1="{from_x}%" x2="{to_x}%" y1="{at + 4:.1f}" y2="{at + high - 4:.1f}" '
        yield f'{marker}/><text class="way" x="50%" y="{middle - 7:.1f}">{time}</text></g>'
        return
    for first, last, top in ((from_x, to_x, at + 4), (to_x, from_x, middle + 4)):
        yield f'<line class="arrow" x1="{first}%" x2="{last}%" y1="{top:.1f}" y2="{top + high / 2 - 8:.1f}" {marker}/>'
    yield f'<g>{tip}<text class="after" x="{LANES["server"] + 2}%" y="{middle + 4:.1f}">{time}</text></g>'


def _beside(hop: Hop, trip: RoundTrip, middle: float, time: str) -> str:
    """The step's name and time beside its lane, one below the other."""
    x, kind = (LANES["client"] - 2, "up") if hop.where == "client" else (LANES["server"] + 2, "after")
    words = [*name(hop, trip).split(", "), time]
    top = middle + 4 - LINE * (len(words) - 1) / 2
    return "".join(
        f'<text class="{kind}" x="{x}%" y="{top + LINE * number:.1f}">{escape(each)}</text>'
        for number, each in enumerate(words)
    )


def _between(at: float, text: str) -> str:
    return f'<text class="way" x="50%" y="{at + BREAK - 9:.1f}">{escape(text)}</text>'
