"""ODBC drivers for C: the driver's file, which no data source names."""

from __future__ import annotations

from pathlib import Path

from rowpath.runners.manifest import Adapter
from rowpath.runners.toolchains.c_compiler import library_file


def driver_file(adapter: Adapter, version: str) -> Path | None:
    """The driver that `build.odbc` names, or the file that the version is; None when it is not there or not named."""
    if version.startswith("/"):
        return Path(version) if Path(version).is_file() else None
    return library_file(adapter.build["odbc"]["file"]) if "file" in adapter.build["odbc"] else None


def problem(adapter: Adapter, version: str) -> tuple[str, str] | None:
    """What an ODBC adapter lacks here, and the command that would bring it; None when nothing."""
    if "file" not in adapter.build.get("odbc", {}) or driver_file(adapter, version) is not None:
        return None
    named = version if version.startswith("/") else adapter.build["odbc"]["file"]
    return f"the ODBC driver {named} is missing", f"apt-get install {adapter.build['odbc']['package']}"


def compiling(adapter: Adapter, version: str) -> list[str]:
    """What names the driver's file to the compiler; nothing where the connection names it."""
    if "file" not in adapter.build.get("odbc", {}):
        return []
    return [f'-DODBC_LIBRARY="{driver_file(adapter, version)}"']
