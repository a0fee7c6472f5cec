"""The command line as a user meets it: run to its end or watched, and what it leaves behind."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rowpath.cli.main import main
from rowpath.machine import processes as launch
from tests.waiting import PATIENCE_S, alive

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-m", "tests.end_to_end.undisturbed")
MARK = "ROWPATH_TEST_MARK"  # in the environment of everything that one command starts
LONGEST_S = 900.0  # only a hang takes longer: strace slows what the verification pass counts
GONE_WITHIN_S = PATIENCE_S  # at once on a quiet machine

Records = list[dict[str, Any]]


def environment(added: Mapping[str, str] = {}) -> dict[str, str]:
    """Ours without what a developer's shell may hold, with the sources on Python's path and a mark of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NO_COLOR", "FORCE_COLOR")}
    ours = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "", "COLUMNS": "200"}
    return kept | ours | {MARK: uuid.uuid4().hex} | dict(added)


class Command:
    """One running command; on leaving the context it is killed when it still runs, and nothing of it may survive.

    `seen` holds every process that it was found to have started: pid → when that one was born.
    """

    def __init__(
        self,
        *arguments: str | Path,
        added: Mapping[str, str] = {},
        cwd: Path | None = None,
        program: Sequence[str] = PROGRAM,
    ) -> None:
        whole = environment(added)
        self.mark = whole[MARK]
        self.seen: dict[int, str] = {}
        self.process = subprocess.Popen(
            [*program, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=whole,
            cwd=cwd,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    def __enter__(self) -> Command:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.processes()
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        left = self.survivors(GONE_WITHIN_S)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if kind is None:
            assert not left, f"these survived: {left}"

    def processes(self) -> list[int]:
        """Every process of it that lives now, itself excepted: its descendants and all that bear its mark."""
        found = {pid: born(pid) for pid in {*launch.descendants(self.process.pid), *marked(self.mark)}}
        found.pop(self.process.pid, None)
        self.seen |= found
        return sorted(found)

    def wait_until(self, reached: Callable[[], object], what: str, within_s: float = 600.0) -> None:
        """Wait for something that happens while it runs; it fails when the command ends before."""
        deadline = time.monotonic() + within_s
        while not reached():
            if self.process.poll() is not None:
                out, err = self.process.communicate()
                raise AssertionError(f"it ended with {self.process.returncode} before {what}:\n{out}\n{err}")
            if time.monotonic() > deadline:
                raise AssertionError(f"no {what} within {within_s:g} s")
            time.sleep(0.02)

    def hold_when(self, reached: Callable[[], object], what: str) -> None:
        """Wait for it, then stop the command itself: what is looked at next cannot be over. `signal` lets it go on."""
        self.wait_until(reached, what)
        self.process.send_signal(signal.SIGSTOP)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, knowing all of its processes first; one that was held goes on with it."""
        self.processes()
        self.process.send_signal(number)
        self.process.send_signal(signal.SIGCONT)

    def end(self, within_s: float = LONGEST_S) -> subprocess.CompletedProcess[str]:
        """Wait until it has ended by itself."""
        out, err = self.process.communicate(timeout=within_s)
        return subprocess.CompletedProcess(self.process.args, self.process.returncode, out, err)

    def survivors(self, within_s: float = GONE_WITHIN_S) -> list[int]:
        """Pids of its processes that still live after at most so many seconds."""
        deadline = time.monotonic() + within_s
        while True:
            known = {pid for pid, when in self.seen.items() if born(pid) == when and alive(pid)}
            left = sorted((known | set(marked(self.mark))) - {os.getpid()})
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.05)


def rowpath(
    *arguments: str | Path, added: Mapping[str, str] = {}, cwd: Path | None = None, program: Sequence[str] = PROGRAM
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; nothing of it survives."""
    with Command(*arguments, added=added, cwd=cwd, program=program) as command:
        return command.end()


def called(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same in this process: quick, for a command that only prints, or refuses before it starts anything.

    Not for `--adapters` or `--help`: what they do is the process's.
    """
    words = list(map(str, arguments))
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)}
    hook, columns = sys.unraisablehook, os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "200"
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _stream in range(2))
    try:
        with contextlib.chdir(cwd or Path.cwd()), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
    finally:
        sys.unraisablehook = hook
        for number, handler in kept.items():
            signal.signal(number, handler)
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns
    for stream in (out, err):
        stream.seek(0)
    return subprocess.CompletedProcess(words, code, out.read(), err.read())


def born(pid: int) -> str:
    """When the process was started, in the kernel's ticks: tells two processes of one pid apart."""
    fields = launch.stat_fields(pid)
    return fields[19] if fields else ""


def every_pid() -> Iterator[int]:
    """Every process that may be looked at."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def proc(pid: int, name: str) -> str:
    """A file of `/proc/PID`, its NULs as spaces; empty when it cannot be read."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def marked(mark: str) -> list[int]:
    """Pids of living processes that carry the mark in their environment."""
    return [pid for pid in every_pid() if f"{MARK}={mark}" in proc(pid, "environ") and alive(pid)]


def records(directory: Path, *kinds: str) -> Records:
    """The journal's records of these kinds (none: all); a torn last line is left out, any other one is an error."""
    file = directory / "samples.jsonl"
    if not file.exists():
        return []
    lines = file.read_bytes().split(b"\n")[:-1]
    return [record for line in lines if (record := json.loads(line)) and (not kinds or record["record"] in kinds)]


def steady(directory: Path, set_number: int = 0) -> bool:
    """Whether that set has reached its interleaved blocks."""
    return any(r["regime"] == "steady" and r["set"] == set_number for r in records(directory, "sample"))


def error_form(err: str) -> tuple[str, str]:
    """The message and the hint of an error as the command line prints it, last on stderr."""
    start = err.index("error: ")
    message, blank, hint = err[start:].partition("\n\nhint: ")
    assert blank, err
    assert hint.endswith("\n"), err
    return message.removeprefix("error: "), hint.rstrip("\n")


def write_experiment(directory: Path, paths: Sequence[str], **measure: object) -> Path:
    """A short experiment of these selections (each the inside of a TOML inline table) over keyed reads."""
    settings = {"sets": 2, "max_sets": 0, "rounds": 5, "block_ms": 5, "warm_cap_s": 0.05} | measure
    phases = json.dumps(settings.pop("phases", ["keyed.read"]))
    lines = [
        "schema_version = 1",
        'name = "short"',
        'title = "A short one"',
        f"phases = {phases}",
        "[measure]",
        *(f"{key} = {value}" for key, value in settings.items()),
        *(f"[[paths]]\nselect = {{ {path} }}" for path in paths),
    ]
    file = directory / "short.toml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


SQLITE_C = 'engine = "sqlite", driver = "sqlite"'
SQLITE_PYTHON = 'engine = "sqlite", language = "python", driver = "sqlite3"'
POSTGRESQL_C = 'engine = "postgresql", language = "c", driver = "libpq", transport = "unix"'
POSTGRESQL_TCP = 'engine = "postgresql", language = "c", driver = "libpq", transport = "tcp"'
