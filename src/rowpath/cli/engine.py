"""`rowpath engine list|fetch|up|down|status`: what there is, fetching on request, a server by hand for a look."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rowpath import text
from rowpath.cli.options import WILL_RUN, Filters, add_option, add_words, parse_filters
from rowpath.errors import InternalError, RowpathError, UsageError

if WILL_RUN:
    import msgspec

    from rowpath.engines import ENGINES, by_hand, optional_downloads
    from rowpath.engines.base import BacksUp, Engine, Stored, Versioned, versions
    from rowpath.engines.by_hand import StartAnswer, StartedServer, StartRequest
    from rowpath.engines.external_engines import ExternalEngine
    from rowpath.machine import directories, processes
    from rowpath.machine.counters import memory
    from rowpath.toml_file import suggest
    from rowpath.workloads.workload_file import load_workload


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `engine`."""
    parser.add_argument("action", choices=("list", "fetch", "up", "down", "status"))
    add_words(parser, "WORD", "fetch, up, down: NAME; up: storage=VALUE, durability=VALUE, engine_version=VALUE")
    add_option(parser, "--yes", "fetch: agree to the licence and the size that list shows")
    add_option(parser, "--load WORKLOAD", "up: load the tables of this workload", action="append", default=[])
    add_option(parser, "--all", "down: stop every running engine")


def run(options: argparse.Namespace) -> int:
    """Do the action and print its lines; UsageError for words that it does not take."""
    wanted = parse_filters(options.filters)
    named = options.action in ("fetch", "up") or (options.action == "down" and not options.all)
    if len(options.words) != named:
        what = "needs one NAME" if named else "takes no NAME"
        raise UsageError(f"engine {options.action} {what}", "rowpath engine list")
    if wanted and options.action != "up":
        raise UsageError(f"engine {options.action} takes no COORDINATE=VALUE", "rowpath engine up NAME durability=none")
    lines: dict[str, Callable[..., Iterator[str]]] = {
        "list": engines,
        "fetch": lambda name: fetch(name, confirmed=options.yes),
        "up": lambda name: up(name, wanted, tuple(options.load)),
        "down": down if named else down_all,
        "status": status,
    }
    for line in lines[options.action](*options.words):
        print(line, flush=True)
    return 0


def engines() -> Iterator[str]:
    """Every engine with what it offers and whether it can run here; then what comes on request."""
    for name, engine in ENGINES.items():
        here = engine.availability()
        yield f"{name:<12} {here.not_here or here.what}"
        yield f"{'':12} deployments {', '.join(engine.deployments)}; {_kept(engine)}"
        if isinstance(engine, Versioned):
            for version in engine.versions():
                yield f"{'':12} version {version}: {engine.availability_of(version, 'off').not_here or 'here'}"
        if isinstance(engine, BacksUp):
            ways = dict.fromkeys(way for deployment in engine.deployments for way in engine.backup_ways(deployment))
            for way in ways or ("none",):
                yield f"{'':12} backup {way}: {engine.backup_availability(way).not_here or 'here'}"
    yield ""
    yield "on request, pinned by checksum, never redistributed by Rowpath:"
    for name, found in optional_downloads().items():
        state = "fetched" if found.fetched() else f"rowpath engine fetch {name}"
        yield f"{name:<12} {found.licence}, {found.size_text}: {state}"


def _kept(engine: Engine) -> str:
    if isinstance(engine, Stored):
        each = (f"{storage} ({', '.join(engine.durabilities_of(storage))})" for storage in engine.storages)
        return f"storages (durabilities) {', '.join(each)}"
    return f"durabilities {', '.join(engine.durabilities) or 'none'}"


def fetch(name: str, *, confirmed: bool) -> Iterator[str]:
    """Fetch one on request, once its licence and size have been agreed to; what was done."""
    offered = optional_downloads()
    download = offered.get(name)
    if download is None:
        hint = suggest(name, tuple(offered)) if offered else "rowpath engine list"
        raise UsageError(f"unknown optional engine '{name}'", hint)
    if download.fetched():
        yield f"{name} is already installed"
        return
    what = f"licence {download.licence}, {download.size_text}; a Maven artefact, pinned by checksum"
    yield f"{name}: {what}, into {directories.cache_dir()}"
    if not confirmed:
        again = f"rowpath engine fetch {name} --yes"
        if not sys.stdin.isatty():
            raise UsageError(f"{name} needs your agreement to its licence and size", again)
        print("Fetch it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise UsageError(f"{name} was not fetched", again)
    yield download.fetch()


def up(name: str, wanted: Filters, load: tuple[str, ...]) -> Iterator[str]:
    """Start a private server of that engine that outlives this command; how to connect to it, and how to stop it.

    Errors: UsageError, EnvironmentMissing, and whatever the engine's own start meets.
    """
    request = _request(name, wanted, load)
    if by_hand.is_kept(name):
        raise UsageError(f"{name} is already running", f"rowpath engine status, or: rowpath engine down {name}")
    print(f"starting {name}{f', loading {chr(44).join(load)}' if load else ''}", file=sys.stderr)
    state = _started(request)
    yield _what(state)
    yield from (f"  {line}" for line in state.connect)
    yield f"stop it with: rowpath engine down {name}"


def _request(name: str, wanted: Filters, load: tuple[str, ...]) -> StartRequest:
    if name not in ENGINES:
        raise UsageError(f"unknown engine '{name}'", suggest(name, tuple(ENGINES)))
    engine = ENGINES[name]
    if not _has_server(engine):
        others = "|".join(other for other in ENGINES if _has_server(ENGINES[other]))
        raise UsageError(f"{name} has no server that Rowpath can start", f"rowpath engine up {others}")
    for key in wanted:
        if key not in ("storage", "durability", "engine_version"):
            raise UsageError(f"'{key}' is not a server option", "storage=VALUE durability=VALUE engine_version=VALUE")
    storages = engine.storages if isinstance(engine, Stored) else ()
    storage = _one("storage", wanted, storages) if storages or "storage" in wanted else ""
    durabilities = engine.durabilities_of(storage) if isinstance(engine, Stored) else engine.durabilities
    durability = _one("durability", wanted, durabilities)
    version = _one("engine_version", wanted, versions(engine, "server"))
    here = engine.availability_of(version, "off") if isinstance(engine, Versioned) else engine.availability()
    here.require()
    for workload in load:
        load_workload(workload)
    return StartRequest(name, durability, storage, version if isinstance(engine, Versioned) else "", load)


def _has_server(engine: Engine) -> bool:
    return "server" in engine.deployments and not engine.is_floor and not isinstance(engine, ExternalEngine)


def _one(key: str, wanted: Filters, offered: tuple[str, ...]) -> str:
    """The requested value, else the first offered."""
    values = wanted.get(key, offered[:1])
    if len(values) != 1 or values[0] not in offered:
        hint = f"one of: {', '.join(offered)}" if offered else f"remove {key}="
        raise UsageError(f"{key} '{','.join(values)}' is not available", hint)
    return values[0]


def _started(request: StartRequest) -> StartedServer:
    """Start the supervisor, detached, and wait for its answer."""
    added = {"PYTHONPATH": str(Path(__file__).parents[2]), "ROWPATH_CACHE": str(directories.cache_dir())}
    words = msgspec.json.encode(request).decode()
    # Not through `launch`: this child is to outlive us. What it starts is bound to it instead.
    supervisor = subprocess.Popen(
        [sys.executable, "-P", "-m", "rowpath.engines.by_hand", words],
        env=processes.environment_for(added),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert supervisor.stdout is not None
    try:
        line = supervisor.stdout.readline()
    except KeyboardInterrupt:
        with contextlib.suppress(ProcessLookupError):
            os.kill(supervisor.pid, signal.SIGTERM)
        supervisor.wait()
        raise
    if not line:
        what = f"the supervisor of {request.engine} ended with status {supervisor.wait()} without output"
        raise InternalError(what, f"PYTHONPATH=src python -m rowpath.engines.by_hand '{words}'")
    answer = msgspec.json.decode(line, type=StartAnswer)
    if answer.state is None:
        supervisor.wait()
        error = RowpathError(answer.error, answer.hint)
        error.exit_code = answer.exit_code
        raise error
    return answer.state


def down(name: str) -> Iterator[str]:
    """Stop that engine's server and remove its files. UsageError when it is not up."""
    state = by_hand.read(name)
    if state is None:
        starting = by_hand.is_kept(name)
        raise UsageError(f"{name} is {'starting or stopping' if starting else 'not running'}", "rowpath engine status")
    by_hand.stop(state)
    if by_hand.is_kept(name):
        raise InternalError(f"cannot stop the supervisor {state.supervisor_pid} of {name}", "rowpath engine status")
    yield f"{name} is stopped, its files are removed"


def down_all() -> Iterator[str]:
    """Stop every one that is up."""
    names = [name for name in by_hand.known() if by_hand.read(name) is not None]
    for name in names:
        yield from down(name)
    if not names:
        yield "no engine is running"


def status() -> Iterator[str]:
    """What is up; never a password."""
    kept = [name for name in by_hand.known() if by_hand.is_kept(name)]
    for name in kept:
        state = by_hand.read(name)
        if state is None:
            yield f"{name} is starting or stopping"
            continue
        pids = processes.descendants(state.supervisor_pid)
        yield _what(state)
        yield f"  since {state.since}, own memory {text.size(memory.anonymous_bytes(pids))}"
        yield f"  server {' '.join(map(str, pids))}, supervisor {state.supervisor_pid}"
        yield f"  127.0.0.1:{state.port}{f', {state.socket}' if state.socket else ''}"
        yield f"  {state.directory}"
        yield from (f"  {line}" for line in state.connect)
    if not kept:
        yield "no engine is running"


def _what(state: StartedServer) -> str:
    storage = f", storage {state.storage}" if state.storage != "none" else ""
    loaded = f", with the tables of {', '.join(state.loaded)}" if state.loaded else ""
    return f"{state.engine} {state.version} is up{storage}, durability {state.durability}{loaded}"
