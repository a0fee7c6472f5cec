"""One operation of a phase, as an adapter makes it ready."""

from core.sampler import Sampler


class Operation:
    """How to do one operation: what an adapter's `prepare` returns.

    `execute(arguments[i])` does operation i and gives back an iterable of its rows; for kind `connect` it takes the
    connection that `connect()` opened and `close` will close. `converters` has one entry per column: a function for
    a value that arrives as text and is to become the natural type, else None. `pipelined`, where the driver has
    pipelines, takes a list of arguments and gives a list of as many iterables; that of a failed operation raises.
    `readers` has one entry per column: a function, used outside of the clock only, that gives the natural value of a
    form that is the driver's own, else None. `reads` has one entry per column where the rows are no tuples: the source,
    after the row's own, that reads its value (`['id']`, `.id`).
    """

    pipelined = None
    readers = ()
    reads = ()

    def __init__(self, execute, arguments=None, converters=None, prepare_ns=0, connect=None, close=None):
        self.execute = execute
        self.arguments = arguments or [()]
        self.converters = converters or []
        self.prepare_ns = prepare_ns
        self.connect = connect
        self.close = close

    def sampler(self, kind, columns, stamps=False, transaction=None):
        """The sampler of this operation."""
        return Sampler(kind, columns, self, stamps, transaction)

    def batches(self, batches):
        """An operation that does this one for every argument of a batch."""
        execute = self.execute

        def execute_each(batch):
            for argument in batch:
                execute(argument)

        return Operation(execute_each, batches, prepare_ns=self.prepare_ns)
