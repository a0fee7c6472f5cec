"""Which part of a program an address belongs to, and what perf prints."""

from __future__ import annotations

from collections import Counter

import pytest

from rowpath.explain.parts import KERNEL, LOOP, part_of
from rowpath.explain.perf import Profile, add_kernel, counted


@pytest.mark.parametrize(
    ("symbol", "file", "language", "part"),
    [
        ("entry_SYSCALL_64", "[kernel.kallsyms]", "c", KERNEL),
        ("entry_SYSCALL_64", "[guest.kernel.kallsyms]", "", KERNEL),
        ("PQgetvalue", "/cache/libpq-1a2b3c4d.so.5.18", "c", "libpq"),
        ("SSL_read", "/usr/lib/x86_64-linux-gnu/libssl.so.3", "c", "TLS"),
        ("memcpy", "/usr/lib/x86_64-linux-gnu/libc.so.6", "c", "C library"),
        ("__vdso_clock_gettime", "[vdso]", "c", "C library"),
        ("rp_answer", "/cache/build/c/libpq-12ab", "c", LOOP),
        ("_PyEval_EvalFrameDefault", "/usr/bin/python3.11", "python", "Python interpreter"),
        ("PyDict_GetItem", "/usr/lib/libpython3.11.so.1.0", "python", "Python interpreter"),
        ("f", "/env/lib/python3.11/site-packages/psycopg_c/_psycopg.cpython-311-x86_64.so", "python", "psycopg_c"),
        ("f", "/env/lib/python3.11/site-packages/psycopg_binary.libs/libpq-9b38dd5e.so.5", "python", "libpq"),
        ("f", "/usr/lib/python3.11/lib-dynload/_socket.cpython-311.so", "python", "Python interpreter"),
        ("github.com/jackc/pgx/v5/pgconn.(*PgConn).Exec", "/cache/pgx", "go", "pgx"),
        ("github.com/lib/pq.(*conn).recv", "/cache/pq", "go", "pq"),
        ("modernc.org/sqlite/lib.Xsqlite3_step", "/cache/modernc", "go", "sqlite"),
        ("runtime.mallocgc", "/cache/pgx", "go", "Go runtime"),
        ("memeqbody", "/cache/pgx", "go", "Go runtime"),
        ("sqlite3VdbeExec", "/cache/mattn", "go", "SQLite"),
        ("database/sql.(*Rows).Next", "/cache/pq", "go", "Go's standard library"),
        ("main.main", "/cache/pq", "go", LOOP),
        ("tokio_postgres::client::Client::query", "/cache/tokio", "rust", "tokio_postgres"),
        ("<tokio_postgres::query::RowStream as futures::Stream>::poll_next", "/c/t", "rust", "tokio_postgres"),
        ("core::fmt::write", "/cache/tokio", "rust", "Rust's standard library"),
        ("rowpath::core::sampler::sample", "/cache/tokio", "rust", LOOP),
        ("sqlite3_step", "/cache/rusqlite", "rust", "SQLite"),
        ("[unknown]", "/tmp/perf-123.map", "java", "Java code (compiled)"),
        ("[unknown]", "[JIT] tid 123", "node", "JavaScript (compiled)"),
        ("JavaMain", "/jdk/lib/server/libjvm.so", "java", "Java runtime"),
        ("exec_simple_query", "/usr/lib/postgresql/15/bin/postgres", "", "postgres"),
    ],
)
def test_part(symbol: str, file: str, language: str, part: str) -> None:
    assert part_of(symbol, file, language) == part


PRINTED = """\
   4242     7f12ab PQgetvalue (/usr/lib/libpq.so.5.18)
   4242 ffffffff81000 entry_SYSCALL_64 ([kernel.kallsyms])
   4243       55aa operator new(unsigned long) (/opt/with space (1)/postgres)
"""


def test_what_perf_prints() -> None:
    found = counted(PRINTED.splitlines(), {4242: "c"})
    assert found == {4242: Counter({"libpq": 1, KERNEL: 1}), 4243: Counter({"postgres": 1})}


def test_shares_of_several_processes() -> None:
    profile = Profile({1: Counter({"libpq": 3}), 2: Counter({KERNEL: 1})})
    profile.add(Profile({2: Counter({KERNEL: 4})}))
    assert profile.shares([1, 2]) == {KERNEL: 0.625, "libpq": 0.375}
    assert profile.shares([7]) == {}


@pytest.mark.parametrize(
    ("samples", "user", "kernel", "added"), [(90, 9, 3, 30), (90, 9, 0, 0), (0, 0, 5, 5), (0, 0, 0, 0)]
)
def test_the_kernel_by_clock_ticks(samples: int, user: int, kernel: int, added: int) -> None:
    found = Counter({"libpq": samples})
    add_kernel(found, user, kernel)
    assert (found["libpq"], found[KERNEL]) == (samples, added)
