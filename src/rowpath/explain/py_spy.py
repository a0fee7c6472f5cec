"""Call stacks of a Python process by py-spy, from outside: Python functions with the native code that they call."""

from __future__ import annotations

import contextlib
import re
import select
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from rowpath.errors import EnvironmentMissing
from rowpath.explain.packages import Packages
from rowpath.explain.parts import UNKNOWN, entered, in_packages, library, runtime
from rowpath.explain.perf import short
from rowpath.machine import cpus, downloads, processes
from rowpath.machine.directories import cache_dir
from rowpath.model.explanation import Frame, Stack
from rowpath.runners.language import Language

WHEEL = downloads.Wheel(
    name="py-spy",
    version="0.4.3",
    sha256={
        "x86_64": "8a4277225f470d394a85cca0cdd944bef87f0097b6f20150a6dd3ac2e92806b8",
        "aarch64": "bbcec46930d464b3bfc142d6d02ade4dd8ad5627823263b3eff0280e80c7c132",
    },
    platform="manylinux2014",
    wanted=("py_spy-0.4.3.data/scripts/py-spy",),
)
HOW = f"py-spy {WHEEL.version}"
SAMPLES_PER_S = 500
DEEP_PER_S = (
    149  # where a layer makes the stacks deep: reading one takes milliseconds, in which the process stands still
)
READY = "Sampling process"  # it prints this when it has read the process's symbols
READY_TIMEOUT_S, WRITE_S = 60.0, 60.0
REMEDY = "sysctl kernel.yama.ptrace_scope=0"
FRAME = re.compile(r"^(.*) \((.*?)(?::(\d+))?\)$")
OUTSIDE = Frame("", UNKNOWN)
PYTHON_SOURCE = re.compile(r"/(Modules|Objects|Python|Parser)/[^/]+(/[^/]+)*\.[ch]$")


@contextlib.contextmanager
def sampling(pid: int, file: Path, packages: Packages | None = None) -> Iterator[None]:
    """Samples a Python process, which it stops for each sample, while the body runs; then the file has its stacks.

    `packages`: of a layer's path.

    Errors: EnvironmentMissing.
    """
    home = cache_dir() / f"py-spy-{WHEEL.version}"
    program = home / WHEEL.wanted[0]
    downloads.install(program, home, lambda: WHEEL.availability(HOW, program), WHEEL.unpack)
    words = ["record", "--pid", str(pid), "--native", "--full-filenames", "--function", "--format", "raw"]
    words += [
        "--rate",
        str(DEEP_PER_S if packages else SAMPLES_PER_S),
        "--duration",
        "unlimited",
        "--output",
        str(file),
    ]
    spy = processes.start([program, *words], cpus=cpus.spare_cpus(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert spy.stdout is not None
    until_s, printed = time.monotonic() + READY_TIMEOUT_S, ""
    try:
        while READY not in printed:
            ready, _, _ = select.select([spy.stdout], [], [], max(0.0, until_s - time.monotonic()))
            data = spy.stdout.read1(4096) if ready else b""  # type: ignore[attr-defined]
            if not data:
                last = (printed.strip().splitlines() or ["nothing"])[-1]
                raise EnvironmentMissing(f"py-spy did not attach to process {pid}: {last}", REMEDY)
            printed += data.decode(errors="replace")
        yield
    finally:
        processes.stop(spy, ((signal.SIGINT, WRITE_S), *processes.AT_ONCE))
    if not file.is_file():
        raise EnvironmentMissing(f"py-spy wrote nothing for process {pid}", REMEDY)


def stacks(lines: Iterable[str], header: Language, packages: Packages | None = None) -> Counter[Stack]:
    """The stacks of its raw form: one a line with its count, frames as `name (file:line)` or `name (library)`.

    `header`: of the language whose runtime the interpreter and what it executes are. `packages`: their frames' owners.

    Without those inside a system call: it wakes what it stops, and so takes a call that waits for one at work.
    """
    samples, interpreter = Counter[Stack](), runtime(header)
    for line in lines:
        text, _, count = line.rstrip().rpartition(" ")
        if not text or not count.isdigit():
            continue
        frames: list[Frame] = []
        for name in text.split(";"):
            frames.append(_frame(name, frames[-1] if frames else OUTSIDE, interpreter, packages))
        if not entered(frames[-1]):
            samples[tuple(frames)] += int(count)
    return samples


def _frame(text: str, outer: Frame, interpreter: str, packages: Packages | None) -> Frame:
    match = FRAME.match(text)
    if match is None:
        return Frame(short(text), outer.part)
    name, file, line = match.groups()
    path = PurePath(file)
    owner = packages.of_file(path) if packages else ""
    if ".so" in path.name or not path.suffix:
        part = library(file) if ".so" in path.name or file.startswith("[") else interpreter
        return Frame(f"[{path.name}]" if name.startswith("0x") else short(name), part, owner * (part == interpreter))
    if path.suffix in (".py", ".pyc") or file.startswith("<"):
        inside = in_packages(path) or path.parts[-1:]
        return Frame(short(f"{name} ({'/'.join(inside)}{':' + line if line else ''})"), interpreter, owner)
    # A source file instead of the library: of the interpreter's own modules, or of the extension around it.
    if PYTHON_SOURCE.search(file):
        return Frame(short(name), interpreter, owner)
    extension = packages.of_extension(path) if packages else ""
    return Frame(short(name), extension) if extension else Frame(short(name), outer.part, outer.owner)
