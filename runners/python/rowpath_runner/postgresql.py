"""What PostgreSQL's drivers have in common: where to connect, placeholders, what to ask a server about itself."""

from rowpath_runner.adapter import Adapter, Unsupported, split_placeholders

SHOWN = ("server_version", "TimeZone", "fsync", "synchronous_commit", "default_transaction_isolation")
SSLMODE = {"off": {"sslmode": "disable", "gssencmode": "disable"}, "on": {"sslmode": "require"}, "default": {}}


def tls(options):
    """`off`, `on` or `default`; Unsupported where it cannot be."""
    wanted = options.get("tls", "off")
    if wanted == "on" and options.get("transport") == "unix":
        raise Unsupported("PostgreSQL has no TLS on a unix socket: use transport=tcp")
    return wanted


def address(options):
    """Where the server is and who logs in, by the names that most drivers use."""
    return {
        "host": options["socket_dir"] if options.get("transport") == "unix" else options["host"],
        "port": options["port"],
        "user": options["user"],
        "password": options.get("password"),
    }


def libpq_keywords(options):
    """libpq's connection keywords."""
    return {
        **address(options),
        **SSLMODE[tls(options)],
        "dbname": options["database"],
        "client_encoding": "UTF8",
        "options": "-c TimeZone=UTC -c IntervalStyle=iso_8601",
    }


def numbered(sql):
    """The SQL with `$1`, `$2`, … for its placeholders."""
    first, *rest = split_placeholders(sql)
    return first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))


def copy_command(phase, form="text"):
    """The COPY that stores rows in the phase's table."""
    return f"COPY {phase.table} ({column_names(phase)}) FROM STDIN (FORMAT {form})"


def column_names(phase):
    """The columns to store, as SQL."""
    return ", ".join(column.name for column in phase.parameter_columns)


class LibpqAdapter(Adapter):
    """What psycopg and psycopg2 do alike; `log_in()` gives a new connection."""

    def connect(self):
        self.shipped = self.options.get("profile") == "shipped"
        self.connection = self.log_in()

    def server_pid(self):
        return self.connection.info.backend_pid

    def transaction(self, phase):
        if phase.columns and self.options.get("result", "").startswith("cursor"):
            return None  # the cursor has one of its own
        if self.shipped:  # the driver begins one by itself, and it is ours to end it
            return int, self.connection.commit, self.connection.rollback
        return super().transaction(phase)

    def set_timeout(self, milliseconds):
        self.run(f"SET statement_timeout = {milliseconds}")

    def close(self):
        self.connection.close()


def begun(rows):
    """`rows(argument)` gives the same generator, run to its first `yield`: executing is seen apart from fetching."""

    def execute(argument):
        steps = rows(argument)
        next(steps)
        return steps

    return execute
