"""Which adapters can keep what a probe promises of a target; the others are left out, with the reason."""

from __future__ import annotations

from rowpath.engines import ENGINES
from rowpath.probe.target import Target
from rowpath.runners.manifest import Adapter


def read_only(target: Target, in_place: bool) -> bool:
    """Whether the target's file must be opened read only: it is the user's own, or several have to share it."""
    layout = ENGINES[target.engine].probe.layout
    return target.deployment == "embedded" and (in_place or (layout is not None and layout.shared_read_only))


def ineligibility(adapter: Adapter, tls: str, must_read_only: bool, transport: str = "none") -> tuple[str, str]:
    """Why the adapter cannot serve such a target, and what would help; empty when it can."""
    if must_read_only and not adapter.opens_read_only and not adapter.floor:
        return f"{adapter.driver} cannot open a file read-only", "remove --in-place"
    if tls == "on" and "on" not in adapter.coordinates.get("tls", ()):
        return (
            f"the URL requires TLS, which {adapter.driver} does not support here",
            "sslmode=disable, if that is acceptable",
        )
    if transport == "unix" and "unix" not in adapter.coordinates.get("transport", ()):
        return f"{adapter.driver} reaches no server through a Unix socket here", "name the server's host in the URL"
    return "", ""
