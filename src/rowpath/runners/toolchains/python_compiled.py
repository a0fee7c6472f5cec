"""Python drivers that have no wheel for Linux: compiled here from checksummed sources, each in its own environment."""

from __future__ import annotations

import os
import shlex
import shutil
import sysconfig
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.machine import processes
from rowpath.runners.manifest import Adapter

PACKAGES = {"mariadb_config": "libmariadb-dev", "pg_config": "libpq-dev"}  # of Debian, with each program
LOCK = "compiled.lock"


def is_compiled(adapter: Adapter) -> bool:
    """Whether its manifest names `compiled_with`: the program that knows where its C library is."""
    return "compiled_with" in adapter.build


def remedy(adapter: Adapter) -> str:
    """The command that brings what compiling the driver takes."""
    return f"apt-get install gcc {PACKAGES[str(adapter.build['compiled_with'])]} python3-dev"


def missing(adapter: Adapter) -> str:
    """What compiling the driver lacks here, in words; empty when nothing; starts nothing."""
    program = str(adapter.build["compiled_with"])
    compiler = shlex.split(os.environ.get("CC", "") or str(sysconfig.get_config_var("CC") or "cc"))[0]
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    lacking = [
        f"{what} is missing"
        for what, there in (
            (f"the C compiler {compiler}", shutil.which(compiler)),
            (f"{program} (with the C library's headers)", shutil.which(program)),
            (f"Python's own header {headers}", headers.is_file()),
        )
        if not there
    ]
    return f"it has no wheel and is compiled here: {', '.join(lacking)}" if lacking else ""


def flags(adapter: Adapter) -> dict[str, str]:
    """The environment in which the driver's build finds this one C library and no other.

    Errors: EnvironmentMissing when the library's own program does not say.
    """
    program = str(adapter.build["compiled_with"])
    if program == "pg_config":  # which the driver's build asks by itself
        return {"LDFLAGS": f"-Wl,-rpath,{_output(adapter, '--libdir')}"}
    return {
        "MYSQLCLIENT_CFLAGS": _output(adapter, "--include"),
        "MYSQLCLIENT_LDFLAGS": _output(adapter, "--libs"),
        "MARIADB_CONFIG": shutil.which(program) or program,
    }


def _output(adapter: Adapter, question: str) -> str:
    program = str(adapter.build["compiled_with"])
    done = processes.run([program, question], timeout_s=30)
    if done.returncode:
        raise EnvironmentMissing(f"{program} {question} failed: {done.stderr.strip()[-300:]}", remedy(adapter))
    return done.stdout.strip()
