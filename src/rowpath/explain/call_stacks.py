"""Call stacks of processes by `perf`: native code and the kernel, by unwinding tables or by frame pointers."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePath

from rowpath.errors import EnvironmentMissing
from rowpath.explain import profile
from rowpath.explain.parts import part_of
from rowpath.machine import processes
from rowpath.model.explanation import Frame, Stack
from rowpath.runners.manifest import language as header_of

Stacks = dict[int, Counter[Stack]]  # by process
Names = Callable[[int], str]  # what code without a symbol is called, by its address; empty: not known

TABLES = "dwarf,16384"  # 16 KiB of each sample's stack hold all callers of what runs here; 8 do not in mariadbd
POINTERS = "fp"
HOW = {TABLES: "perf, callers by unwinding tables", POINTERS: "perf, callers by frame pointers"}
SCRIPT_TIMEOUT_S = 300.0
LONGEST_NAME = 160
HEAD = re.compile(r"^\s*(-?\d+)/(\d+)\s*$")
# Address, symbol, object; a symbol may hold spaces and brackets, an object begins with a slash or a bracket.
FRAME = re.compile(r"^\s*([0-9a-f]+)\s+(.*) \(((?:/|\[).*)\)\s*$")
UNKNOWN = "[unknown]"
GO_SHAPE = re.compile(r"\[go\.shape\..*?\](?=[.(]|$)")


@contextlib.contextmanager
def recording(pids: Iterable[int], cpus: Iterable[int], file: Path, how: str) -> Iterator[list[str]]:
    """Samples these processes on these cores with their callers while the body runs; the list gets what is missing.

    Errors: EnvironmentMissing where perf is missing or does not attach.
    """
    if profile.problem():
        raise EnvironmentMissing("perf is missing", profile.REMEDY)
    recorder, event = profile.attached(pids, cpus, file, ("--call-graph", how))
    missing: list[str] = []
    try:
        yield missing
    finally:
        profile.detach(recorder)
    if event == profile.USER_ONLY:
        missing.append("the kernel's work is not in the graph (sysctl kernel.perf_event_paranoid=1)")


def stacks(file: Path, languages: Mapping[int, str], names: Names | None = None) -> Stacks:
    """The recorded stacks of these processes; `languages`: of a runner, empty for a server. Errors: TimedOut."""
    pids = ",".join(map(str, languages))
    # Without inlined functions, which perf would look up with a process for each address.
    words = ["perf", "script", "-i", str(file), "--no-inline", "-F", "pid,tid,ip,sym,dso", f"--pid={pids}"]
    done = processes.run(words, timeout_s=SCRIPT_TIMEOUT_S)
    return parsed(done.stdout.splitlines(), languages, names)


def parsed(lines: Iterable[str], languages: Mapping[int, str], names: Names | None = None) -> Stacks:
    """The stacks that `perf script -F pid,tid,ip,sym,dso` prints: one a paragraph, the innermost frame first."""
    found: Stacks = {}
    pid, frames = 0, list[Frame]()
    for line in (*lines, ""):
        if match := FRAME.match(line):
            frame = _frame(match, languages.get(pid, ""), names)
            if not frames or frames[-1] != frame or frame.name[0] not in "[(":  # of a run without symbols only one
                frames.append(frame)
        elif match := HEAD.match(line):
            pid = int(match[1])
        elif not line.strip() and frames:
            if pid in languages:
                found.setdefault(pid, Counter())[tuple(reversed(frames))] += 1
            frames = []
    return found


def _frame(match: re.Match[str], language: str, names: Names | None) -> Frame:
    symbol, file = match[2], match[3]
    part = part_of(symbol, file, language)
    if symbol != UNKNOWN:
        return Frame(short(symbol), part)
    if part == header_of(language).explain.compiled:
        return Frame((names and names(int(match[1], 16))) or f"({part})", part)
    return Frame(f"[{PurePath(file).name}]" if file.startswith("/") else UNKNOWN, part)


def short(symbol: str) -> str:
    """A symbol as people read it, without the version of a library's interface and Go's shapes of types."""
    name = GO_SHAPE.sub("[…]", symbol.partition("@@")[0])
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
