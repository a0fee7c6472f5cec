"""A pool of a driver's connections: every operation borrows one, does the driver's own work on it, and returns it."""

import copy
from contextlib import contextmanager, suppress
from functools import partial
from textwrap import dedent, indent

from core.adapter import Unsupported
from core.client_tasks import AsyncSampler
from core.layer import AboveDriver
from core.operation import Operation
from core.sampler import Sampler

TIMEOUT_S = 30
LENT = """\
lent = {wait}borrow()
borrowed = clock()
{reset}
try:
    {names} = {work}
{operation}except BaseException:
{mend}    {wait}give_back(lent)
    raise
done = clock()
{wait}give_back(lent)
worked = done
"""


class Works(dict):
    """How each connection does a phase's operation; made when a connection that is new is first lent."""

    def __init__(self, make):
        super().__init__()
        self._make = make

    def __missing__(self, connection):
        self[connection] = work = self._make(connection)
        return work


class PoolAdapter(AboveDriver):
    """One class called `Adapter` in one file under pools/; its clients share what `open()` made.

    `open()` sets `borrow` and `give_back(lent)`, coroutine functions above an asynchronous driver, and opens
    `self.size` connections. `counts()` gives how many are lent, and how many are open. `connection` is the source, with
    `lent` in it, of the driver's own connection beneath what is lent.
    """

    connection = "lent"
    shares = True

    def __init__(self, options):
        super().__init__(options)
        if options.get("concurrency") == "processes":
            raise Unsupported("clients that are processes share no pool")
        self.size = int(options["pool_size"])
        self.tuned = options.get("profile") != "shipped"
        self.validates = self.tuned and options.get("validation") == "borrow"
        self.owns = True
        self.adapters = {}
        self.latest = {}  # the phase prepared last, for every client the same

    def open(self):
        raise NotImplementedError

    def counts(self):
        """(connections that are lent, connections that are open)"""
        raise NotImplementedError

    def shut(self):
        """Close the pool."""
        self.pool.close()

    def beneath(self, lent):
        """The driver's own connection."""
        return lent

    def wait(self, awaitable):
        """Run an asynchronous driver's event loop until this is done; returns its result."""
        return self.driver.wait(awaitable)

    def waited(self, outcome):
        """An outcome, awaited where the driver is asynchronous."""
        return self.wait(outcome) if self.concurrency == "tasks" else outcome

    def connect(self):
        try:
            self.open()
            with self.lent(self.size) as every:
                for lent in every:
                    self.adapter_of(self.beneath(lent))
        except BaseException:
            with suppress(Exception):  # what failed first is reported
                self.shut()
            raise

    def another(self):
        client = copy.copy(self)
        client.owns = False
        return client

    @contextmanager
    def lent(self, count=1):
        """This many connections at once, outside of the clock."""
        every = []
        try:
            for _ in range(count):
                every.append(self.waited(self.borrow()))  # those that were lent go back when one is not
            yield every
        finally:
            for lent in every:
                self.waited(self.give_back(lent))

    @contextmanager
    def one(self):
        """The driver's adapter on a borrowed connection."""
        with self.lent() as (lent,):
            yield self.adapter_of(self.beneath(lent))

    def adapter_of(self, connection):
        """The driver's adapter on a connection of the pool."""
        if connection not in self.adapters:
            adapter = type(self.driver)(self.options)
            adapter.adopt(connection)
            adapter.shipped = not self.tuned
            self.adapters[connection] = adapter
        return self.adapters[connection]

    def prepare(self, phase, parameters):
        if phase.kind not in ("query", "execute"):
            raise Unsupported(f"only queries and single writes are done on a pool's connection, not {phase.kind}")
        if self.latest.get("phase") is not phase:
            self.latest.update(phase=phase, operation=self.lending(phase, parameters))
        return self.latest["operation"]

    def lending(self, phase, parameters):
        """The `Operation` that borrows: prepared on every connection, so that nothing is in the clock."""
        works = Works(partial(self.work, phase, parameters))
        with self.lent(self.size) as every:
            for lent in every:
                works[self.beneath(lent)]
            own = self.adapter_of(self.beneath(every[0])).prepare(phase, parameters)
        return LendingOperation(self, f"works[{self.connection}]", works, own)

    def work(self, phase, parameters, connection):
        """`execute` on this connection, with begin, commit and rollback where the phase has a transaction."""
        adapter = self.adapter_of(connection)
        execute, transaction = adapter.prepare(phase, parameters).execute, adapter.transaction(phase)
        return (execute, *transaction) if transaction else execute

    def transaction(self, phase):
        with self.one() as adapter:
            return adapter.transaction(phase)

    def server_pid(self):
        with self.one() as adapter:
            return adapter.server_pid()

    def run(self, statement):
        with self.one() as adapter:
            adapter.run(statement)

    def facts(self):
        in_use, opened = self.counts()
        with self.one() as adapter:
            facts = adapter.facts()
        settings = facts.get("settings", {}) | {"pool_in_use": in_use, "pool_open": opened}
        return facts | {"settings": settings, "libraries": facts.get("libraries", {}) | self.version()}

    def close(self):
        if self.owns:
            self.shut()


class LendingOperation(Operation):
    """The driver's operation `own` on whichever connection is lent; `source` finds it for `lent` in `works`."""

    def __init__(self, pool, source, works, own):
        super().__init__(own.execute, own.arguments, own.converters, own.prepare_ns)
        self.readers, self.reads = own.readers, own.reads
        self.pool, self.source, self.works = pool, source, works
        self.wait = pool.waited
        self.each = False

    def sampler(self, kind, columns, stamps=False, transaction=None):
        sampler = LendingTasks if self.pool.concurrency == "tasks" else LendingThreads
        return sampler(kind, columns, self, stamps, transaction)


class Lending:
    """A sampler whose operations borrow and return a connection."""

    lends = True

    def _generate(self):
        pool = self.operation.pool
        self._scope.update(borrow=pool.borrow, give_back=pool.give_back, works=self.operation.works)
        super()._generate()

    def _around(self, operation):
        work, mend = super()._around(operation)
        source = LENT.format(
            wait=self.syntax["wait"],
            names="execute, begin, commit, rollback" if self.transaction else "execute",
            reset="rollback = None" if self.transaction else "pass",  # else the last loan's, if there is no work
            work=self.operation.source,
            operation=indent(work if work.endswith("\n") else work + "\n", "    "),
            mend=indent(dedent(mend), "    "),
        )
        return source, ""

    def _on(self, lent):
        """Let the next operation outside of the clock be done on this connection."""
        work = eval(self.operation.source, {"works": self.operation.works, "lent": lent})
        if self.transaction:
            self.operation.execute, *self.transaction = work
        else:
            self.operation.execute = work


class LendingThreads(Lending, Sampler):
    """Its clients are threads."""

    def _rows(self, position):
        with self.operation.pool.lent() as (lent,):
            self._on(lent)
            yield from super()._rows(position)


class LendingTasks(Lending, AsyncSampler):
    """Its clients are tasks."""

    async def _collected(self, position):
        pool = self.operation.pool
        lent = await pool.borrow()
        try:
            self._on(lent)
            return await super()._collected(position)
        finally:
            await pool.give_back(lent)
