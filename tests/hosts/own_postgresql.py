"""A user's PostgreSQL on a host of the lab: this program, started there, says its port and ends with its stdin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.model.path import AccessPath
from tests.engines.insides import psql
from tests.engines.life import reaching
from tests.hosts.lab import ROOT, Lab

ROWS = 2000
PASSWORD = "p w:ö/%@?"


def main(folder: Path, address: str, clients: tuple[str, ...]) -> None:
    """Serve a table `t` until stdin ends."""
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    sockets = folder / "s"
    sockets.mkdir()
    sockets.chmod(0o777)
    place = Place(folder / "d", sockets, (0,), listen=address, clients=clients)
    instance: Any = ENGINES["postgresql"].instance("server", "none", place)
    instance.start()
    try:
        options = instance.options(AccessPath.of({}))
        psql(instance, f"ALTER ROLE {options['user']} PASSWORD '{PASSWORD}';", "postgres", "postgres")
        psql(
            instance,
            f"CREATE TABLE t AS SELECT i AS a, 'text ' || i AS b FROM generate_series(1, {ROWS}) AS i;"
            f"GRANT SELECT ON t TO {options['user']};",
            "postgres",
            "rowpath",
        )
        print(options["user"], options["port"], flush=True)
        sys.stdin.read()
    finally:
        instance.stop()


@contextmanager
def serving(lab: Lab, host: str, folder: Path, address: str = "") -> Iterator[tuple[str, int]]:
    """Such a server on the host, for every host and the controller: the role that may read, and its port.

    `address`: where it listens instead of the host's own address.
    """
    clients = (lab.controller, *lab.addresses.values())
    words = [
        *lab.commands.get(host, []),
        sys.executable,
        "-m",
        __name__,
        str(folder),
        address or lab.addresses[host],
        *clients,
    ]
    environment = lab.environment | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        user, port = process.stdout.readline().split()
        yield user, int(port)
    finally:
        process.stdin.close()
        process.wait(600)
        process.stdout.close()


def url(user: str, address: str, port: int, password: str = PASSWORD) -> str:
    """Its URL, the password percent-encoded."""
    return f"postgresql://{user}:{quote(password, safe='')}@{address}:{port}/rowpath"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], tuple(sys.argv[3:]))
