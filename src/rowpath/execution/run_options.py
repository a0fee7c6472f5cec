"""What a run takes from its command line, beside the plan."""

from __future__ import annotations

from dataclasses import dataclass

from rowpath.model.choices import WAIT_FOR_QUIET_S


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """`timeout_s`: of a request to a runner; `within_s`: of the whole run; `spent_s`: what of it was spent before."""

    timeout_s: float
    wait_for_quiet_s: float = WAIT_FOR_QUIET_S
    within_s: float | None = None
    spent_s: float = 0.0
    restart_servers: bool = False  # for every set, however long they take to warm up
