"""What a probe says it cannot know, in sentences."""

from __future__ import annotations

from rowpath import text as fmt

ONE_DELIVERY = (
    "Nothing stands against the rows: no two paths delivered the same, so that none is known to have delivered all of "
    "them rightly."
)
CHANGED = (
    "The rows changed while they were read: paths met different rows, and what differs between paths may be theirs. "
    "Probe a copy, or a quieter hour."
)


def few_sets(done: int, wanted: int) -> str:
    """The budget did not hold all sets."""
    return (
        f"The budget held {done} full sets instead of {wanted}: the order is provisional and no difference "
        "is claimed. "
        "A larger --budget, or fewer --language and --driver, would hold more."
    )


def too_long(execution_s: float, budget_s: float) -> str:
    """One execution takes more than a twentieth of the budget."""
    return (
        f"One execution takes {fmt.duration(execution_s * 1e9)}, more than a twentieth of the budget of "
        f"{budget_s:g} s. "
        "So no settings were searched, every path was executed once and cold, and which is faster cannot be known: "
        "only differences that a single look shows. "
        "Rows were counted, not compared. Ask for fewer rows, or give a --budget of "
        f"{fmt.clock(max(60.0, 200 * execution_s))} or more."
    )
