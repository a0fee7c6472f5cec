"""sqlite3 with a busy loop before each execution: its version is how many times as long an operation takes."""

from time import perf_counter_ns

from adapters.sqlite3 import Adapter as Honest

STEP = 1.05  # of a running median


class Adapter(Honest):
    """The honest adapter; all versions read the clock as often."""

    def prepare(self, phase, parameters):
        work = super().prepare(phase, parameters)
        honest, added = work.execute, float(self.options["version"]) - 1
        began, usual = perf_counter_ns(), 0.0

        def execute(argument):
            nonlocal began, usual
            now = perf_counter_ns()
            took = now - began
            if not usual or 2 * took < usual:  # the first one also waited for its block
                usual = took
            else:
                usual *= STEP if took > usual else 1 / STEP
            pause = added * usual
            begin = perf_counter_ns()  # what came before, the honest version pays too
            while perf_counter_ns() - begin < pause:
                pass
            began = perf_counter_ns()
            return honest(argument)

        work.execute = execute
        return work
