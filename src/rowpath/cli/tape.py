"""`rowpath record` and `rowpath replay`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rowpath import __version__
from rowpath.cli.options import WILL_RUN, Filters, add_option, add_shared, add_words, parse_filters
from rowpath.errors import RowpathError, UsageError

if WILL_RUN:
    from rowpath.engines import ENGINES, taped
    from rowpath.engines.base import Wire
    from rowpath.machine import processes
    from rowpath.model.path import ENCRYPTED
    from rowpath.own_database.question import hide
    from rowpath.own_database.target import read_target
    from rowpath.tape.format import IN_WORDS, Header, Tape, read, write
    from rowpath.tape.proxy import RecordingProxy
    from rowpath.tape.replay_server import ReplayServer
    from rowpath.text import printable


EXAMPLE = "rowpath record postgresql://me@localhost/shop -o slow.tape -- COMMAND"
SHOWN_REASONS = 5
INTERRUPTED = 130


def add_record(parser: argparse.ArgumentParser) -> None:
    """The options of `record`."""
    server = "the server: postgresql://…, mariadb://…, mysql://… or derby://…; put the command that talks to it"
    proxy = (
        "after --: ROWPATH_URL and {url} give it the recording proxy's URL; with --experiment: filters for its paths"
    )
    add_words(parser, "URL or COORDINATE=VALUE", f"{server} {proxy}")
    add_option(parser, "-o --out FILE.tape", "the tape", type=Path, required=True)
    add_option(parser, "--scrub", "replace all values in rows with noise of the same size")
    instead = "instead of a command: record this experiment's paths on Rowpath's own server, in each phase that reads"
    add_option(parser, "--experiment NAME", instead)
    add_shared(parser, "--adapters", "--timeout", "-q --quiet", "--color")


def add_replay(parser: argparse.ArgumentParser) -> None:
    """The options of `replay`."""
    served = "after --: a command to run while the tape is served"
    parser.add_argument("tape", metavar="FILE.tape", type=Path, help=served)
    add_option(parser, "--port N", "port on 127.0.0.1 (default: any free port)", type=int, default=0)
    fast = "send replies as fast as the kernel accepts them, not in the server's small pieces"
    add_option(parser, "--line-rate", fast)


def run_record(options: argparse.Namespace) -> int:
    """An experiment's paths, or a command's conversation. Errors: RowpathError."""
    if options.out.is_dir() or not options.out.absolute().parent.is_dir():
        raise UsageError(f"cannot write the tape {options.out}", "-o FILE.tape, in a directory that exists")
    try:
        filters = parse_filters(options.filters)
        return _experiment(options, filters) if options.experiment else _command(options, filters)
    finally:
        processes.stop_all()


def _experiment(options: argparse.Namespace, filters: Filters) -> int:
    from rowpath.cli.plan import plan_for
    from rowpath.execution.run import build_for
    from rowpath.recording import experiment
    from rowpath.report import live

    if options.words or options.program:
        raise UsageError("--experiment takes filters only, no URL and no command", "engine=postgresql driver=psycopg")
    if options.scrub:
        raise UsageError("the rows of an experiment are generated: there is nothing to scrub", "remove --scrub")
    plan = plan_for(options.experiment, filters, seed=1)
    experiment.check(plan)
    progress = live.make(options.quiet, options.color)
    build_for(plan, progress)
    with tempfile.TemporaryDirectory(prefix="rowpath-record-") as folder:
        header, content = experiment.record(
            plan, Path(folder) / "work", progress.note, options.timeout, lambda line: progress.note(printable(line))
        )
    _keep(options.out, header, content)
    return 0


def _command(options: argparse.Namespace, filters: Filters) -> int:
    if len(options.words) != 1 or filters:
        raise UsageError("record needs one URL, or --experiment NAME", EXAMPLE)
    if not options.program:
        raise UsageError("no command to record", EXAMPLE)
    target = read_target(options.words[0], os.environ)
    hide(target.secrets())
    wire = ENGINES[target.engine].wire
    if wire is None or target.deployment != "server":
        raise UsageError(f"cannot record {target.engine}: a tape holds {IN_WORDS}, of a server", EXAMPLE)
    if target.hosts:
        raise UsageError(f"a tape is recorded of one host, and {target.shown} names several", EXAMPLE)
    if target.tls in ENCRYPTED:
        what = "a tape is recorded without TLS, which the URL demands"
        raise UsageError(what, "sslmode=disable, if that is acceptable")
    is_unix = target.transport == "unix"
    to = wire.named_socket(target.socket, target.port) if is_unix else (target.host, target.port)
    proxy = RecordingProxy(wire.protocol, to, options.scrub)
    proxy.start()
    try:
        code = _run(options.program, target.engine, wire, target.user, target.password, proxy.port, target.database)
    finally:
        proxy.stop()
    proxy.check()
    content = proxy.records.content()
    if target.scrubber().holds(content):
        what = "a statement or a row contains the password, so no tape was written"
        raise UsageError(what, "use --scrub, or another login")
    header = Header(
        engine=target.engine,
        rowpath=__version__,
        recorded=datetime.now(UTC).isoformat(timespec="seconds"),
        server=proxy.server,
        scrubbed=options.scrub,
        connections=proxy.records.connections,
        requests=proxy.records.requests,
    )
    _keep(options.out, header, content)
    return _ended(code)


def _ended(code: int) -> int:
    """What our own exit code says of the command's."""
    if code:
        print(f"error: the command ended with code {code}", file=sys.stderr)
    return 1 if code else 0


def _keep(file: Path, header: Header, content: bytes) -> None:
    """Write the tape once the replay server has read it, and say what is on it."""
    server = ReplayServer(Tape(file, header, content))
    try:
        server.check()
    except UsageError as error:
        raise RowpathError(f"cannot record this conversation: {error.message}", "docs/tape.md") from error
    write(file, header, content)
    print(f"{file}: {described(header)}, {file.stat().st_size:,} bytes")
    if server.ambiguous:
        refused = "a replay refuses those that it cannot tell apart"
        print(f"{server.ambiguous} requests got different replies each time: {refused}")


def described(header: Header) -> str:
    """What is on a tape, in one line."""
    what = f"{header.engine} ({header.server}), {header.connections} connections, {header.requests:,} requests"
    if header.experiment is not None:
        what += f", experiment {header.experiment.name} with {len(header.paths)} paths"
    return what + (", rows scrubbed" if header.scrubbed else "")


def _url(engine: str, wire: Wire, user: str, password: str, port: int, database: str) -> str:
    login = urllib.parse.quote(user, safe="") + (f":{urllib.parse.quote(password, safe='')}" if password else "")
    query = f"?{wire.url_query}" if wire.url_query else ""
    return f"{engine}://{login}@127.0.0.1:{port}/{urllib.parse.quote(database)}{query}"


def _run(program: Sequence[str], engine: str, wire: Wire, user: str, password: str, port: int, database: str) -> int:
    """Run a command against that port; a password reaches it in its environment only. Errors: UsageError."""
    shown = _url(engine, wire, user, "", port, database)
    own = {"ROWPATH_URL": _url(engine, wire, user, password, port, database)}
    own |= {wire.password_variable: password} if password and wire.password_variable else {}
    words = [word.replace("{url}", shown) for word in program]
    stdin = None if not sys.stdin.isatty() else -3  # a program in the background may not read a terminal
    try:
        process = processes.start(words, environment=os.environ | own, stdin=stdin, stdout=None, stderr=None)
    except OSError as error:
        raise UsageError(f"cannot start {program[0]}: {error.strerror}", EXAMPLE) from error
    try:
        while not processes.wait(process, 1.0):
            pass
    finally:
        code = processes.stop(process)
    return code


def run_replay(options: argparse.Namespace) -> int:
    """Serve a tape until interrupted, or until the command has ended."""
    tape = read(options.tape)
    engine = tape.header.engine
    wire = taped.wire_of(ENGINES.get(engine), tape)
    server = ReplayServer(tape)
    code = 0
    try:
        server.start(port=options.port, chunk_bytes=0 if options.line_rate else wire.chunk_bytes)
        password = taped.NAME if wire.needs_password else ""
        if options.program:
            code = _run(options.program, engine, wire, "rowpath", password, server.port, "rowpath")
        else:
            print(described(tape.header))
            print(_url(engine, wire, "rowpath", password, server.port, "rowpath"), flush=True)
            while server.pids:
                time.sleep(0.5)
    except KeyboardInterrupt:
        code = INTERRUPTED if options.program else 0
    finally:
        served = server.stop()
        processes.stop_all()
    print(f"{served.answered:,} requests answered, {served.refused:,} refused", file=sys.stderr)
    for reason in served.reasons[:SHOWN_REASONS]:
        print(f"  {printable(reason)}", file=sys.stderr)
    if code == INTERRUPTED:
        return code
    return _ended(code) or int(bool(options.program and served.refused))
