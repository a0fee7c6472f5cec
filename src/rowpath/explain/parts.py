"""Which part of a program an address belongs to: a library by its file, a package by its symbol's name."""

from __future__ import annotations

import re
from pathlib import PurePath

from rowpath.model.explanation import Frame
from rowpath.runners.language import Language
from rowpath.runners.manifest import headers
from rowpath.runners.manifest import language as header_of

KERNEL = "kernel"
LOOP = "our loop and adapter"
# File names of shared objects → what people call them; others go by their own name. Our stamps stand for the C
# library's calls.
LIBRARIES = {
    "libc": "C library", "ld-linux-x86-64": "C library", "ld-linux-aarch64": "C library", "libm": "C library",
    "libpthread": "C library", "call_stamps": "C library", "[vdso]": "C library", "libssl": "TLS", "libcrypto": "TLS",
}  # fmt: skip
UNKNOWN = "unknown"
OUR_PACKAGES = ("main", "rowpath", "core", "command-line-arguments")
WITH_OWNER = ("github.com", "gitlab.com", "golang.org")  # hosts whose second word is no module's name
STANDARD_CRATES = ("std", "core", "alloc", "hashbrown", "compiler_builtins")
HASHED = re.compile(r"-[0-9a-f]{8}(?=[-.]|$)")  # what wheels add to the names of libraries that they bring along
# The C library's wrappers, by all of their names: they are a few instructions around the call itself. Our stamps call
# `syscall`.
CALLS = (
    "sendto|sendmsg|send|recvfrom|recvmsg|recv|poll|ppoll|epoll_p?wait|select|readv?|writev?|pread64|pwrite64"
    "|fdatasync|fsync|lseek64|fcntl64|syscall"
)
WRAPPER = re.compile(rf"_*(?:GI_+|libc_)?(?:{CALLS})")
INSIDE = Frame("system call (not broken down)", KERNEL)


def part_of(symbol: str, file: str, language: str) -> str:
    """The part's name. `language`: of the runner that was sampled; empty: a server."""
    if file.startswith(("[kernel", "[guest.kernel")):
        return KERNEL
    name = PurePath(file).name
    header = header_of(language)
    if file.startswith(("[JIT", "//anon", "[unknown]")) or name.startswith("perf-"):
        return header.explain.compiled or UNKNOWN
    if ".so" in name or file.startswith("["):
        return library(file)
    if not language:
        return name
    if header.explain.symbols == "import-path":
        return import_path(symbol, header)
    if header.explain.symbols == "crate":
        return crate(symbol, header)
    return runtime(header)


def runtime(header: Language) -> str:
    """The part that the program's own file is."""
    return header.explain.runtime or LOOP


def in_packages(path: PurePath) -> tuple[str, ...]:
    """The parts of a path inside of Python's packages; empty outside of them."""
    return path.parts[path.parts.index("site-packages") + 1 :] if "site-packages" in path.parts else ()


def library(file: str) -> str:
    """What a shared object is called: libpq for /usr/lib/libpq-1a2b3c4d.so.5.18, psycopg_c for its extension."""
    path = PurePath(file)
    base = HASHED.sub("", path.name.partition(".so")[0]).partition(".cpython")[0].partition(".abi3")[0]
    base = re.sub(r"-\d[\d.]*$", "", base)
    if base in LIBRARIES:
        return LIBRARIES[base]
    folders = {f"{folder}/" for folder in path.parts[:-1]}
    for header in headers():
        if any(base.startswith(own) or own in folders for own in header.explain.libraries):
            return runtime(header)
    packages = in_packages(path)
    return packages[0] if len(packages) > 1 and not packages[0].endswith(".libs") else base


def import_path(symbol: str, header: Language) -> str:
    """The module of a function by its package's path: github.com/jackc/pgx/v5/pgconn.(*PgConn).Exec is of pgx."""
    words = symbol.partition("(")[0].split("/")
    first = words[0].partition(".")[0]
    if "." in words[0] and len(words) > 1:  # a host's name
        return words[min(2 if words[0] in WITH_OWNER else 1, len(words) - 1)].partition(".")[0]
    if first in OUR_PACKAGES:
        return LOOP
    if len(words) == 1 and "." not in symbol:  # not of Go: C code, or the runtime's assembler
        return "SQLite" if symbol.startswith("sqlite3") else runtime(header)
    in_runtime = first in ("runtime", "internal", "syscall", "sync", "reflect")
    return runtime(header) if in_runtime else standard_library(header)


def standard_library(header: Language) -> str:
    """The part that comes with the language."""
    return f"{header.title}'s standard library"


def crate(symbol: str, header: Language) -> str:
    """The crate of a function, C code that is linked in by its prefix, and the loop."""
    match = re.match(r"^<*&?(?:mut |dyn )?\(?([A-Za-z_][A-Za-z0-9_]*)::", symbol)
    if not match:
        return "SQLite" if symbol.startswith("sqlite3") else "C code linked in" if symbol else UNKNOWN
    name = match[1]
    if name in STANDARD_CRATES:
        return standard_library(header)
    return LOOP if name in OUR_PACKAGES or name.startswith("rowpath") else name


def entered(frame: Frame) -> bool:
    """Whether a sample whose innermost frame this is was in the kernel."""
    return frame.part == "C library" and WRAPPER.fullmatch(frame.name) is not None
