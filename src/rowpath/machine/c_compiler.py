"""The system's C compiler: the libraries and headers that it finds, and what it makes of sources, in the cache.

Where there is none, what the wheel brings compiled takes its place.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.machine import compiling, processes
from rowpath.machine.directories import build_dir, data_dir

# A newer compiler's new warnings must not stop a user: `make check` is where they are errors.
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra")
REMEDY = "apt-get install gcc libc6-dev"


def words() -> list[str]:
    """How it is started: CC of the environment, else `cc`."""
    return shlex.split(os.environ.get("CC", "")) or ["cc"]


def problem(for_what: str = "") -> tuple[str, str] | None:
    """Why nothing can be compiled, with what it is for, and what helps; None when it can."""
    return None if shutil.which(words()[0]) else (f"no C compiler ({words()[0]}){for_what}", REMEDY)


def precompiled(name: str) -> Path | None:
    """What the wheel brings compiled under that name; None in a clone, and where a compiler makes it."""
    file = data_dir() / "precompiled" / name
    return file if problem() and file.is_file() else None


def taken(file: Path) -> Path:
    """The wheel's file in the cache, where other users reach it, too: a server may run as one of them."""
    target = build_dir("c") / f"{file.name}-{compiling.key([file], [])}"
    return compiling.made_once(target, lambda made: shutil.copyfile(file, made))


@functools.cache
def library_file(name: str) -> Path | None:
    """The shared library that its linker finds by this name (a folder before it allowed); None when it finds none."""
    with _one_at_a_time:
        lines = _answer("-print-search-dirs").stdout.splitlines()
    named = next((line for line in lines if line.startswith("libraries:")), "").partition("=")[2]
    files = (Path(folder) / name for folder in named.split(":") if folder)
    return next((file.resolve() for file in files if file.is_file()), None)


def has_header(name: str) -> bool:
    """Whether it finds this header."""
    with _one_at_a_time:
        output = _answer("-E", "-v", "-x", "c", os.devnull, "-o", os.devnull).stderr
    listed = output.partition("#include <...> search starts here:\n")[2].partition("End of search list.")[0]
    return any((Path(folder.strip()) / name).is_file() for folder in listed.splitlines())


# Asked once, not by each thread that looks for drivers: a start of the compiler takes longer than all else that a list
# does.
_one_at_a_time = threading.Lock()


@functools.cache
def _answer(*arguments: str) -> subprocess.CompletedProcess[str]:
    return processes.asked([*words(), *arguments], 30, environment={"LC_ALL": "C"})  # its words are read


def key(inputs: Sequence[Path], arguments: Sequence[str]) -> str:
    """What a build of these files with these arguments and this compiler is named by."""
    return compiling.key(inputs, [*arguments, *words(), _version(tuple(words()))])


@functools.cache
def _version(compiler: tuple[str, ...]) -> str:
    """What the compiler prints about itself. EnvironmentMissing when it cannot be started."""
    try:
        return processes.asked([*compiler, "--version"], 30, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentMissing(f"the C compiler {shlex.join(compiler)} does not start: {error}", REMEDY) from error


def run(arguments: Sequence[str], what: str) -> str:
    """Compile, or link, with FLAGS; what the compiler prints. InternalError when it fails."""
    named = f'-DRP_COMPILER_FLAGS="{shlex.quote(" ".join(FLAGS))[1:-1]}"'
    return compiling.run([*words(), *FLAGS, named, *arguments], f"{what} does not compile", REMEDY)


def built(
    name: str,
    sources: Sequence[Path],
    included: Sequence[str] = (),
    linked: Sequence[str] = (),
    archive: Callable[[], Path] | None = None,
    archived: Sequence[Path] = (),
) -> Path:
    """A program or library of that name, compiled when no build of these very inputs is in the cache.

    `archive` makes a static library of the files `archived`, which is linked too.
    """
    inputs = sorted({*sources, *(file for source in sources for file in source.parent.glob("*.h"))})
    target = build_dir("c") / f"{name}-{key([*inputs, *archived], [*FLAGS, *included, *linked])}"

    def link(made: Path) -> None:
        static = [str(archive())] if archive else []
        run([*included, *map(str, sources), *static, *linked, "-pthread", "-o", str(made)], name)

    return compiling.made_once(target, link)
