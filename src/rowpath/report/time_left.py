"""How long a run still takes: its plan, corrected by what the parts of it that have ended really took."""

from __future__ import annotations

from rowpath.model.progress import Step, TimeEstimate

ENOUGH_SHARE = 0.2  # of a step's blocks, from which on their pace counts and not the plan


class TimeLeft:
    """Learns when steps begin and how far they are; times are seconds of any clock that goes on."""

    def __init__(self, estimate: TimeEstimate, now_s: float) -> None:
        self._last_set = max((step.set_number for step in estimate.steps if step.announced), default=-1)
        self._one_set_s = sum(step.seconds for step in estimate.steps if step.set_number == self._last_set)
        self._todo = list(estimate.steps[1:])
        self._current: Step | None = estimate.steps[0] if estimate.steps else None
        self._began_s = now_s
        self._seen: dict[str, tuple[float, float]] = {}  # by name: what steps were planned to take, and took
        self._beyond = False
        self._share = 0.0

    def begins(self, name: str, now_s: float, set_number: int | None = None) -> None:
        """A step begins, so that the one before has ended; `set_number`: None where only the name is known."""
        if self._current is not None:
            planned_s, took_s = self._seen.get(self._current.name, (0.0, 0.0))
            self._seen[self._current.name] = planned_s + self._current.seconds, took_s + (now_s - self._began_s)
        self._began_s, self._share = now_s, 0.0
        self._beyond = set_number is not None and set_number > self._last_set
        if set_number is not None:  # what was left out of earlier sets does not come any more
            self._todo = [step for step in self._todo if step.set_number >= set_number]
        self._current = next(
            (step for step in self._todo if step.name == name and set_number in (None, step.set_number)), None
        )
        if self._current is not None:
            self._todo.remove(self._current)

    def done(self, share: float) -> None:
        """This share of the current step's blocks has ended."""
        self._share = share

    def seconds(self, now_s: float) -> float | None:
        """What is left, never less than nothing; None in a set that was not planned."""
        if self._beyond:
            return None
        if self._share > ENOUGH_SHARE:
            rest_s = (now_s - self._began_s) * (1 - self._share) / self._share
            return rest_s + sum(self._expected_s(step) for step in self._todo)
        overdue_s = now_s - self._began_s
        if self._current is not None:
            overdue_s -= self._expected_s(self._current)
        announced_s = sum(self._expected_s(step) for step in self._todo if step.announced)
        silent_s = sum(self._expected_s(step) for step in self._todo if not step.announced)  # they may have begun
        return announced_s + max(0.0, silent_s - overdue_s)

    def _expected_s(self, step: Step) -> float:
        """As long as it was planned, or as steps of its name took; before there are any, as all steps of sets took.

        All steps together count beside one set on plan, because the first of them are short.
        """
        planned_s, took_s = self._seen.get(step.name, (0.0, 0.0))
        if not planned_s:
            every = [ended for name, ended in self._seen.items() if name]
            planned_s, took_s = map(sum, zip(*every, (self._one_set_s, self._one_set_s), strict=True))
        return step.seconds * (took_s / planned_s if planned_s else 1.0)


class TimeLeftOfBudget:
    """The time left of a search that is planned only by its time, and of the sets that end it."""

    def __init__(self, most_s: float, now_s: float) -> None:
        self._ends_s = now_s + most_s
        self._began_s: float | None = None  # of the first set
        self._set, self._sets, self._share = 0, 1, 0.0

    def begins(self, now_s: float, set_number: int, sets: int) -> None:
        """A phase of a set begins."""
        if self._began_s is None:
            self._began_s = now_s
        if set_number != self._set:
            self._share = 0.0
        self._set, self._sets = set_number, max(sets, set_number + 1)

    def done(self, share: float) -> None:
        """This share of the current set's blocks has ended."""
        self._share = share

    def seconds(self, now_s: float) -> float | None:
        """What is left by the pace of the sets, before there are any by the time; None when that is over."""
        share = (self._set + self._share) / self._sets
        if self._began_s is not None and share > 0:
            return (now_s - self._began_s) * (1 - share) / share
        left_s = self._ends_s - now_s
        return left_s if left_s > 0 else None
