"""What the toolchains of several languages share: sources, versions of drivers, files of libraries."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from pathlib import Path

from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.runners.manifest import Adapter, language

LIBRARY_FOLDERS = (f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}", "/usr/local/lib", "/usr/lib64", "/usr/lib")
Find = Callable[[str], Path | None]  # a shared library by its file name: the C linker's way, or `system_library`


def sources_of(language_name: str, folder: str) -> list[Path]:
    """The sources of a folder of that language's runner; UsageError for a folder without any."""
    suffix = language(language_name).source_suffix
    sources = sorted((data_dir() / "runners" / language_name / folder).glob(f"*{suffix}"))
    if not sources:
        raise UsageError(f"no sources in runners/{language_name}/{folder}", "correct `families` in adapters.toml")
    return sources


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
    if version in adapter.versions or "odbc" in adapter.build:  # which driver an ODBC path has: `odbc_driver`
        return None
    if not any(key in adapter.build for key in takers):
        reason = f"{adapter.language} {adapter.driver} has no version '{version}' and takes no file"
        return reason, f"version={adapter.versions[0]}"
    if "/" not in version:
        return f"{adapter.language} {adapter.driver} has no version '{version}'", "version=/path/to/its/file"
    if not Path(version).exists():
        return f"no file {version}", f"ls {Path(version).parent}"
    return None


def system_library(name: str) -> Path | None:
    """A shared library by its file name; None when it is in no folder of the system's."""
    files = (Path(folder) / name for folder in LIBRARY_FOLDERS)
    return next((file for file in files if file.is_file()), None)


def odbc_driver(adapter: Adapter, version: str, find: Find) -> Path | None:
    """The ODBC driver that `build.odbc` names, or the file that the version is; no data source names it.

    None when it is not there or not named.
    """
    if version.startswith("/"):
        return Path(version) if Path(version).is_file() else None
    return find(adapter.build["odbc"]["file"]) if "file" in adapter.build["odbc"] else None


def odbc_environment(adapter: Adapter, version: str, find: Find) -> dict[str, str]:
    """The variable by which a runner gets the file of its ODBC driver; nothing for an adapter without one."""
    return {"ROWPATH_ODBC_DRIVER": str(odbc_driver(adapter, version, find))} if "odbc" in adapter.build else {}


def odbc_problem(adapter: Adapter, version: str, find: Find) -> tuple[str, str] | None:
    """What an ODBC adapter lacks here, and the command that would bring it; None when nothing."""
    if "file" not in adapter.build.get("odbc", {}) or odbc_driver(adapter, version, find) is not None:
        return None
    named = version if version.startswith("/") else adapter.build["odbc"]["file"]
    return f"the ODBC driver {named} is missing", f"apt-get install {adapter.build['odbc']['package']}"
