"""The kind of engine that is written in Java: the same database embedded in a client's JVM and behind its own server.

A database is a directory; `embedded.py` makes, fills and copies it, `server.py` runs the server over it.
"""

from __future__ import annotations

from typing_extensions import override

from rowpath.engines.base import Instance, Place
from rowpath.engines.jvm.dialect import JvmDialect
from rowpath.engines.jvm.embedded import JvmDirectory
from rowpath.engines.jvm.server import JvmServer


class JvmEngine(JvmDialect):
    """The kind of engine: one of those written in Java. Its module fills in what makes it that one."""

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        return (JvmServer if deployment == "server" else JvmDirectory)(self, durability, place)
