"""The programs by hand: how each is built and started, and talking to it."""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.hand_written_rivals import Rival
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.machine import compiling, cpus, jvm, maven, postgresql_programs, processes
from rowpath.machine.directories import data_dir
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.manifest import Command

SOURCES = Path(__file__).parent / "hand_written"
ANSWER_S = 120.0


def command(directory: Path, rival: Rival, ours: PlannedPath) -> Command:
    """How to start the program, built into `directory` with what the runner is built and started with."""
    source = SOURCES / rival.source
    if rival.language == "c":
        return Command((str(_compiled_c(directory, source)),))
    start = manifest.command(ours.adapter, ours.path.get("version"), ours.path)
    if rival.language == "python":
        kept = {name: value for name, value in start.environment.items() if name != "PYTHONPATH"}
        return Command((start.arguments[0], str(source), rival.driver), kept)
    if rival.language == "java":
        return _java(directory, source, rival, ours)
    if rival.language == "node":
        return Command(("node", str(beside_packages(directory, start, source)), rival.driver), start.environment)
    if rival.language == "go":
        beside = source.parent / f"{rival.driver}.go"
        return Command((str(compiled_go(directory, source, ours, beside)),), start.environment)
    return Command((str(compiled_rust(source, ours)),), start.environment)


def _java(directory: Path, source: Path, rival: Rival, ours: PlannedPath) -> Command:
    return java_command(directory, [source], ours, options=[f"-D{each}" for each in rival.properties])


def java_command(
    directory: Path,
    sources: Sequence[Path],
    ours: PlannedPath,
    more_jars: Sequence[Path] = (),
    options: Sequence[str] = (),
) -> Command:
    """How to start the last source, once all are compiled with the path's driver and `more_jars`."""
    classes = directory / "classes"
    javac = Path(jvm.java_command()).parent / "javac"
    jars: dict[str, list[str]] = ours.adapter.build["jars"]
    wanted = [each for key in ("deployment", "transport") for each in jars.get(ours.path.get(key), ())]
    fetched = maven.fetch(each.replace("{version}", ours.path.get("version")) for each in wanted)
    class_path = os.pathsep.join(map(str, (classes, *fetched, *more_jars)))
    _run([str(javac), "-proc:none", "-cp", class_path, "-d", str(classes), *map(str, sources)])
    arguments = (*jvm.OPTIONS, f"-Djava.io.tmpdir={directory}", *options, "-cp", class_path, sources[-1].stem)
    return Command((jvm.java_command(), *arguments), {"LC_ALL": "C.UTF-8"})


def beside_packages(directory: Path, start: Command, source: Path) -> Path:
    """A copy in a folder that has the runner's own packages: Node looks for them beside the program."""
    packages = Path(start.arguments[1]).parents[2] / "node_modules"  # PACKAGES/RUNNER/core/main.js
    folder = directory / "by-hand"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text('{"type": "module"}')
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(packages)
    for file in (source, SOURCES / "conversation.js"):
        shutil.copy(file, folder)
    return folder / source.name


def compiled_go(directory: Path, source: Path, ours: PlannedPath, *beside: Path) -> Path:
    """Built with the modules of the runner's go.mod, with cgo where ours is; `beside`: more files of the program."""
    driver = ours.adapter.driver
    files = {source, source.parent / "conversation.go", *beside}
    go: Any = manifest.toolchain("go")
    program = directory / f"go-{driver}"
    environment = go.BUILDING | {"CGO_ENABLED": str(int(ours.adapter.build.get("cgo", False)))}
    words = [*go.build_words(program, source), *map(str, sorted(files - {source}))]
    compiling.run(words, f"{source.name} with {driver} does not compile", "rowpath doctor", environment)
    return program


def compiled_rust(source: Path, ours: PlannedPath) -> Path:
    """Built with the crates of the runner's Cargo.lock."""
    rust: Any = manifest.toolchain("rust")
    return rust.with_crates_of(ours.adapter, f"by-hand-{source.stem}", source).built()  # type: ignore[no-any-return]


def _compiled_c(directory: Path, source: Path) -> Path:
    program = directory / source.stem
    compiler = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if source.stem == "libpq":
        prefix = postgresql_programs.install()
        if not (prefix / "include" / "libpq-fe.h").is_file():
            raise EnvironmentMissing(f"there is no libpq-fe.h in {prefix}/include", "unset ROWPATH_POSTGRESQL")
        library = prefix / "lib"
        linked = [f"-I{prefix / 'include'}", str(library / "libpq.so.5"), f"-Wl,-rpath,{library}"]
    elif source.stem == "odbc":
        linked = ["-l:libodbc.so.2"]
    elif source.stem == "sqlite":
        linked = [f"-I{data_dir() / 'runners' / 'c' / 'families' / 'sqlite'}", "-l:libsqlite3.so.0"]
    else:
        linked = []
    _run([*compiler, "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", str(source), *linked, "-o", str(program)])
    return program


def _run(arguments: list[str]) -> None:
    if shutil.which(arguments[0]) is None:
        raise EnvironmentMissing(f"there is no {arguments[0]}", "rowpath doctor")
    done = processes.run(arguments, timeout_s=120)
    if done.returncode != 0:
        raise RowpathError(f"{arguments[0]} failed: {done.stderr.strip()[-500:]}", "rowpath doctor")


class Program:
    """A living, connected program: `ns touch` for every number of operations. RowpathError when it does not answer."""

    def __init__(self, start: Command, settings: dict[str, str]) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the program
        self._process = processes.start(
            start.arguments,
            environment=start.environment,
            cpus=cpus.usable(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        self.pid = self._process.pid
        self._tell("".join(f"{name}={value}\n" for name, value in settings.items()) + "\n")
        while self._answer() != "ready":  # an engine may have a word of its own first
            pass

    def block(self, operations: int) -> tuple[int, int]:
        """Nanoseconds and touch sum of so many operations from the first key on."""
        ns, touch, *_own = self.figures(operations)
        return ns, touch

    def figures(self, operations: int) -> list[int]:
        """The same with what the program itself times within an operation, in ns."""
        self._tell(f"{operations}\n")
        return [int(each) for each in self._answer().split()]

    def pin(self, cores: Sequence[int], helpers: tuple[str, ...] = ()) -> None:
        """Bring it to these cores, its runtime's helper threads to the spare ones."""
        for tid in processes.threads(self.pid):
            helps = tid != self.pid and bool(helpers) and processes.name(tid).startswith(helpers)
            processes.pin_thread(tid, cpus.spare_cpus() if helps else cores)

    def close(self) -> None:
        """Let it hang up and end; harmless when it has ended."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            processes.wait(self._process, 5.0)
        processes.stop(self._process)
        self._said.close()

    def _tell(self, text: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
            self._process.stdin.flush()
        except OSError as error:
            raise self._failed() from error

    def _answer(self) -> str:
        stream = self._process.stdout
        assert stream is not None
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            line = stream.readline() if selector.select(ANSWER_S) else b""
        if not line:
            raise self._failed()
        return line.decode().strip()

    def _failed(self) -> RowpathError:
        processes.wait(self._process, 1.0)
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").strip()[-500:]
        self.close()
        return RowpathError(f"a program by hand did not answer: {words or 'no last words'}")
