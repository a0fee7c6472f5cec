"""Quack, DuckDB's protocol between a client and a server: its extensions, from their wheels, and a server of ours.

`python quack.py DATABASE PORT TOKEN_FILE [USER]` serves a database file on 127.0.0.1 until SIGTERM, as that user, and
prints READY once it listens: the engine `duckdb` does so. Source: DuckDB's documentation, "Quack".
"""

import ctypes
import importlib.util
import os
import pwd
import signal
import sys
from pathlib import Path

import duckdb

READY = "quack: ready"
DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
EXTENSIONS = ("httpfs", "quack")  # the former brings a client its HTTP, and a server what it makes session ids of
# Nothing is fetched: what is not in a wheel is missing.
CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def load(connection):
    """Load what both sides need, each from the file in its wheel.

    duckdb.Error where a wheel is missing or of another version.
    """
    for name in EXTENSIONS:
        package = f"duckdb_extension_{name}"
        found = importlib.util.find_spec(package)
        folders = found.submodule_search_locations if found else ()
        place = Path("extensions", f"v{duckdb.__version__}", f"{name}.duckdb_extension")
        file = next((Path(folder) / place for folder in folders if (Path(folder) / place).is_file()), None)
        if file is None:
            needed = f"pip install {package.replace('_', '-')}=={duckdb.__version__}"
            raise duckdb.Error(f"DuckDB {duckdb.__version__} has no extension {name} here: {needed}")
        connection.load_extension(str(file))


def become(user):
    """Give up root for this user, who need not reach this interpreter; die with the parent all the same."""
    parent, entry = os.getppid(), pwd.getpwnam(user)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)
    ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)  # a change of user clears it
    if os.getppid() != parent:
        os._exit(1)


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
    if sys.argv[4:]:
        become(sys.argv[4])
    serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]).read_text(encoding="utf-8").strip())
