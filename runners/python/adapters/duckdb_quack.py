"""DuckDB in this process as the client of a DuckDB server, by the Quack protocol: rows or Arrow.

`through=attach`: the server's database is attached, and this DuckDB plans the query. `through=query`: the server gets
the query as it is. What writes is always sent as it is.
"""

import duckdb

from adapters.duckdb import Adapter as Database
from adapters.duckdb import literal
from core.adapter import Unsupported
from families.duckdb import quack

SERVED = "served"


def sent(sql):
    """The statement that has the server execute this one."""
    return f"FROM {SERVED}.query({literal(sql)})"


class Adapter(Database):
    bulk_ways = ()
    read_only = False

    def opened(self):
        options = self.options
        connection = duckdb.connect(config={"threads": int(options.get("threads", 1)), **quack.CONFIG})
        quack.load(connection)
        place, token = f"quack:{options['host']}:{options['port']}", literal(options.get("password", ""))
        connection.execute(f"ATTACH '{place}' AS {SERVED} (TYPE quack, TOKEN {token})")
        connection.execute(f"USE {SERVED}")
        connection.execute("SET TimeZone = 'UTC'")
        return connection

    def statements(self, phase, parameters):
        statements = super().statements(phase, parameters)
        if phase.columns and self.options.get("through") != "query":
            self.connection.execute("CALL quack_clear_cache()")  # or a table made since would be unknown to this side
            return statements
        if any(row for _sql, row in statements):
            raise Unsupported("what is sent to the server as it is has its values in it: use statement=text")
        return [(sent(sql), None) for sql, _row in statements]

    def run(self, statement):
        """Have the server execute it, on the connection that it keeps for this client."""
        self.connection.execute(sent(statement)).fetchall()

    def facts(self):
        execute = self.connection.execute
        known = super().facts()
        (version,) = execute(sent("SELECT library_version FROM pragma_version()")).fetchone()
        settings = execute(sent("SELECT name, value FROM duckdb_settings()")).fetchall()
        server = {f"server {name}": value for name, value in settings if name in ("threads", "memory_limit")}
        return known | {"engine_version": version.removeprefix("v"), "settings": known["settings"] | server}
