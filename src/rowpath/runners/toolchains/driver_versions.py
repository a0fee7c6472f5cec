"""Versions of a driver: those that its manifest names, and files of the user's own, where the build can take one."""

from __future__ import annotations

from pathlib import Path

from rowpath.runners.manifest import Adapter


def named(adapter: Adapter, version: str) -> str:
    """The driver, with its version where that is known."""
    return adapter.driver if version == "bundled" else f"{adapter.driver} {version}"


def unpinned(adapter: Adapter, version: str, lock: str) -> tuple[str, str] | None:
    """Why a version that the lock file `lock` does not pin cannot be measured, and what can; None for one it pins."""
    if version in adapter.versions:
        return None
    reason = f"{adapter.language} {adapter.driver} has no version '{version}': {lock} pins it"
    return reason, f"version={adapter.versions[0]}"


def refused(adapter: Adapter, version: str, *takers: str) -> tuple[str, str] | None:
    """Why a version cannot be measured, and what can; None when it can.

    `takers`: the keys of `build` that say that the driver's file may be named by its path.
    """
    if version in adapter.versions or "odbc" in adapter.build:  # which driver an ODBC path has is `odbc.py`'s
        return None
    if not any(key in adapter.build for key in takers):
        reason = f"{adapter.language} {adapter.driver} has no version '{version}' and takes no file"
        return reason, f"version={adapter.versions[0]}"
    if "/" not in version:
        return f"{adapter.language} {adapter.driver} has no version '{version}'", "version=/path/to/its/file"
    if not Path(version).exists():
        return f"no file {version}", f"ls {Path(version).parent}"
    return None
