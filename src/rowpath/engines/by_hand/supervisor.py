"""The process that owns a server started by hand with `engine up`.

`python -m rowpath.engines.by_hand.supervisor REQUEST` is how `engine up` starts it.

The server ends with this process, as every server ends with its controller. It prints one line of JSON once the
server is up, or why it is not; it stops the server, removes its files and ends on SIGTERM, or when the server ends.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.engines.by_hand import state as engine_state
from rowpath.errors import RowpathError
from rowpath.machine import cpus, processes
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.workloads.scale import at_scale
from rowpath.workloads.sql import for_engine
from rowpath.workloads.workload_file import load_workload

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LOOK_EACH_S = 1.0


class Request(msgspec.Struct, frozen=True):
    """What is to be started; empty fields take the engine's first value."""

    engine: str
    durability: str
    storage: str = ""
    version: str = ""
    load: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """What came of it: a state, or an error as a user meets it."""

    state: engine_state.State | None = None
    error: str = ""
    hint: str = ""
    exit_code: int = 0


def main() -> int:
    """Start the server, report it, keep it up, stop it."""
    request = msgspec.json.decode(sys.argv[1], type=Request)
    for number in SIGNALS:
        signal.signal(number, _end)
    try:
        with ExitStack() as cleanup:
            cleanup.enter_context(engine_state.claimed(request.engine))
            cleanup.callback(processes.stop_all)
            state, instance = _start(request, cleanup)
            engine_state.write(state)
            _say(Answer(state))
            while instance.pids():
                time.sleep(LOOK_EACH_S)
    except RowpathError as error:
        _say(Answer(None, error.message, error.hint, error.exit_code))
    except KeyboardInterrupt:
        pass  # a signal requested the end; everything was stopped on the way here
    return 0


def _start(request: Request, cleanup: ExitStack) -> tuple[engine_state.State, Instance]:
    engine = ENGINES[request.engine]
    home = engine_state.folder(request.engine) / "instance"
    place = Place(home, home, cpus.usable(), version=request.version, storage=request.storage)
    instance = engine.instance("server", request.durability, place)
    cleanup.callback(instance.stop)
    instance.start()
    instance.load(_tables(request))
    options = instance.options(AccessPath.of({"engine": request.engine, "deployment": "server"}))
    connect = engine.connect_lines(options, engine_state.private(request.engine))
    state = engine_state.State(
        engine=request.engine,
        version=instance.version,
        durability=request.durability,
        storage=request.storage or "none",
        loaded=request.load,
        supervisor_pid=os.getpid(),
        since=datetime.now(UTC).isoformat(timespec="seconds"),
        port=int(options["port"]),
        socket=str(options.get("socket") or options.get("socket_dir") or ""),
        directory=str(engine_state.folder(request.engine)),
        connect=connect,
    )
    return state, instance


def _tables(request: Request) -> dict[str, Table]:
    """The filled tables of the requested workloads; a later workload's definition of a name counts."""
    tables: dict[str, Table] = {}
    for name in request.load:
        narrowed, _ = for_engine(at_scale(load_workload(name), 0.0), ENGINES[request.engine].supports)
        tables |= {each: table for each, table in narrowed.tables.items() if table.rows}
    return tables


def _say(answer: Answer) -> None:
    """Print the answer, and release the process that started us."""
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def _end(_number: int, _frame: object) -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the way out is taken once
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
