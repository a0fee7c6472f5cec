"""What a probe cannot know, in sentences for its report."""

from __future__ import annotations

from collections.abc import Sequence

from rowpath import text as fmt
from rowpath.runners.protocol import DescribedColumn

ONE_DELIVERY = (
    "The rows are unverified: no two paths delivered the same rows, so no path is known to have delivered all of "
    "them correctly."
)
CHANGED = (
    "The rows changed during the probe: paths read different rows, which may explain their differences. "
    "Probe a copy, or probe at a quieter time."
)


def not_compared(columns: Sequence[DescribedColumn], *, named: bool) -> str:
    """The columns of which the digest holds only NULL or not; empty without any. `named`: by their names."""
    left = [
        f"{column.name if named else f'column {number}'} ({column.engine_type})"
        for number, column in enumerate(columns, 1)
        if column.type == "opaque"
    ]
    return f"{len(left)} of {len(columns)} columns not compared, except for NULL: {', '.join(left)}." if left else ""


def few_sets(done: int, wanted: int) -> str:
    """The budget did not hold all sets."""
    return (
        f"The budget allowed {done} full sets instead of {wanted}: the order is provisional and no difference "
        "is claimed. "
        "A larger --budget, or fewer --language and --driver values, allows more."
    )


def parameters(used: int, given: int, settling: int) -> str:
    """How many rows of parameters are executed in turn and proven, and how often a path executed before."""
    of = f"the first {used:,} of {given:,} rows" if used < given else f"{given:,} row{'s' * (given != 1)}"
    before = (
        f"Every path executed it {settling} times before it was timed."
        if settling
        else "One execution takes too long for more of them before timing: the server may plan differently later."
    )
    return (
        f"Each operation executes the query with the next row of parameters, out of {of}. "
        f"The digests cover all of these. {before}"
    )


def too_long(execution_s: float, budget_s: float) -> str:
    """One execution takes more than a twentieth of the budget."""
    return (
        f"One execution takes {fmt.duration(execution_s * 1e9)}, more than a twentieth of the budget of "
        f"{budget_s:g} s. "
        "Rowpath searched no settings and executed every path once, cold. The faster path is unknown: "
        "one execution shows only large differences. "
        "Rows were counted, not compared. Read fewer rows, or set a --budget of "
        f"{fmt.clock(max(60.0, 200 * execution_s))} or more."
    )
