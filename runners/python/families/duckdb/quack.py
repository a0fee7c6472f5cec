"""Quack, DuckDB's protocol between a client and a server: its extension, from its wheel, and a server of ours.

`python quack.py DATABASE PORT TOKEN_FILE` serves a database file on 127.0.0.1 until SIGTERM, and prints READY once it
listens. It stands by itself: the engine `duckdb` runs a copy of this file. Source: DuckDB's documentation, "Quack".
"""

import importlib.util
import signal
import sys
from pathlib import Path

import duckdb

READY = "quack: ready"
PACKAGE = "duckdb_extension_quack"
# Nothing is fetched: what is not in the wheel is missing.
CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def extension():
    """The extension's file for this version of DuckDB; None where its wheel is missing or of another version."""
    found = importlib.util.find_spec(PACKAGE)
    folders = found.submodule_search_locations if found else ()
    return next((file for folder in folders for file in Path(folder).rglob("quack.duckdb_extension")), None)


def load(connection):
    """Load the extension from its wheel's file."""
    file = extension()
    if file is None:
        version = duckdb.__version__
        raise duckdb.Error(f"DuckDB {version} has no extension quack here: pip install {PACKAGE}=={version}")
    connection.load_extension(str(file))


def serve(database, port, token):
    """Serve until SIGTERM, then end in good order."""
    # Before any thread is there: each would take the signal otherwise.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    connection = duckdb.connect(database, config=CONFIG)
    load(connection)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    place = f"quack:127.0.0.1:{port}"
    connection.execute(f"CALL quack_serve('{place}', token => '{token}')")
    print(READY, flush=True)
    signal.sigwait({signal.SIGTERM})
    connection.execute(f"CALL quack_stop('{place}')")
    connection.close()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]).read_text(encoding="utf-8").strip())
