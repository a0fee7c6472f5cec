"""ODBC drivers: the driver's file, which no data source names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rowpath.runners.manifest import Adapter
from rowpath.runners.toolchains.c_compiler import library_file

Find = Callable[[str], Path | None]  # a shared library by its file name: the C linker's way, or a toolchain's own


def driver_file(adapter: Adapter, version: str, find: Find = library_file) -> Path | None:
    """The driver that `build.odbc` names, or the file that the version is; None when it is not there or not named."""
    if version.startswith("/"):
        return Path(version) if Path(version).is_file() else None
    return find(adapter.build["odbc"]["file"]) if "file" in adapter.build["odbc"] else None


def problem(adapter: Adapter, version: str, find: Find = library_file) -> tuple[str, str] | None:
    """What an ODBC adapter lacks here, and the command that would bring it; None when nothing."""
    if "file" not in adapter.build.get("odbc", {}) or driver_file(adapter, version, find) is not None:
        return None
    named = version if version.startswith("/") else adapter.build["odbc"]["file"]
    return f"the ODBC driver {named} is missing", f"apt-get install {adapter.build['odbc']['package']}"


def definition(adapter: Adapter, version: str) -> list[str]:
    """What names the driver's file to the compiler; nothing where the connection names it."""
    if "file" not in adapter.build.get("odbc", {}):
        return []
    return [f'-DODBC_LIBRARY="{driver_file(adapter, version)}"']
