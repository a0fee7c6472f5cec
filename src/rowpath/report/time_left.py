"""How long a run still takes: its estimate, corrected by what the steps that have ended really took."""

from __future__ import annotations

from dataclasses import dataclass

from rowpath.model.progress import Estimate, Step


@dataclass
class _Seen:
    """Steps of one name that have ended: what they were planned to take and took."""

    planned_s: float = 0.0
    took_s: float = 0.0


class TimeLeft:
    """Learns when steps begin; times are seconds of any clock that goes on."""

    def __init__(self, estimate: Estimate, now_s: float) -> None:
        self._last_set = max((step.set_number for step in estimate.steps if step.announced), default=-1)
        self._one_set_s = sum(step.seconds for step in estimate.steps if step.set_number == self._last_set)
        self._todo = list(estimate.steps[1:])
        self._current: Step | None = estimate.steps[0] if estimate.steps else None
        self._began_s = now_s
        self._seen: dict[str, _Seen] = {}
        self._beyond = False

    def begins(self, name: str, now_s: float, set_number: int | None = None) -> None:
        """A step begins, so that the one before has ended; `set_number`: None where only the name is known."""
        if self._current is not None:
            seen = self._seen.setdefault(self._current.name, _Seen())
            seen.planned_s += self._current.seconds
            seen.took_s += now_s - self._began_s
        self._began_s = now_s
        self._beyond = set_number is not None and set_number > self._last_set
        if set_number is not None:  # what was left out of earlier sets does not come any more
            self._todo = [step for step in self._todo if step.set_number >= set_number]
        self._current = next(
            (step for step in self._todo if step.name == name and set_number in (None, step.set_number)), None
        )
        if self._current is not None:
            self._todo.remove(self._current)

    def seconds(self, now_s: float) -> float | None:
        """What is left, never less than nothing; None in a set that was not planned."""
        if self._beyond:
            return None
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
        seen = self._seen.get(step.name)
        if seen is None or not seen.planned_s:
            every = [each for name, each in self._seen.items() if name]
            every.append(_Seen(self._one_set_s, self._one_set_s))
            seen = _Seen(sum(each.planned_s for each in every), sum(each.took_s for each in every))
        return step.seconds * (seen.took_s / seen.planned_s if seen.planned_s else 1.0)
