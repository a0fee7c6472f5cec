"""What a run reports to its watcher, always between blocks, and the watcher that shows nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GroupNow:
    """One group in the second that has just ended."""

    rate_per_s: float  # successful operations
    p99_ns: int | None  # open loop: of latency, else of service time; None: none has ended
    failed: int
    under_way_ns: int  # how long the oldest operation under way has lasted


@dataclass(frozen=True)
class StageSecond:
    """A second of groups at work at once that has just ended."""

    path_name: str
    stage: str
    at_s: float  # since the stage's begin
    seconds: float  # planned for the stage, at most
    groups: dict[str, GroupNow]
    backup: bool  # whether one was under way


@dataclass(frozen=True)
class Step:
    """A part of a run: a phase in a regime, or a path's stage (`step_name`)."""

    set_number: int  # −1: all that comes before the first set
    name: str
    seconds: float
    announced: bool = True  # whether its watcher learns when it begins


@dataclass(frozen=True)
class TimeEstimate:
    """How long a run would take, step by step."""

    steps: tuple[Step, ...]

    @property
    def total_s(self) -> float:
        """The whole run."""
        return sum(step.seconds for step in self.steps)


def step_name(*words: str) -> str:
    """Workload, phase and regime, or path and stage, as a step is called."""
    return " · ".join(words)


class Progress:
    """What the schedule reports to a watcher, always between blocks; without more it shows nothing."""

    def begin(self, planned: TimeEstimate | float, paths: list[str]) -> None: ...
    def phase(self, set_number: int, sets: int, workload: str, phase: str, regime: str) -> None: ...
    def block(self, path_name: str, ns_per_operation: float, blocks_done: int, blocks_total: int) -> None: ...
    def tried(self, path_name: str, ns_per_operation: float, done: int, total: int) -> None: ...
    def loading(self, what: str, done: int, total: int) -> None: ...
    def note(self, text: str) -> None: ...
    def second(self, second: StageSecond) -> None: ...
    def end(self) -> None: ...


class Silent(Progress):
    """Progress for --quiet."""
