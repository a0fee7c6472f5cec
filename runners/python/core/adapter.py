"""The interface of an adapter: one class called `Adapter` in one small file per driver under adapters/."""


class Unsupported(Exception):
    """A point of the lattice that does not exist here; the text is the reason, for people."""


class Adapter:
    """One driver. Every method may raise the driver's own errors; `errors` lists their classes.

    `bulk_ways` names the driver's bulk ways of storing rows, the quickest first; `concurrency` how several clients
    run at once. `shares`: the clients have no connections of their own. `no_connection`: those of `errors` with which
    a pool says that it has none.
    """

    errors = ()
    no_connection = ()
    bulk_ways = ()
    shares = False
    concurrency = "threads"

    def __init__(self, options):
        self.options = options

    @classmethod
    def of(cls, options):
        """The adapter for an `open`: another class where the driver is asynchronous or not, as `concurrency` says."""
        return cls(options)

    def connect(self):
        """Connect and log in: the part of `open` that is timed. Returns notes on the connection (`delivers`)."""
        return {}

    def another(self):
        """One more client's adapter, with a connection of its own; called in the thread that will use it."""
        other = type(self)(self.options)
        other.connect()
        return other

    def server_pid(self):
        """The process that serves this connection, or None."""

    def prepare(self, phase, parameters):
        """The `Operation` of the phase; `parameters` is a list of tuples of natural values, or None."""
        raise NotImplementedError

    def transaction(self, phase):
        """(begin, commit, rollback), called around each operation inside the clock; None in autocommit."""
        if phase.transaction:
            raise Unsupported("this driver has no transactions")

    def bulk(self, phase, way):
        """An `Operation` that stores a list of rows in `phase.table`, committed, by one of `bulk_ways`."""
        raise NotImplementedError

    def cancel(self):
        """Stop what the connection is executing, the driver's own way; called from another thread."""
        raise Unsupported("this driver has no way to stop a statement")

    def set_timeout(self, milliseconds):
        """Let no statement run longer, the driver's own way."""
        raise Unsupported("this driver has no statement timeout")

    def describe(self, sql):
        """The columns that a query delivers, as the protocol's objects; of a file `sql` is the table's name."""
        raise Unsupported("this driver says nothing of a query's columns that is not known better elsewhere")

    def run(self, statement):
        """Execute one statement and commit it."""
        raise Unsupported("this driver executes no SQL")

    def facts(self):
        """`driver_version`, `engine_version`, `build`, `libraries`, `settings`, as read from the live connection."""
        return {}

    def close(self):
        """Close the connection."""

    def code(self, error):
        """The driver's own code of one of its errors."""
        return type(error).__name__
