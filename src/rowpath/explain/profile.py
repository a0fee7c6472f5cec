"""Samples of what processes execute, by `perf`: shares of their CPU time by library and by package."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.explain.parts import KERNEL, part_of
from rowpath.machine import processes

SAMPLES_PER_S = 1999  # no round number: it would meet what happens at round times
ATTACH_TIMEOUT_S = 60.0
USER_ONLY = "cpu-clock:u"
REMEDY = "apt-get install linux-perf"
# pid, tid, address, symbol with offset or not, object; the two last may hold spaces.
LINE = re.compile(r"^\s*(-?\d+)(?:/\d+)?:?\s+([0-9a-f]+)\s+(.*?)\s*\((.*)\)\s*$")


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
    profile = Profile()
    pids = list(pids)
    recorder, event = attached(pids, cpus, file)
    before = {pid: _ticks(pid) for pid in pids}
    try:
        yield profile
        after = {pid: _ticks(pid) for pid in pids}
    finally:
        detach(recorder)
    words = ["perf", "script", "-i", str(file), "-F", "pid,ip,sym,dso"]
    done = processes.run(words, timeout_s=120.0)
    profile.samples = counted(done.stdout.splitlines(), languages)
    if event == USER_ONLY:
        for pid in pids:
            user, kernel = (late - early for late, early in zip(after[pid], before[pid], strict=True))
            add_kernel(profile.samples.setdefault(pid, Counter()), user, kernel)


def attached(
    pids: Iterable[int], cpus: Iterable[int], file: Path, more: Sequence[str] = ()
) -> tuple[processes.Process, str]:
    """perf, which samples these cores, or only these processes where it may no more, and the event that it counts.

    Errors: EnvironmentMissing.
    """
    ours = ",".join(map(str, pids))
    cores = ",".join(map(str, cpus))
    for event, where in (("cpu-clock", ("-C", cores)), ("cpu-clock", ("-p", ours)), (USER_ONLY, ("-p", ours))):
        recorder = _started(event, (*where, *more), file)
        if recorder is not None:
            return recorder, event
    raise EnvironmentMissing(
        "perf is not allowed to sample Rowpath's own processes", "sysctl kernel.perf_event_paranoid=2"
    )


def detach(recorder: processes.Process) -> None:
    """End perf, so that its file is whole."""
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
    found: dict[int, Counter[str]] = {}
    for line in lines:
        if match := LINE.match(line):
            pid = int(match[1])
            found.setdefault(pid, Counter())[part_of(match[3], match[4], languages.get(pid, ""))] += 1
    return found


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
