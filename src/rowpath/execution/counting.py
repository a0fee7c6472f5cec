"""Counting what a path sends: the counting proxy, statements, bytes and turns."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowpath.engines import ENGINES
from rowpath.engines.base import CountsStatements, Instance, Wire
from rowpath.machine import private_directories
from rowpath.machine.counters import counting_proxy as proxy
from rowpath.model.path import AccessPath

BY_SOCKET = Wire("", socket_name="socket")  # an engine that says nothing of its socket
STATEMENTS_MEANS = "the server's own counters of prepared statements"


def statement_counts(instance: Instance) -> dict[str, int]:
    """The statements that the server has executed so far, by its own counters; empty where it has none."""
    return instance.statement_counts() if isinstance(instance, CountsStatements) else {}


LEAST_DISTINCTIVE = 8  # characters; a shorter run between placeholders may stand elsewhere too


def distinctive(sql: str) -> str:
    """The longest part of an SQL text without a placeholder: it travels when the text travels. Empty when short."""
    longest = max((part.strip() for part in sql.split("?")), key=len)
    return longest if len(longest) >= LEAST_DISTINCTIVE else ""


@dataclass
class Counting:
    """A proxy in front of an engine, and what `open` gets so that the runner goes through it."""

    proxy: proxy.Proxy
    overrides: dict[str, Any]
    encrypted: bool = False  # so that no text can be found in what passes


@contextlib.contextmanager
def counting_proxy(
    path: AccessPath, instance: Instance, directory: Path, way: Mapping[str, Any] = {}
) -> Iterator[Counting | None]:
    """A counting proxy in front of the instance for this path; None where nothing goes over a connection.

    `way`: where an emulated link listens; the proxy stands on its client's side, so that it counts the same.
    """
    transport = path.transport
    if not path.served or transport not in ("tcp", "unix"):
        yield None
        return
    options = {**instance.options(path), **way}
    # A server that is not ours, or whose place only the user's own driver knows: the proxy stands in front of ours.
    host = options.get("host", "127.0.0.1")
    is_ours = host == "127.0.0.1" or path.server_host != "none"
    if transport == "tcp" and not (is_ours and "port" in options):
        yield None
        return
    with contextlib.ExitStack() as cleanup:
        if transport == "tcp":
            counting = proxy.Proxy((host, int(options["port"])))
            overrides: dict[str, Any] = {"host": "127.0.0.1", "port": counting.port}
        else:
            folder = private_directories.socket_home(directory / "proxy", None)
            cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
            wire, port = ENGINES[path.engine].wire or BY_SOCKET, int(options.get("port", 0))
            named = options["socket_dir" if wire.socket_folder else "socket"]
            front = wire.socket(folder, port)
            overrides = wire.socket_options(front)
            counting = proxy.Proxy(wire.named_socket(named, port), front or 0)
        cleanup.callback(counting.stop)
        yield Counting(counting, overrides)
