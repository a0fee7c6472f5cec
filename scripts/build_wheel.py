"""Builds the wheel for Linux on x86-64, with the C runner compiled in it: `make wheel`.

`.venv/bin/python scripts/build_wheel.py [FOLDER] [--rebuild]` writes it to FOLDER, else to dist/; `--rebuild` compiles
all of it again. Zig, from a pinned wheel, compiles for an old C library; SQLite's source comes with a pinned crate.
Built twice, the wheel has the same bytes.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.wheel import WheelBuilder
from typing_extensions import override

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from rowpath.errors import InternalError, RowpathError  # noqa: E402
from rowpath.machine import c_compiler, c_tools, compiling, downloads, postgresql_programs, processes  # noqa: E402
from rowpath.machine.directories import cache_dir  # noqa: E402
from rowpath.runners.manifest import Adapter, load_manifest, toolchain  # noqa: E402

C_LIBRARY = "2.28"  # of glibc, what the wheel needs at least: PostgreSQL's wheel, NumPy and SciPy need as much
TAG = f"py3-none-manylinux_{C_LIBRARY.replace('.', '_')}_x86_64"
ZIG = downloads.Wheel(
    name="ziglang",
    version="0.15.2",
    sha256={"x86_64": "806316453d1ede7174ed3fefb8e5348154629089c3bb5fe812dfd0e172fac130"},
    platform="manylinux_2_12",
    wanted=("ziglang/",),
)
ZIG_CACHE = cache_dir() / "build" / f"{ZIG.name}-{ZIG.version}"
# The adapters that need no header but libpq's, whose licence lets it be used.
DRIVERS = ("null", "ping", "drain", "raw", "sqlite", "libpq", "file", "file-per-record", "libmariadb", "netcat")
CALL = r"\b((?:PQ[a-z]|mysql_|sqlite3_)\w+|uncompress)\s*\("  # of a client library, or of zlib, which one brings along
SQLITE = "libsqlite3.so.0"
# SQLite as its makers ship it, with what a file of another program may hold.
SQLITE_OPTIONS = [
    f"-DSQLITE_{option}"
    for option in ("ENABLE_FTS4", "ENABLE_FTS5", "ENABLE_RTREE", "ENABLE_DBSTAT_VTAB", "ENABLE_MATH_FUNCTIONS")
]
LINKED = ("-s", "-Wl,--build-id=none", "-Wl,--print-map", "-lm", "-ldl")
# What a linker adds by itself, in its map: parts of the C library, and Zig's library with its own slower memcpy.
ADDED = r"(crt1\.o|libc_nonshared\.a|libcompiler_rt\.a)\S*:\(\.(text|rodata|data|bss)"
PROGRAM = ("-fPIE", "-pie", "-Wl,-e,rp_start")
LIBRARY = ("-fPIC", "-shared")
_c: Any = toolchain("c")
WHEEL_SOURCES = _c.FOLDER / "wheel"
START, OLD_LIBC, LOADING = (WHEEL_SOURCES / f"{name}.c" for name in ("start", "old_libc", "loading"))


class Builder(WheelBuilder):
    """A wheel of one machine's programs."""

    programs = ""  # the folder that holds them

    @override
    def get_default_build_data(self) -> dict[str, Any]:
        """The usual, and the programs."""
        mine = {"tag": TAG, "pure_python": False, "force_include": {self.programs: "rowpath/data/precompiled"}}
        return super().get_default_build_data() | mine


def build(into: Path, objects: Path) -> Path:
    """The wheel, in this folder. `objects`: where Zig keeps what it has compiled of the sources."""
    os.environ |= {"ZIG_GLOBAL_CACHE_DIR": str(ZIG_CACHE), "ZIG_LOCAL_CACHE_DIR": str(objects)}
    os.environ["CC"] = shlex.join((str(zig()), "cc", "-target", f"x86_64-linux-gnu.{C_LIBRARY}"))
    os.environ.pop("ROWPATH_POSTGRESQL", None)
    with tempfile.TemporaryDirectory() as scratch:
        clone, programs = Path(scratch) / "clone", Path(scratch) / "precompiled"
        programs.mkdir()
        compile_all(programs)
        # What a build or a test left beside the sources does not get into the wheel.
        for name in _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
            if name and (ROOT / name).is_file():
                (clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, clone / name)
        Builder.programs = str(programs)
        (wheel,) = Builder(str(clone)).build(directory=str(into.absolute()), versions=["standard"])
    return Path(wheel)


def zig() -> Path:
    """The compiler, fetched when it is not there yet."""
    home = cache_dir() / f"{ZIG.name}-{ZIG.version}"
    program = home / "ziglang" / "zig"
    what = f"Zig {ZIG.version} (from the wheel {ZIG.name})"
    downloads.install(program, home, lambda: ZIG.availability(what, program), ZIG.unpack)
    return program


def compile_all(into: Path) -> None:
    """Every program and library that the wheel brings."""
    (_, null), *others = ((program.source, program) for program in programs())
    compile_program(null, into)  # whose objects the others take from Zig's cache
    todo = [functools.partial(compile_program, program, into) for _, program in others]
    todo += [functools.partial(compile_tool, name, into) for name in (*c_tools.PROGRAMS, *c_tools.LIBRARIES)]
    processes.side_by_side([functools.partial(compile_sqlite, into), *todo], compiling.AT_ONCE)


def programs() -> Iterator[Adapter]:
    """The adapters as the programs that they are, each source once."""
    adapters = {adapter.driver: adapter for adapter in load_manifest("c").adapter}
    every = (program for driver in DRIVERS for program in _c.programs(adapters[driver]))
    yield from {program.source: program for program in every}.values()


def compile_program(program: Adapter, into: Path) -> None:
    """An adapter's program, named as its source is; it calls its client library by way of loading.c."""
    sources, included = _c.parts(program)
    headers = (header for source in sources for header in source.parent.glob("*.h") if source != sources[0])
    texts = (file.read_text(encoding="utf-8") for file in {*sources, *headers})
    called = sorted({name for text in texts for name in re.findall(CALL, text)})
    made = into / sources[0].stem
    if program.build.get("libpq"):
        included.append(f"-I{postgresql_programs.install() / 'include'}")
    with tempfile.TemporaryDirectory() as scratch:
        if called:
            lines = (f"CALL({place}, {name})\n" for place, name in enumerate(called))
            calls = Path(scratch) / "calls.h"
            calls.write_text("".join(lines), encoding="utf-8")
            sources.append(LOADING)
            included += [f'-DRP_CALLS="{calls}"', "-Dmain=rp_main"]
        every = map(str, [*sources, *sorted(_c.CORE.glob("*.c")), START, OLD_LIBC])
        arguments = [_c.HIDDEN, f"-I{_c.CORE}", *included, *every, *PROGRAM]
        _compile(arguments, made)


def compile_tool(name: str, into: Path) -> None:
    """A program or library of ours of runners/c/tools."""
    library = name in c_tools.LIBRARIES
    sources = [*c_tools.sources(name), OLD_LIBC, *([] if library else [START])]
    shape = LIBRARY if library else PROGRAM
    _compile([*map(str, sources), *shape], into / name)


def compile_sqlite(into: Path) -> None:
    """SQLite's amalgamation as a library."""
    sources = [str(sqlite_source()), str(OLD_LIBC)]
    _compile([*SQLITE_OPTIONS, *sources, *LIBRARY, f"-Wl,-soname,{SQLITE}"], into / SQLITE)


def _compile(arguments: list[str], made: Path) -> None:
    printed = c_compiler.run([*arguments, "-pthread", *LINKED, "-o", str(made)], made.name)
    if added := re.search(ADDED, printed):
        raise InternalError(f"{made.name} holds code of {added[1]}", f"write it in {OLD_LIBC.relative_to(ROOT)}")


def sqlite_source() -> Path:
    """The amalgamation, in the crate that the Rust runner's lock pins by checksum; fetched when it is not there yet."""
    words = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform=x86_64-unknown-linux-gnu"]
    words += ["--all-features", f"--manifest-path={ROOT / 'runners' / 'rust' / 'Cargo.toml'}"]
    printed = compiling.run(words, "the crates of runners/rust cannot be read", "https://rustup.rs")
    crate = next(each for each in json.loads(printed)["packages"] if each["name"] == "libsqlite3-sys")
    return Path(crate["manifest_path"]).parent / "sqlite3" / "sqlite3.c"


def sqlite_version() -> str:
    """Of the amalgamation."""
    found = re.search(r'#define SQLITE_VERSION +"(\S+)"', sqlite_source().read_text(encoding="utf-8"))
    assert found
    return found[1]


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Build, and say where the wheel is and how large."""
    parser = argparse.ArgumentParser(description="the wheel with the C runner compiled in it")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--rebuild", action="store_true", help="compile all of it again")
    chosen = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as fresh:
            wheel = build(chosen.folder, Path(fresh) if chosen.rebuild else ZIG_CACHE)
    except RowpathError as error:
        print(f"error: {error.message}\n\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
