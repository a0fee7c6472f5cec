"""Pipelines: the loop of a phase whose operations are sent many at a time, before the first answer is taken."""

from core.adapter import Unsupported
from core.sampler import Sampler

BLOCK = """
{define} block(position, duration, limit, {bound}):
    count = len(arguments) - size
    operations = failed = rows = total = high = 0
    low = 1 << 62
    failure = None
    cpu = thread_clock()
    started = now = clock()
    end = now + duration
    while True:
        index = position % count
        sent = {sent}
        try:
            results = iter(pipelined(arguments[index : index + sent]))
        except Exception as error:
            failed += sent
            failure = failure or error
            results = iter(())
        while True:
            try:
{operation}
                break
            except Exception as error:
                failed += 1
                failure = failure or error
        position += sent
        then = clock()
        took = (then - now) // sent
        now = then
        if took < low:
            low = took
        if took > high:
            high = took
        if {done} or failed >= {failures}:
            break
    cpu = thread_clock() - cpu
    return operations, failed, failure, rows, total, now - started, cpu, low, high, 0, 0, 0
"""

# One exception ends one operation only: the loop then goes on with the results behind it.
RESULTS = """\
    for result in results:
        for {row} in result:
            {take}
        operations += 1
"""


def pipeline_size(adapter, phase, parameters, transaction):
    """How many operations of the phase are sent at once; 0: each by itself. Errors: Unsupported."""
    asked = adapter.options.get("pipeline", "off")
    single = phase.kind in ("query", "execute") and not transaction and not phase.stamps
    if not asked.isdigit() or (single and not parameters):  # one statement has nothing to be sent beside it
        return 0
    if not single:
        raise Unsupported("a pipeline has single statements in autocommit, without stamps")
    return int(asked)


class PipelineSampler(Sampler):
    """The loop of one phase in pipelines of `size` operations, the last one shorter where a sample ends in it."""

    def __init__(self, phase, operation, size):
        if operation.pipelined is None:
            raise Unsupported("this driver has no pipeline for that")
        self._size = size
        self._count = len(operation.arguments)
        # Those behind the last are the first again, so that one slice is a pipeline.
        again = -(-size // self._count)
        self._arguments = operation.arguments + (operation.arguments * again)[:size]
        super().__init__(phase.kind, phase.columns, operation)

    def _block(self, template, done, **how):
        scope = self._scope | {"pipelined": self.operation.pipelined, "arguments": self._arguments, "size": self._size}
        by_time = done == "now >= end"
        sent = "size" if by_time else "min(size, limit - operations - failed)"
        done = done if by_time else "operations + failed >= limit"
        return self._compiled(BLOCK, RESULTS, scope, depth=3, done=done, sent=sent)

    def _rows_of(self, first, count):
        for position in range(first, first + count, self._size):
            index = position % self._count
            sent = min(self._size, first + count - position)
            for result in self.operation.pipelined(self._arguments[index : index + sent]):
                yield from result
