"""Call stacks of a JVM by async-profiler, attached to it while it runs: Java, native code and the kernel."""

from __future__ import annotations

import contextlib
import platform
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.explain.packages import Packages
from rowpath.explain.parts import INSIDE, KERNEL, UNKNOWN, entered, library, runtime
from rowpath.explain.perf import short
from rowpath.machine import downloads, jvm, maven, private_directories, processes
from rowpath.machine.directories import cache_dir
from rowpath.model.availability import Availability
from rowpath.model.explanation import Frame, Stack
from rowpath.runners.language import Language

VERSION = "4.2"
COORDINATES = f"tools.profiler:async-profiler:{VERSION}"
HOW = f"async-profiler {VERSION}"
FOLDERS = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}  # in the artefact, by machine
LIBRARY = "libasyncProfiler.so"
SHOWN = "threads,ann,lib,collapsed"  # a frame for the thread, what each frame is, libraries' names
INTERVAL_US = 500
ATTACH_TIMEOUT_S = 60.0
SAFE = re.compile(r"[^,\"\s]+")  # its options are one text with commas
THREAD = re.compile(r"^\[(.*?)(?: tid=\d+)?\]$")
HIDDEN = re.compile(r"[./+]0x[0-9a-f]{8,}")  # what a class that was made at run time has in its name, never twice
JAVA, IN_KERNEL = re.compile(r"_\[[ij01]\]$"), "_[k]"


def availability() -> Availability:
    """Whether it is here or can be fetched; fetches nothing."""
    if platform.machine() not in FOLDERS:
        return Availability(False, HOW, f"{HOW} has no library for {platform.machine()}", "rowpath doctor")
    return Availability(True, HOW)


def is_jvm(pid: int) -> bool:
    """Whether a process is a Java machine."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/exe").readlink().name == "java"
    return False


@contextlib.contextmanager
def sampling(pid: int, file: Path, _packages: Packages | None = None) -> Iterator[None]:
    """Samples a JVM while the body runs; then the file has its stacks. Errors: EnvironmentMissing."""
    program = _library()
    user = private_directories.server_user() if Path(f"/proc/{pid}").stat().st_uid else None
    folder = private_directories.home(file.with_suffix(""), user)  # the JVM itself writes into it
    written = folder / file.name
    try:
        if not SAFE.fullmatch(str(written)):
            raise EnvironmentMissing(f"async-profiler cannot write to {written}", "choose another with -o DIR")
        _order(pid, program, f"start,event=cpu,interval={INTERVAL_US}us,{SHOWN},file={written}")
        try:
            yield
        finally:
            _order(pid, program, f"stop,{SHOWN},file={written}")
        file.write_bytes(written.read_bytes())
    finally:
        with contextlib.suppress(OSError):
            written.unlink(missing_ok=True)
            folder.rmdir()


def load(pid: int) -> None:
    """Load it early: of what is compiled from now on, each inlined function can be seen. Errors: EnvironmentMissing."""
    _order(pid, _library(), "status")


def _library() -> Path:
    """Its library, fetched by Maven where needed, where every user can read it. Errors: EnvironmentMissing."""
    home = cache_dir() / f"async-profiler-{VERSION}"

    def unpack(target: Path) -> None:
        (archive,) = maven.fetch([COORDINATES])
        with zipfile.ZipFile(archive) as opened:
            file = target / LIBRARY
            file.write_bytes(opened.read(f"{FOLDERS[platform.machine()]}/{LIBRARY}"))
            file.chmod(0o755)

    downloads.install(home / LIBRARY, home, availability, unpack)
    return home / LIBRARY


def _order(pid: int, program: Path, what: str) -> None:
    jcmd = Path(jvm.java_command()).with_name("jcmd")
    if not jcmd.is_file():
        raise EnvironmentMissing(f"{jcmd}, which attaches async-profiler, is missing", jvm.INSTALL)
    done = processes.run([jcmd, str(pid), "JVMTI.agent_load", program, f'"{what}"'], timeout_s=ATTACH_TIMEOUT_S)
    if done.returncode or "return code: 0" not in done.stdout:
        lines = (done.stderr + done.stdout).strip().splitlines() or ["nothing"]
        why = next((line for line in lines if line.startswith("[")), lines[-1])
        raise EnvironmentMissing(f"async-profiler did not attach to process {pid}: {why}", "rowpath doctor")


def stacks(lines: Iterable[str], header: Language, packages: Packages | None = None) -> Counter[Stack]:
    """The stacks of its collapsed form, one a line with its count; without threads whose names begin like helpers'.

    `header`: of the language whose parts and helper threads these are. `packages`: their frames' owners.

    A JVM whose user may not see the kernel's frames is sampled by its CPU clock: inside a system call, it was at work.
    """
    samples: Counter[Stack] = Counter()
    for line in lines:
        text, _, count = line.rstrip().rpartition(" ")
        first, *rest = text.split(";")
        thread = THREAD.match(first)
        if thread and thread[1].startswith(header.helper_threads):
            continue
        frames = tuple(_frame(frame, header, packages) for frame in (rest if thread else [first, *rest]))
        if frames and count.isdigit():
            samples[frames] += int(count)
    if any(frame.part == KERNEL for stack in samples for frame in stack):
        return samples
    return Counter({(*stack, INSIDE) if entered(stack[-1]) else stack: count for stack, count in samples.items()})


def _frame(text: str, header: Language, packages: Packages | None) -> Frame:
    if text.endswith(IN_KERNEL):
        return Frame(text.removesuffix(IN_KERNEL), KERNEL)
    compiled = header.explain.compiled or UNKNOWN
    file, mark, symbol = text.partition("`")
    if mark and not JAVA.search(text):
        return Frame(short(symbol), KERNEL if file.startswith("[kernel") else library(file))
    if text.startswith("["):  # [unknown_Java], [not_walkable_Java]
        return Frame(text, compiled if "Java" in text else UNKNOWN)
    if JAVA.search(text):
        name = HIDDEN.sub("", JAVA.sub("", text)).replace("/", ".")
        return Frame(short(name), compiled, packages.of_module(name) if packages else "")
    return Frame(short(text), runtime(header))
