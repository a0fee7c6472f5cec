"""The drivers' own settings of a connection reach the driver; an unknown name is refused."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from rowpath.runners import manifest
from tests.runners.protocol.talk import LineTalk, adapter

LOGIN = {"host": "127.0.0.1", "user": "u", "password": "p", "database": "d"}
# One that ends a login which nobody answers, within two seconds.
TIMEOUTS = {
    ("java", "pgjdbc"): "socketTimeout=1",
    ("java", "connector-j"): "socketTimeout=1000",
    ("java", "mariadb-java-client"): "connectTimeout=1000",
    ("node", "pg"): "connectionTimeoutMillis=1000",
    ("node", "postgres-js"): "connect_timeout=1",
    ("node", "pg-native"): "connect_timeout=2",
    ("node", "mysql2"): "connectTimeout=1000",
    ("node", "mariadb"): "connectTimeout=2000",  # by itself one second
    ("csharp", "ado-odbc-mariadb"): "CONN_TIMEOUT=2",
}
DRIVERS = pytest.mark.parametrize(("language", "driver"), TIMEOUTS, ids=map("-".join, TIMEOUTS))


@contextlib.contextmanager
def opened(language: str, driver: str, settings: str) -> Iterator[dict[str, str]]:
    """The error of an `open` to a server that never answers."""
    found = adapter(language, driver)
    if not (available := manifest.availability(found, found.versions[0])).ok:
        pytest.skip(available.reason)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        talk = LineTalk(found)
        try:
            talk.hello()
            options = LOGIN | {"port": str(mute.getsockname()[1]), "driver_settings": settings}
            options |= {"engine": found.engines[0], "version": found.versions[0], "transport": "tcp", "tls": "off"}
            yield talk.ask("open", options=options)["error"]
        finally:
            talk.end()


@DRIVERS
def test_a_timeout_reaches_the_driver(language: str, driver: str) -> None:
    began = time.monotonic()
    with opened(language, driver, TIMEOUTS[language, driver]) as error:
        assert error["kind"] == "connect", error
        assert time.monotonic() - began < 10


@DRIVERS
@pytest.mark.parametrize("setting", ["such_a_name=1", "such_a_name"])
def test_an_unknown_name_is_refused(language: str, driver: str, setting: str) -> None:
    with opened(language, driver, setting) as error:
        assert "such_a_name" in error["text"], error
        assert error["kind"] == ("connect" if driver == "pg-native" else "unsupported")  # libpq itself refuses it
