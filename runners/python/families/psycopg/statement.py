"""How a phase's statement is executed by psycopg 3, from threads and from tasks alike."""

import psycopg
from psycopg import sql as compose

from core.adapter import Unsupported
from families.sql.literals import with_literals
from families.sql.placeholders import formatted


class Statement:
    """A phase's `query`, its `arguments`, and whether they are `bound`; `keep`: whether it is prepared once."""

    def __init__(self, options, phase, parameters, connection):
        mode = options.get("statement")
        self.keep = keep_of(options)
        self.bound = parameters is not None and mode != "text"
        self.query = formatted(phase.sql) if self.bound else phase.sql
        self.arguments = parameters
        if parameters is not None and mode == "text":

            def literal(value):
                return compose.Literal(value).as_string(connection)

            self.arguments = [with_literals(phase.sql, row, literal) for row in parameters]

    def through(self, execute):
        """A function of an argument that calls a cursor's `execute`."""
        query, keep = self.query, self.keep
        if self.bound:
            return lambda row: execute(query, row, prepare=keep)
        if self.arguments is not None:
            return lambda text: execute(text, prepare=False)
        return lambda _: execute(query, prepare=keep)


def keep_of(options):
    """Whether a statement is prepared; None: the driver does by itself once it was executed five times."""
    return None if options.get("profile") == "shipped" else options.get("statement") == "prepared"


def check_implementation(options):
    """Unsupported unless psycopg is what the path names."""
    wanted = options.get("implementation", psycopg.pq.__impl__)
    if wanted != psycopg.pq.__impl__:  # chosen by PSYCOPG_IMPL when it is imported
        raise Unsupported(f"psycopg was imported as {psycopg.pq.__impl__}, not as {wanted}")


def driver_facts():
    """The driver's part of the reply to `facts`."""
    libraries = {"libpq": str(psycopg.pq.version()), "implementation": psycopg.pq.__impl__}
    return {"driver_version": psycopg.__version__, "libraries": libraries}


def settings_of(connection):
    """What a connection of either kind has set."""
    return {"prepare_threshold": connection.prepare_threshold, "client_encoding": connection.info.encoding}
