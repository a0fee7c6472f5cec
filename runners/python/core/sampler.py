"""A sample's loop: one function is generated per phase, so that nothing is decided inside the clock.

The timed loop stands twice, for speed: here, and in group_client.py, where each operation is written down before the
next begins. A sample pays for none of that.

Generated for a query of a timestamp that arrives as text and a nullable integer, the operation is:

    for v0, v1 in execute(arguments[index]):
        try: n0 = convert0(v0); total += n0.second + (1 if v1 is None else v1); rows += 1
        except Exception: total += touched(v0, v1); rows += 1

Of rows that are no tuples each value is read first, as a program would: `v0 = row.id`.

A `try` costs nothing where nothing is raised. `touched` is a function that takes values of any kind. A total that is no
int means that a value was of another kind without failing: the block is then repeated, uncounted, with `touched` only.
"""

from time import perf_counter_ns, thread_time_ns
from typing import NamedTuple

from core.digest import digesting
from core.touch import touch_expression, touch_function, touch_text

FAILURES_LIMIT = 100
MOST_TERMS = 500  # of one sum


class Outcome(NamedTuple):
    """What a block did: sums over its operations; `low_ns` and `high_ns` are of single ones."""

    operations: int = 0
    failed: int = 0
    failure: Exception | None = None
    rows: int = 0
    total: int = 0
    ns: int = 0
    cpu_ns: int = 0
    low_ns: int = 0
    high_ns: int = 0
    execute_ns: int = 0
    first_row_ns: int = 0
    connect_ns: int = 0
    borrow_ns: int = 0
    return_ns: int = 0


class Turn(NamedTuple):
    """What one client did in a sample: its lead-in's operations, its block and when that ended."""

    first: int
    led: int
    outcome: Outcome
    window_cpu_ns: int
    ended_ns: int


BLOCK = """
{define} block(position, duration, limit, {bound}):
    last = len(arguments) - 1
    index = position % (last + 1)
    operations = failed = rows = total = executing = fetching = connecting = high = 0
    low = 1 << 62
    {start_lending}
    failure = None
    cpu = thread_clock()
    started = now = clock()
    end = now + duration
    while True:
        try:
{operation}
            operations += 1
        except Exception as error:
            failed += 1
            failure = failure or error
{mend}            if failed == {failures}:
                {give_up}
        index = index + 1 if index != last else 0
        then = clock()
        {count_lending}
        took = then - now
        now = then
        if took < low:
            low = took
        if took > high:
            high = took
        if {done}:
            break
    cpu = thread_clock() - cpu
    ns = now - started
    return operations, failed, failure, rows, total, ns, cpu, low, high, executing, fetching, connecting{lent}
"""
# What the two timed loops count of a connection that was lent; `worked`: when a successful operation returned it.
LENDING = {
    "start_lending": "borrowing = returning = worked = 0",
    "count_lending": "if worked: borrowing += borrowed - now; returning += then - worked; worked = 0",
    "lent": ", borrowing, returning",
}


# A rollback that fails too adds nothing.
ROLLBACK = """\
            try:
                {wait}rollback()
            except Exception:
                pass
"""

EXECUTE = """\
{wait}execute(arguments[index])
"""

ROWS = """\
{each}for {row} in {fetch}execute(arguments[index]):
    {take}
"""

# The first row is taken apart, so that its stamp costs nothing on the others.
STAMPED_ROWS = """\
cursor = {iter}({fetch}execute(arguments[index]))
executed = clock()
executing += executed - now
{each}for {row} in cursor:
    fetching += clock() - now
    {take}
    break
else:
    fetching += executed - now
{each}for {row} in cursor:
    {take}
"""

CONNECT = """\
connection = {wait}connect()
connecting += clock() - now
{each}for {row} in {fetch}execute(connection):
    {take}
{wait}close(connection)
"""


class Sampler:
    """The loop of one phase: `by_time(position, duration_ns, 0)`, `by_count(position, 0, operations)`.

    Both return the values of an `Outcome`, in its order.
    """

    lends = False
    syntax = {"define": "def", "wait": "", "fetch": "", "each": "", "iter": "iter"}

    def __init__(self, kind, columns, operation, stamps=False, transaction=None):
        self.columns = columns
        self.operation = operation
        self.transaction = transaction
        self.converters = operation.converters or [None] * len(columns)
        scope = {"clock": perf_counter_ns, "thread_clock": thread_time_ns, "execute": operation.execute}
        scope.update(arguments=operation.arguments, connect=operation.connect, close=operation.close)
        scope.update((f"convert{i}", convert) for i, convert in enumerate(self.converters) if convert)
        if transaction:
            scope.update(zip(("begin", "commit", "rollback"), transaction, strict=True))
        self._careful = False
        self._natural, self._read = each(self.converters), each(operation.readers)
        self._in_order = in_order(operation.reads)
        self._touches = [touch_function(column, self._notice) for column in columns]
        scope["touched"] = self._touched
        self._scope = scope
        rows = STAMPED_ROWS if stamps else ROWS
        self._delivers = bool(columns) or kind == "query"
        self._template = CONNECT if kind == "connect" else rows if self._delivers else EXECUTE
        self._generate()

    def _generate(self):
        self.by_time = self._block(self._template, done="now >= end", give_up="end = 0")
        self.by_count = self._block(
            self._template, done="operations + failed == limit", give_up="limit = operations + failed"
        )

    def usual(self, outcome):
        """Whether all values in what a block did were touched as their columns' types; if not, the next block is
        careful, and this one must be repeated."""
        total = outcome[4] if outcome else 0
        if type(total) is int:
            return True
        self._notice()
        return False

    def _notice(self):
        if not self._careful:
            self._careful = True
            self._generate()

    def _touched(self, *values):
        """What a row of any values adds to the touch sum; they are converted here."""
        return self._touch_of(self._natural(values))

    def _touch_of(self, natural):
        return sum([touch(value) for touch, value in zip(self._touches, natural, strict=True)])

    def sample(self, share, meet=None):
        """One client's sample: its lead-in, `meet` (the start with the other clients), and its block."""
        cpu, led = thread_time_ns(), 0
        if share.lead_in_ns:
            lead_in = self.by_time(share.position, share.lead_in_ns, 0)
            self.usual(lead_in)
            led = sum(lead_in[:2])
        first = share.position + led
        if meet:
            meet()
        block = self._sampled(first, share)
        if not self.usual(block):
            block = self._sampled(first, share)
        return Turn(first, led, Outcome(*block), thread_time_ns() - cpu, perf_counter_ns())

    def _sampled(self, first, share):
        if share.limit is None:
            return self.by_time(first, share.duration_ns, 0)
        return self.by_count(first, 0, share.limit) if share.limit else ()

    def at_work(self, source, how, **names):
        """The function `source` (a template as BLOCK is), made around this loop's operation without stamps.

        `how` fills in the template; `names` are what it uses beside the operation's own.
        """
        return self._compiled(source, ROWS if self._delivers else EXECUTE, self._scope | names, **how)

    def waited(self, outcome):
        """What a function of `at_work` comes to: itself, here."""
        return outcome

    def _block(self, template, **how):
        lending = LENDING if self.lends else dict.fromkeys(LENDING, "")
        return self._compiled(BLOCK, template, self._scope, **how, **lending)

    def _compiled(self, source, template, scope, depth=1, **how):
        take = ("\n" + "    " * depth).join(self._take())
        operation, mend = self._around(template.format(row=self._row(), take=take, **self.syntax))
        indented = "".join(" " * 12 + line + "\n" for line in operation.splitlines()).rstrip("\n")
        bound = ", ".join(f"{name}={name}" for name in scope)  # as defaults they are locals of the function
        source = source.format(
            operation=indented, mend=mend, bound=bound, failures=FAILURES_LIMIT, **how, **self.syntax
        )
        scope = dict(scope)
        exec(source, scope)
        return scope["block"]

    def _around(self, operation):
        """(an operation with its begin and its end, what mends a failed one)"""
        wait = self.syntax["wait"]
        if not self.transaction:
            return operation, ""
        return f"{wait}begin()\n{operation}{wait}commit()\n", ROLLBACK.format(wait=wait)

    def _row(self):
        if self.operation.reads:
            return "row"
        return "".join(f"v{i}, " for i in range(len(self.columns))) or "()"

    def _take(self):
        """The statements that take one row: its values are converted and touched."""
        if reads := self.operation.reads:
            yield "; ".join(f"v{i} = row{read}" for i, read in enumerate(reads))
        raw = ", ".join(f"v{i}" for i in range(len(self.columns)))
        conversions, touches = [], []
        for i, (column, convert) in enumerate(zip(self.columns, self.converters, strict=True)):
            if convert:
                null = f" if v{i} is not None else None" if column.nullable else ""
                conversions.append(f"n{i} = convert{i}(v{i}){null}; ")
            touches.append(touch_expression(column, f"n{i}" if convert else f"v{i}"))
        careful = f"total += touched({raw}); rows += 1"
        if self._careful or not touches:
            yield careful if touches else "rows += 1"
            return
        # A line of its own for `try` would be an instruction, and so would a jump over `except` to what is behind it.
        yield f"try: {''.join(conversions)}total += {added(touches)}; rows += 1"
        yield f"except Exception: {careful}"

    def verify(self, first, count, max_rows, keep=""):
        """Digest and touch of operations [first, first + count): the same execute, the same conversions, untimed."""
        columns = self.columns
        rows = total = 0
        delivered = [""] * len(columns)
        with digesting(columns, max_rows, keep) as digest:
            for row in map(self._in_order, self._rows_of(first, count)):
                for i, value in enumerate(row):
                    if value is not None and not delivered[i]:
                        delivered[i] = type(value).__name__
                natural = self._natural(row)
                digest.add(self._read(natural))
                rows += 1
                total += self._touch_of(natural)
        return {
            **digest.fields(),
            "rows": rows,
            "touch": touch_text(total),
            "operations": count,
            "delivered": [name or "null" for name in delivered],
            "converted": [c.name for c, convert in zip(columns, self.converters, strict=True) if convert],
        }

    def _rows_of(self, first, count):
        for position in range(first, first + count):
            yield from self._rows(position)

    def _rows(self, position):
        """The rows of one operation, one by one, begun and ended as in the clock."""
        operation = self.operation
        begin, commit, rollback = self.transaction or (None, None, None)
        connection = operation.connect() if operation.connect else None
        if begin:
            begin()
        try:
            found = operation.execute(
                connection if operation.connect else operation.arguments[position % len(operation.arguments)]
            )
            if self._delivers:
                yield from found
        except BaseException:
            if rollback:
                rollback()
            raise
        if commit:
            commit()
        if operation.connect:
            operation.close(connection)


def added(terms):
    """The source of a sum, in parts that the compiler's stack has room for."""
    while len(terms) > MOST_TERMS:
        parts = [terms[first : first + MOST_TERMS] for first in range(0, len(terms), MOST_TERMS)]
        terms = [f"({' + '.join(part)})" for part in parts]
    return " + ".join(terms)


def in_order(reads):
    """A function of a row that gives its values in the columns' order; the row itself where it has them so."""
    if not reads:
        return lambda row: row
    return eval(f"lambda row: ({''.join(f'row{read}, ' for read in reads)})")


def each(functions):
    """A function of a row that applies its own one to each value, carefully; the row itself where there are none."""
    if not any(functions):
        return lambda row: row
    applied = [careful(function) for function in functions]
    return lambda row: [function(value) for function, value in zip(applied, row, strict=True)]


def careful(convert):
    """A converter that leaves alone NULL, what it cannot convert, and floats: their Decimal has digits of its own."""
    if convert is None:
        return lambda value: value

    def converted(value):
        if value is None or isinstance(value, float):
            return value
        try:
            return convert(value)
        except Exception:
            return value

    return converted
