"""sqlite3 with a busy loop before each execution: what its version adds, as a share of an undisturbed operation."""

from time import perf_counter_ns

from adapters.sqlite3 import Adapter as Honest

ADDED = {"1": 0.0, "2": 0.05}
LONGEST_NS = 50_000_000  # a pause between two blocks is no operation


class Adapter(Honest):
    """The honest adapter; both versions read the clock as often."""

    def prepare(self, phase, parameters):
        work = super().prepare(phase, parameters)
        honest, added = work.execute, ADDED[self.options["version"]]
        began = shortest = 0

        def execute(argument):
            nonlocal began, shortest
            now = perf_counter_ns()
            took = now - began
            if took < LONGEST_NS:
                shortest = min(took, 2 * shortest) if shortest else took
            until = now + int(added * shortest)
            while perf_counter_ns() < until:
                pass
            began = perf_counter_ns()
            return honest(argument)

        work.execute = execute
        return work
