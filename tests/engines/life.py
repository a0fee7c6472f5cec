"""What the tests of the engines share."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from rowpath.engines.base import Place
from rowpath.model.workload import Table, Workload
from tests.waiting import alive

CHILD = """
import json, sys, time
from pathlib import Path
from rowpath.engines import ENGINES
from rowpath.engines.base import Place
name, folder = sys.argv[1], Path(sys.argv[2])
engine = ENGINES[name]
instance = engine.instance("server", engine.durabilities[0], Place(folder, folder / "s", (0,)))
instance.start()
print(json.dumps(instance.pids()), flush=True)
time.sleep(600)
"""


def place(folder: Path, port: int = 0, version: str = "") -> Place:
    return Place(folder / "data", folder / "s", (max(os.sched_getaffinity(0)),), port, version=version)


def reaching(folder: Path) -> tuple[Path, ...]:
    """The folders to open to others before root starts a server in this one: it runs as another user."""
    return (folder, *folder.parents[:3]) if os.geteuid() == 0 else ()


def loaded(workload: Workload) -> dict[str, Table]:
    return {name: table for name, table in workload.tables.items() if table.rows}


def kill_the_controller(engine: str, folder: Path) -> list[int]:
    """Start the engine's server from a controller of its own, kill -9 that one; the server's pids."""
    controller = subprocess.Popen(
        [sys.executable, "-c", CHILD, engine, str(folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert controller.stdout is not None
    pids: list[int] = json.loads(controller.stdout.readline())
    assert pids and alive(pids[0])  # a worker of the server may come and go
    os.kill(controller.pid, signal.SIGKILL)
    controller.wait()
    controller.stdout.close()
    return pids
