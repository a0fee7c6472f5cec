"""How ODBC's drivers are reached without a data source: the driver by its file, the place by the driver's own words.

Sources: psqlODBC Configuration Options; MariaDB Connector/ODBC's connection parameters; libsqliteodbc's documentation.
"""

import os

from core.adapter import Unsupported
from core.driver_settings import driver_settings
from families.mysql import connection as mysql
from families.postgresql import connection as postgresql

SPECIAL = set("[]{}(),;?*=!@")
SSLMODE = {
    "off": {"SSLmode": "disable"},
    "on": {"SSLmode": "require"},
    "default": {},
    "verify-ca": {"SSLmode": "verify-ca"},
    "verify-full": {"SSLmode": "verify-full"},
}


COMPRESSED = "2048"  # the bit of OPTION for MariaDB's protocol with compression
TIMEOUTS = {"CONN_TIMEOUT", "READ_TIMEOUT", "WRITE_TIMEOUT"}  # MariaDB's driver ignores a name that it does not know
PQ_OPTIONS = " options='-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601'"


def of_postgresql(options):
    """Its own defaults, but: no savepoint around each statement of a transaction, booleans and bytes as such."""
    at = postgresql.address(options)
    result, _, size = options.get("result", "whole").partition(":")
    more = postgresql.certificates(options) | driver_settings(options)  # psqlODBC hands pqopt to libpq
    words = "".join(f" {word}={quoted(text)}" for word, text in more.items())
    cursor = {"UseDeclareFetch": "1", "Fetch": size} if result == "cursor" else {}
    return {
        "SERVER": at["host"],
        "PORT": at["port"],
        "DATABASE": options["database"],
        "UID": at["user"],
        "PWD": at["password"] or "",
        **SSLMODE[postgresql.tls(options)],
        **cursor,
        "Protocol": "7.4-1",
        "BoolsAsChar": "0",
        "ByteaAsLongVarBinary": "1",
        "pqopt": "gssencmode=disable" + ("" if postgresql.plain(options) else PQ_OPTIONS) + words,
    }


def quoted(value):
    """A value as libpq's connection strings have it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def of_mysql(options):
    at = mysql.address(options)
    place = {"SOCKET": at["unix_socket"], "SERVER": "localhost"} if "unix_socket" in at else {"SERVER": at["host"]}
    port = {"PORT": at["port"]} if "port" in at else {}
    login = {"DATABASE": at["database"], "UID": at["user"], "PWD": at["password"]}
    given = driver_settings(options)
    if unknown := given.keys() - TIMEOUTS:
        raise Unsupported(f"unknown setting '{min(unknown)}'")
    compressed = {"OPTION": COMPRESSED} if options.get("compression") == "zlib" else {}
    return place | port | login | compressed | {"CHARSET": "utf8mb4", "NO_PROMPT": "1"} | given


def of_sqlite(options):
    durable = options.get("durability") != "none"
    return {
        "Database": options["path"],
        "StepAPI": "1" if options.get("result") == "single-row" else "0",
        "NoCreat": "1",
        "Timeout": "60000",
        "SyncPragma": "FULL" if durable else "OFF",
        **({"JournalMode": "WAL"} if durable else {}),
    }


ATTRIBUTES = {"postgresql": of_postgresql, "mariadb": of_mysql, "mysql": of_mysql, "sqlite": of_sqlite}


def connection_string(options):
    """What SQLDriverConnect takes; the driver's file is in the environment variable ROWPATH_ODBC_DRIVER."""
    given = {"DRIVER": os.environ["ROWPATH_ODBC_DRIVER"], **ATTRIBUTES[options["engine"]](options)}
    return ";".join(f"{name}={braced(str(value))}" for name, value in given.items())


def braced(value):
    """A value as a connection string has it."""
    return "{" + value.replace("}", "}}") + "}" if set(value) & SPECIAL else value
