"""What processes execute, by `perf`: shares of their CPU time by library and package, and their call stacks."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from rowpath.errors import EnvironmentMissing
from rowpath.explain.parts import KERNEL, part_of
from rowpath.machine import processes
from rowpath.model.explanation import Frame, Stack
from rowpath.runners.manifest import language as header_of

SAMPLES_PER_S = 1999  # no round number: it would meet what happens at round times
ATTACH_TIMEOUT_S = 60.0
USER_ONLY = "cpu-clock:u"
REMEDY = "apt-get install linux-perf"
# pid, tid, address, symbol with offset or not, object; the two last may hold spaces.
LINE = re.compile(r"^\s*(-?\d+)(?:/\d+)?:?\s+([0-9a-f]+)\s+(.*?)\s*\((.*)\)\s*$")
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


@dataclass
class Profile:
    """How many samples fell into each part of each process."""

    samples: dict[int, Counter[str]] = field(default_factory=dict)

    def add(self, other: Profile) -> None:
        """Add the samples of another profile."""
        for pid, counted in other.samples.items():
            self.samples.setdefault(pid, Counter()).update(counted)

    def shares(self, pids: Collection[int]) -> dict[str, float]:
        """Share of each part in what these processes had; empty without a sample."""
        merged: Counter[str] = Counter()
        for pid in pids:
            merged.update(self.samples.get(pid, Counter()))
        return {name: count / merged.total() for name, count in merged.most_common()}


def problem() -> str:
    """Why nothing can be profiled here; empty where it can."""
    return "" if shutil.which("perf") else f"perf is missing ({REMEDY})"


@contextlib.contextmanager
def profiling(pids: Iterable[int], cpus: Iterable[int], languages: Mapping[int, str], file: Path) -> Iterator[Profile]:
    """Samples what these cores execute while the body runs; the profile is filled when it has ended.

    `languages`: of processes that run a runner. Without the right to sample a core the processes are sampled, which
    costs time at every switch between them; without the right to see the kernel its share comes from clock ticks.
    Errors: EnvironmentMissing where perf does not attach.
    """
    profile, pids = Profile(), list(pids)
    with attached(pids, cpus, file) as event:
        before = {pid: _ticks(pid) for pid in pids}
        yield profile
        after = {pid: _ticks(pid) for pid in pids}
    done = processes.run(["perf", "script", "-i", str(file), "-F", "pid,ip,sym,dso"], timeout_s=120.0)
    profile.samples = counted(done.stdout.splitlines(), languages)
    if event == USER_ONLY:
        for pid in pids:
            user, kernel = (late - early for late, early in zip(after[pid], before[pid], strict=True))
            add_kernel(profile.samples.setdefault(pid, Counter()), user, kernel)


@contextlib.contextmanager
def attached(pids: Iterable[int], cpus: Iterable[int], file: Path, more: Sequence[str] = ()) -> Iterator[str]:
    """perf samples these cores, or only these processes where it may no more, while the body runs; then its file is
    whole. The event that it counts.

    Errors: EnvironmentMissing.
    """
    ours, cores = ",".join(map(str, pids)), ",".join(map(str, cpus))
    for event, where in (("cpu-clock", ("-C", cores)), ("cpu-clock", ("-p", ours)), (USER_ONLY, ("-p", ours))):
        recorder = _started(event, (*where, *more), file)
        if recorder is not None:
            break
    else:
        what = "perf is not allowed to sample Rowpath's own processes"
        raise EnvironmentMissing(what, "sysctl kernel.perf_event_paranoid=2")
    try:
        yield event
    finally:
        processes.stop(recorder, ((signal.SIGINT, ATTACH_TIMEOUT_S), *processes.AT_ONCE))


def add_kernel(samples: Counter[str], user: int, kernel: int) -> None:
    """As many samples of the kernel as its clock ticks stand for, beside those of the user's code."""
    if kernel:
        samples[KERNEL] = round(samples.total() * kernel / user) if user else kernel


def _ticks(pid: int) -> tuple[int, int]:
    """Clock ticks of a process so far in the user's code and in the kernel."""
    fields = processes.stat_fields(pid)
    return (int(fields[11]), int(fields[12])) if fields else (0, 0)


def counted(lines: Iterable[str], languages: Mapping[int, str]) -> dict[int, Counter[str]]:
    """The samples of `perf script -F pid,ip,sym,dso` by process and part."""
    samples: dict[int, Counter[str]] = {}
    for line in lines:
        if match := LINE.match(line):
            pid = int(match[1])
            samples.setdefault(pid, Counter())[part_of(match[3], match[4], languages.get(pid, ""))] += 1
    return samples


def _started(event: str, where: Sequence[str], file: Path) -> processes.Process | None:
    """perf, sampling; None where it ends at once."""
    words = ["perf", "record", "-q", "-e", event, "-F", str(SAMPLES_PER_S), "-o", str(file), *where]
    words += ["--control", "fd:0,1", "-D", "-1"]  # nothing is sampled before it answers
    recorder = processes.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert recorder.stdin is not None
    assert recorder.stdout is not None
    with contextlib.suppress(OSError):
        recorder.stdin.write(b"enable\n")
        recorder.stdin.flush()
        if recorder.stdout.readline().startswith(b"ack"):
            return recorder
    processes.stop(recorder, processes.AT_ONCE)
    return None


@contextlib.contextmanager
def recording(pids: Iterable[int], cpus: Iterable[int], file: Path, how: str) -> Iterator[list[str]]:
    """Samples these processes on these cores with their callers while the body runs; the list gets what is missing.

    Errors: EnvironmentMissing where perf is missing or does not attach.
    """
    if problem():
        raise EnvironmentMissing("perf is missing", REMEDY)
    missing: list[str] = []
    with attached(pids, cpus, file, ("--call-graph", how)) as event:
        yield missing
    if event == USER_ONLY:
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
    by_process: Stacks = {}
    pid, frames = 0, list[Frame]()
    for line in (*lines, ""):
        if match := FRAME.match(line):
            address, symbol, file = match.groups()
            language = languages.get(pid, "")
            part = part_of(symbol, file, language)
            if symbol != UNKNOWN:
                name = short(symbol)
            elif part == header_of(language).explain.compiled:
                name = (names and names(int(address, 16))) or f"({part})"
            else:
                name = f"[{PurePath(file).name}]" if file.startswith("/") else UNKNOWN
            # Of a run without symbols only one.
            if not frames or frames[-1] != Frame(name, part) or name[0] not in "[(":
                frames.append(Frame(name, part))
        elif match := HEAD.match(line):
            pid = int(match[1])
        elif not line.strip() and frames:
            if pid in languages:
                by_process.setdefault(pid, Counter())[tuple(reversed(frames))] += 1
            frames = []
    return by_process


def short(symbol: str) -> str:
    """A symbol as people read it, without the version of a library's interface and Go's shapes of types."""
    name = GO_SHAPE.sub("[…]", symbol.partition("@@")[0])
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
