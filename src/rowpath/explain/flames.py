"""The call stacks of both sides of a path, in blocks of their own after those that give its figures.

Each side is sampled by what sees most of it: async-profiler for JVMs, what its header names for a language, else perf.
Samplers that differ get blocks of their own, so that none samples the other's process.
"""

from __future__ import annotations

import bisect
import codecs
import contextlib
import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.explain import async_profiler, perf, py_spy
from rowpath.explain.blocks import Blocks, block, warm_up
from rowpath.explain.packages import Packages
from rowpath.explain.parts import INSIDE, KERNEL
from rowpath.machine import cpus, jvm
from rowpath.model.explanation import Explanation, Flame, Frame, Side, SideStacks, Stack
from rowpath.runners.language import Sampler
from rowpath.runners.manifest import Command, command, language
from rowpath.runners.process import Runner
from rowpath.text import share as per_cent

BLOCKS, BLOCKS_EACH = 3, 2  # where one sampler sees both sides, where each has one of its own
MORE = {py_spy.HOW: 4}  # it samples less often
UNSEEN_KERNEL = "its user may not see the kernel's functions (sysctl kernel.perf_event_paranoid=1)"
BY_PERF = Frame("kernel (its share by perf; py-spy does not see its callers)", KERNEL)
HOW: dict[Sampler, str] = {
    "perf": perf.HOW[perf.TABLES],
    "perf-frame-pointers": perf.HOW[perf.POINTERS],
    "async-profiler": async_profiler.HOW,
    "py-spy": py_spy.HOW,
}
# Interpreted functions get code of their own, so that each has a frame with an address.
OPTIONS = ("--log-code", "--no-logfile-per-isolate", "--interpreted-frames-native-stack")
PLACE = re.compile(r"^(.*?) ?(?:file://)?(\S*?):(\d+):\d+$")


@dataclass
class Sampled:
    """What one sampler saw: stacks by process, and the blocks measured during it."""

    how: str
    stacks: dict[int, Counter[Stack]] = field(default_factory=dict)
    blocks: Blocks = field(default_factory=Blocks)
    missing: list[str] = field(default_factory=list)

    def take(self, worker: Worker, work: PreparedPhase, pids: Collection[int], directory: Path, count: int) -> None:
        """Sample these processes during that many blocks. Errors: RunnerFailure, EnvironmentMissing."""
        with _running(worker, self.how, pids, directory, self):
            self.blocks.blocks += [block(worker, work) for _number in range(count)]


def client_stacks(worker: Worker, work: PreparedPhase, directory: Path, pairs: int) -> Sampled:
    """The client's stacks of a path of objects, in blocks for that many of `perf`'s. Errors: as `Sampled.take`."""
    sampled = Sampled(sampler_of(worker, "client", worker.pids[0]))
    sampled.take(worker, work, worker.pids, directory, pairs * MORE.get(sampled.how, 1))
    return sampled


def flame(
    worker: Worker,
    work: PreparedPhase,
    explanation: Explanation,
    way: Mapping[str, Any],
    directory: Path,
    client: Sampled | None = None,
) -> Flame:
    """The stacks of a path that was explained; what cannot be sampled is in its notes. Errors: RunnerFailure.

    `way`: how the path is reached. Where V8 names functions, one that does replaces the runner. `client`: what was
    sampled of that side already.
    """
    with contextlib.ExitStack() as cleanup:
        if language(worker.planned.path.language).explain.names:
            worker = _with_names(worker, work, way, directory / "node-names.log")
            cleanup.callback(worker.close)
        sides: dict[Side, list[int]] = {
            "client": worker.pids,
            "pooler": worker.pooler_pids(),
            "server": worker.instance.pids(),
        }
        samplers: dict[str, list[int]] = {}
        for side, pids in sides.items():
            for pid in pids if side != "client" or client is None else ():
                samplers.setdefault(sampler_of(worker, side, pid), []).append(pid)
        results, notes = [client] if client else list[Sampled](), list[str]()
        count = BLOCKS if len(samplers) == 1 else BLOCKS_EACH
        for sampler, pids in samplers.items():
            sampled = Sampled(sampler)
            try:
                sampled.take(worker, work, pids, directory, MORE.get(sampler, count))
            except RowpathError as error:
                whose = " and ".join(side for side in sides if set(sides[side]) & set(pids))
                notes.append(f"{whose}: no stacks: {error.message} ({error.hint})")
            else:
                results.append(sampled)
    packages = Packages.of(worker.planned)
    stacks = [_side(side, pids, explanation, results, packages) for side, pids in sides.items()]
    seen = tuple(side for side in stacks if side is not None)
    if any(py_spy.HOW in side.by and all(stack[-1] != BY_PERF for stack in side.samples) for side in seen):
        notes.append("client: the kernel's work is not in the graph, because perf did not sample it")
    for sampled in results:
        longer = statistics.fmean(sampled.blocks.each_ns()) / explanation.operation_ns - 1
        took = f"{'-' if longer < 0 else '+'}{per_cent(abs(longer))}"
        notes += [*sampled.missing, f"sampled by {sampled.how}, an operation took {took}: stacks give shares only"]
    of_path = explanation.name, explanation.phase, explanation.path, explanation.operation_ns, explanation.parts
    return Flame(*of_path, seen, tuple(notes))


def _side(
    side: Side, pids: list[int], explanation: Explanation, results: list[Sampled], packages: Packages | None
) -> SideStacks | None:
    """A side's stacks; None where it has no process, or was not sampled."""
    seen = [(sampled.how, sampled.stacks[pid]) for sampled in results for pid in pids if pid in sampled.stacks]
    samples: Counter[Stack] = Counter()
    for _how, stacks in seen:
        for stack, count in stacks.items():
            samples[packages.resolved(stack) if packages and side == "client" else stack] += count
    how = dict.fromkeys(sampler for sampler, _stacks in seen)
    parts = [part for part in explanation.parts if part.side == side]
    cpu_ns = sum(part.ns for part in parts)
    share = sum(part.ns for part in parts if part.name == KERNEL) / cpu_ns if cpu_ns else 0.0
    if py_spy.HOW in how and 0 < share < 1:
        samples[(BY_PERF,)] = round(samples.total() * share / (1 - share))
    return SideStacks(side, cpu_ns, "; ".join(how), samples) if samples else None


def sampler_of(worker: Worker, side: Side, pid: int) -> str:
    """What sees most of a process."""
    if async_profiler.is_jvm(pid):
        return async_profiler.HOW
    return HOW[language(worker.planned.path.language).explain.sampler if side == "client" else "perf"]


@contextlib.contextmanager
def _running(worker: Worker, sampler: str, pids: Collection[int], directory: Path, into: Sampled) -> Iterator[None]:
    """The sampler at work on these processes, while the body runs; then `into` has what it saw."""
    packages = Packages.of(worker.planned)
    languages = {pid: worker.planned.path.language if pid in worker.pids else "" for pid in pids}
    attaching = {module.HOW: module for module in (async_profiler, py_spy)}.get(sampler)
    if attaching:
        files = {pid: directory / f"stacks-{pid}.txt" for pid in pids}
        with contextlib.ExitStack() as attached:
            for pid, file in files.items():
                attached.enter_context(attaching.sampling(pid, file, packages))
            yield
        for pid, file in files.items():
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            of_client = packages if pid in worker.pids else None
            into.stacks[pid] = attaching.stacks(lines, language(languages[pid] or jvm.LANGUAGE), of_client)
            if any(stack[-1] == INSIDE for stack in into.stacks[pid]):
                side = "client" if pid in worker.pids else "server"
                into.missing.append(f"{side}: {UNSEEN_KERNEL}")
        return
    file, how = directory / "stacks.data", next(how for how, text in perf.HOW.items() if text == sampler)
    with perf.recording(pids, worker.measured_cpus, file, how) as missing:
        yield
    into.missing += missing
    named = any(language(name).explain.names for name in languages.values())
    names = NodeNames.read(directory / "node-names.log") if named else None
    into.stacks = perf.stacks(file, languages, names)
    file.unlink()


def _with_names(worker: Worker, work: PreparedPhase, way: Mapping[str, Any], log: Path) -> Worker:
    """A warm worker on the same path in a V8 that logs the names of functions; the given one has ended then."""
    worker.close()  # an embedded engine's file may belong to one process only
    log.unlink(missing_ok=True)
    planned = worker.planned
    start = command(planned.adapter, planned.path.version, planned.path)
    words = (start.arguments[0], *OPTIONS, f"--logfile={log}", *start.arguments[1:])
    runner = Runner.start(Command(words, start.environment), cpus.usable(), worker.log)
    named = Worker(
        planned, worker.instance, log=worker.log, timeout_s=worker.timeout_s, runner=runner, pinned=worker.pinned
    )
    try:
        named.open(**way)
        named.notice_server()
        named.prepare(work)
        warm_up(named, work)
    except BaseException:
        named.close()
        raise
    return named


class NodeNames:
    """What lies where, by the lines of V8's log; the last that was put at an address counts."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._code: dict[int, tuple[int, str]] = {}  # begin → size, name
        for line in lines:
            fields = line.rstrip("\n").split(",")
            if fields[0] == "code-creation" and len(fields) > 6:
                self._code[int(fields[4], 16)] = (int(fields[5]), _name(fields[6]))
            elif fields[0] == "code-move" and int(fields[1], 16) in self._code:
                self._code[int(fields[2], 16)] = self._code.pop(int(fields[1], 16))
        self._begins = sorted(self._code)

    @classmethod
    def read(cls, log: Path) -> NodeNames:
        """Read the names from a log; a log that was not written has none."""
        return cls(log.read_text(encoding="utf-8", errors="replace").split("\n") if log.is_file() else ())

    def __call__(self, address: int) -> str:
        """The function at an address; empty where none is known."""
        after = bisect.bisect_right(self._begins, address)
        for begin in self._begins[max(0, after - 1) : after]:
            size, name = self._code[begin]
            if address < begin + size:
                return name
        return ""


def _name(text: str) -> str:
    """`query (pg/lib/client.js:542)` of `query /x/node_modules/pg/lib/client.js:542:13`."""
    if "\\" in text:
        text = codecs.decode(text.encode("latin-1", "replace"), "unicode_escape")
    match = PLACE.match(text)
    if match is None:
        return text
    _, packages, inside = match[2].rpartition("/node_modules/")
    file = inside if packages or inside.startswith("node:") else PurePath(inside).name
    return f"{match[1] or '(anonymous)'} ({file}:{match[3]})"
