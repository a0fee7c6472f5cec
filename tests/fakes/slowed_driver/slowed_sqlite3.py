"""sqlite3 with a busy loop before each execution: its version adds that share of what an operation usually takes."""

from time import perf_counter_ns

from adapters.sqlite3 import Adapter as Honest

ADDED = {"1": 0.0, "2": 0.05}
LONGEST_NS = 200_000_000  # a pause between two blocks is no operation
STEP = 1.05  # of a running median


class Adapter(Honest):
    """The honest adapter; both versions read the clock as often."""

    def prepare(self, phase, parameters):
        work = super().prepare(phase, parameters)
        honest, added = work.execute, ADDED[self.options["version"]]
        began = usual = 0

        def execute(argument):
            nonlocal began, usual
            now = perf_counter_ns()
            took = now - began
            if took < LONGEST_NS:
                usual = usual * (STEP if took > usual else 1 / STEP) if usual else took
            until = now + added * usual
            while perf_counter_ns() < until:
                pass
            began = perf_counter_ns()
            return honest(argument)

        work.execute = execute
        return work
