"""The loop of columnar paths: every value of every batch is touched by the columnar library itself, not by Python.

The touch sum is the same as that of rows, so a sample is checked the same way. Generated, the operation is:

    for touched, count in map(fold, execute(arguments[index])):
        total += touched
        rows += count
"""

from itertools import islice
from uuid import UUID

from core.digest import digesting
from core.operation import Operation
from core.sampler import Sampler
from core.touch import touch_text


class Library:
    """How one columnar library touches its batches; made once per phase.

    `fold(batch)` is (what the batch adds to the touch sum, its number of rows). `rows(batch)` gives the rows as tuples
    of Python values and `types(batch)` the type of each column, both outside every clock. `converted` names the columns
    that arrive as text and are converted inside the clock.
    """

    converted = ()

    def fold(self, batch):
        raise NotImplementedError

    def rows(self, batch):
        raise NotImplementedError

    def types(self, batch):
        raise NotImplementedError


class ColumnarOperation(Operation):
    """An `Operation` whose `execute` gives back an iterable of batches of `library`."""

    def __init__(self, library, execute, arguments=None, prepare_ns=0, connect=None, close=None):
        super().__init__(execute, arguments, None, prepare_ns, connect, close)
        self.library = library

    def sampler(self, kind, columns, stamps=False, transaction=None):
        """The sampler of this operation."""
        return ColumnarSampler(kind, columns, self, stamps, transaction)


class ColumnarSampler(Sampler):
    """A loop over batches instead of rows."""

    def __init__(self, kind, columns, operation, stamps=False, transaction=None):
        execute, fold = operation.execute, operation.library.fold
        folded = Operation(
            lambda argument: map(fold, execute(argument)),
            operation.arguments,
            None,
            0,
            operation.connect,
            operation.close,
        )
        super().__init__(kind, columns, folded, stamps, transaction)
        self.operation = operation

    def _row(self):
        return "touched, count, "

    def _take(self):
        yield "total += touched"
        yield "rows += count"

    def verify(self, first, count, max_rows, keep=""):
        """Digest and touch of operations [first, first + count): the same folds; the rows are made of the batches."""
        library = self.operation.library
        rows = total = 0
        types = None
        with digesting(self.columns, max_rows, keep) as digest:
            for position in range(first, first + count):
                for batch in self._rows(position):
                    touched, size = library.fold(batch)
                    types = types or library.types(batch)
                    for row in islice(library.rows(batch), digest.room()):
                        digest.add(row)
                    rows += size
                    total += touched
        return {
            **digest.fields(),
            "rows": rows,
            "touch": touch_text(total),
            "operations": count,
            "delivered": types or ["null"] * len(self.columns),
            "converted": list(library.converted),
        }


def natural_uuid(value):
    """A UUID from what columnar libraries have for it: the type itself, its text or its 16 bytes; None stays."""
    if isinstance(value, bytes):
        return UUID(bytes=value)
    return UUID(value) if isinstance(value, str) else value
