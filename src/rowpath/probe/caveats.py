"""What a probe cannot know, in sentences for its report."""

from __future__ import annotations

from rowpath import text as fmt

ONE_DELIVERY = (
    "The rows are unverified: no two paths delivered the same rows, so no path is known to have delivered all of "
    "them correctly."
)
CHANGED = (
    "The rows changed during the probe: paths read different rows, which may explain their differences. "
    "Probe a copy, or probe at a quieter time."
)


def few_sets(done: int, wanted: int) -> str:
    """The budget did not hold all sets."""
    return (
        f"The budget allowed {done} full sets instead of {wanted}: the order is provisional and no difference "
        "is claimed. "
        "A larger --budget, or fewer --language and --driver values, allows more."
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
