"""Which paths share one instance of an engine."""

from __future__ import annotations

from rowpath.engines import ENGINES
from rowpath.engines.base import versions
from rowpath.model.path import AccessPath

# engine, deployment, durability, version (`none` where the engine has but one), storage (`none` likewise), `free` for
# a server that may use every core (else `none`), host (`none`: this machine)
Key = tuple[str, str, str, str, str, str, str]


def key_of(path: AccessPath) -> Key:
    """What a path's engine instance is shared by."""
    offered = versions(ENGINES[path.engine])
    version = path.engine_version if path.engine_version in offered else offered[0]
    shown = version if len(offered) > 1 else "none"
    free = "free" if path.served and path.placement == "free" else "none"
    host = path.get("server_host" if path.served else "client_host")
    return path.engine, path.deployment, path.durability, shown, path.storage, free, host
