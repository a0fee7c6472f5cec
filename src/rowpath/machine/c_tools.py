"""Our own programs and libraries in C, compiled when they are not in the cache; their sources: runners/c/tools.

Errors of all: EnvironmentMissing without a C compiler, unless the wheel brings them compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rowpath.machine import c_compiler
from rowpath.machine.directories import data_dir

PROGRAMS = {  # with what each is linked
    "echo": (),
    "link": (),
    "network": (),
    "replay": (),
    "ibmi": ("-pthread",),
    "netcat_server": ("-pthread",),
}
SYNC_COUNT, CALL_STAMPS = LIBRARIES = ("sync_count.so", "call_stamps.so")
LIBRARY_ARGUMENTS = ("-fPIC", "-shared")


def echo_command(
    *,
    unix: Path | None = None,
    tcp: int | None = 0,
    listen: str = "127.0.0.1",
    cpu: int | None = None,
    burn_ns: int = 0,
    stall_ns: int = 0,
    stall_every: int = 0,
) -> tuple[str, ...]:
    """How to start the ping server: it prints `ready tcp=PORT`, serves, and ends with its parent or its stdin.

    `tcp` 0: any free port of `listen`; None: no TCP (then PORT is 0). It burns `burn_ns` of CPU per answer and
    sleeps `stall_ns` before each `stall_every`-th one.
    """
    options = {
        "--burn-ns": burn_ns,
        "--stall-ns": stall_ns,
        "--stall-every": stall_every,
        "--unix": unix,
        "--tcp": tcp,
        "--cpu": cpu,
        "--listen": listen if listen != "127.0.0.1" else None,
    }
    given = (word for name, value in options.items() if value is not None for word in (name, str(value)))
    return _program("echo"), *given


def link_command(to_port: int, delay_ns: int, bytes_per_s: float = 0.0) -> tuple[str, ...]:
    """How to start the emulated link: it prints `ready tcp=PORT`, and ends with its parent or its stdin.

    Every chunk is handed on `delay_ns` after it has left, in both directions; `bytes_per_s` 0: it leaves at once.
    """
    rate = ("--rate-bytes-per-s", str(round(bytes_per_s))) if bytes_per_s else ()
    return _program("link"), "--to", str(to_port), "--delay-ns", str(delay_ns), *rate


def netcat_command(folder: Path, tcp: int, listen: str) -> tuple[str, ...]:
    """How to start what sends TABLE.tbl of a folder; its stdin begins with the secret of whoever may ask."""
    return _program("netcat_server"), "--folder", str(folder), "--tcp", str(tcp), "--listen", listen


def replay_program() -> str:
    """The replay server; its options stand in runners/c/tools/replay/main.c."""
    return _program("replay")


def ibmi_program() -> str:
    """The stand-in for IBM i; its options stand in runners/c/tools/ibmi/main.c."""
    return _program("ibmi")


def network_program() -> str:
    """The program that measures clocks and the way between two hosts; runners/c/tools/network.c says how."""
    return _program("network")


def sync_count_library() -> Path:
    """The LD_PRELOAD library that counts syncs; the layout of its counters stands in runners/c/tools/sync_count.c."""
    return _library(SYNC_COUNT)


def call_stamps_library() -> Path:
    """The LD_PRELOAD library that stamps sending, receiving, waiting; its stamps: runners/c/tools/call_stamps.c."""
    return _library(CALL_STAMPS)


def sources(name: str) -> list[Path]:
    """Those of a program (one file, or a folder of files) or of a library."""
    tools = data_dir() / "runners" / "c" / "tools"
    stem = name.removesuffix(".so")
    return sorted((tools / stem).glob("*.c")) or [tools / f"{stem}.c"]


def _program(name: str) -> str:
    return str(_made(name, (), PROGRAMS[name]))


def _library(name: str) -> Path:
    return _made(name, LIBRARY_ARGUMENTS, ("-ldl",))


def _made(name: str, included: Sequence[str], linked: Sequence[str]) -> Path:
    file = c_compiler.precompiled(name)
    return c_compiler.taken(file) if file else c_compiler.built(name, sources(name), included, linked)
