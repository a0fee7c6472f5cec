"""Which part of a program an address belongs to: a library by its file, a package by its symbol's name."""

from __future__ import annotations

import re
from pathlib import PurePath

KERNEL = "kernel"
LOOP = "our loop and adapter"
# File names of shared objects → what people call them; others go by their own name.
LIBRARIES = {
    "libc": "C library", "ld-linux-x86-64": "C library", "ld-linux-aarch64": "C library", "libm": "C library",
    "libpthread": "C library", "[vdso]": "C library", "libssl": "TLS", "libcrypto": "TLS", "libjvm": "Java runtime",
}  # fmt: skip
COMPILED = {
    "java": "Java code (compiled)",
    "node": "JavaScript (compiled)",
    "csharp": "C# code (compiled)",
}  # made while it runs: no file
RUNTIMES = {"python": "Python interpreter", "node": "Node", "csharp": "Mono", "java": "Java runtime"}
OUR_PACKAGES = ("main", "rowpath", "core", "command-line-arguments")
GO_RUNTIME = "Go runtime"
WITH_OWNER = ("github.com", "gitlab.com", "golang.org")  # hosts whose second word is no module's name
RUST_STANDARD = ("std", "core", "alloc", "hashbrown", "compiler_builtins")
HASHED = re.compile(r"-[0-9a-f]{8}(?=[-.]|$)")  # what wheels add to the names of libraries that they bring along


def part_of(symbol: str, file: str, language: str) -> str:
    """The part's name. `language`: of the runner that was sampled; empty: a server."""
    if file.startswith(("[kernel", "[guest.kernel")):
        return KERNEL
    name = PurePath(file).name
    if file.startswith(("[JIT", "//anon", "[unknown]")) or name.startswith("perf-"):
        return COMPILED.get(language, "unknown")
    if ".so" in name or file.startswith("["):
        return library(file)
    if not language:
        return name
    if language == "go":
        return go_package(symbol)
    if language == "rust":
        return crate(symbol)
    return RUNTIMES.get(language, LOOP)


def library(file: str) -> str:
    """What a shared object is called: libpq for /usr/lib/libpq-1a2b3c4d.so.5.18, psycopg_c for its extension."""
    path = PurePath(file)
    base = HASHED.sub("", path.name.partition(".so")[0]).partition(".cpython")[0].partition(".abi3")[0]
    base = re.sub(r"-\d[\d.]*$", "", base)
    if base in LIBRARIES:
        return LIBRARIES[base]
    if base.startswith(("libpython", "python")):
        return RUNTIMES["python"]
    if "lib-dynload" in path.parts:
        return RUNTIMES["python"]
    packages = path.parts[path.parts.index("site-packages") + 1 :] if "site-packages" in path.parts else ()
    if len(packages) > 1 and not packages[0].endswith(".libs"):
        return packages[0]
    return base


def go_package(symbol: str) -> str:
    """The module of a Go function: github.com/jackc/pgx/v5/pgconn.(*PgConn).Exec is of pgx."""
    words = symbol.partition("(")[0].split("/")
    first = words[0].partition(".")[0]
    if "." in words[0] and len(words) > 1:  # a host's name
        return words[min(2 if words[0] in WITH_OWNER else 1, len(words) - 1)].partition(".")[0]
    if first in OUR_PACKAGES:
        return LOOP
    if len(words) == 1 and "." not in symbol:  # not of Go: C code, or the runtime's assembler
        return "SQLite" if symbol.startswith("sqlite3") else GO_RUNTIME
    return GO_RUNTIME if first in ("runtime", "internal", "syscall", "sync", "reflect") else "Go's standard library"


def crate(symbol: str) -> str:
    """The crate of a Rust function, C code that is linked in by its prefix, and the loop."""
    found = re.match(r"^<*&?(?:mut |dyn )?\(?([A-Za-z_][A-Za-z0-9_]*)::", symbol)
    if not found:
        return "SQLite" if symbol.startswith("sqlite3") else "C code linked in" if symbol else "unknown"
    name = found[1]
    if name in RUST_STANDARD:
        return "Rust's standard library"
    return LOOP if name in OUR_PACKAGES or name.startswith("rowpath") else name
