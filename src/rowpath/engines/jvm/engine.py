"""The kind of engine that is written in Java: its dialect, and the instances that it makes."""

from __future__ import annotations

from typing_extensions import override

from rowpath.engines.base import Instance, Place
from rowpath.engines.jvm.base import JvmDialect
from rowpath.engines.jvm.embedded import JvmDirectory
from rowpath.engines.jvm.server import JvmServer


class JvmEngine(JvmDialect):
    """An engine written in Java, embedded in a client's JVM or behind a server of its own."""

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        return (JvmServer if deployment == "server" else JvmDirectory)(self, durability, place)
