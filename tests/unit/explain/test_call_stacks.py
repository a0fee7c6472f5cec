"""What each sampler prints of call stacks, as frames with the parts they belong to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rowpath.errors import EnvironmentMissing
from rowpath.explain import async_profiler, py_spy
from rowpath.explain.flames import NodeNames
from rowpath.explain.parts import INSIDE, KERNEL, LOOP
from rowpath.explain.perf import TABLES, parsed, recording, short
from rowpath.model.explanation import Frame, SideStacks
from rowpath.runners.manifest import language

JAVASCRIPT, JAVA = "JavaScript (compiled)", "Java code (compiled)"

PERF = """\
  4242/4242 
\tffffffff8207cf1f tcp_ack ([kernel.kallsyms])
\tffffffff81000130 entry_SYSCALL_64_after_hwframe ([kernel.kallsyms])
\t          10ab59 __send (/usr/lib/x86_64-linux-gnu/libc.so.6)
\t           1a7e9 [unknown] (/opt/libssl.so.3)
\t           1a7f0 [unknown] (/opt/libssl.so.3)
\t           176da PQexecPrepared (/opt/with space (1)/libpq.so.5)
\t            6551 non-virtual thunk to a::b(uv_buf_t**, long*) (/cache/libpq-12ab)
\t            6551 __libc_start_main@@GLIBC_2.34 (/usr/lib/x86_64-linux-gnu/libc.so.6)

  4243/4250 
\t          55aa PortalRun (/opt/postgres)

     7/7 
\t          55aa other (/bin/other)

  4244/4244 
\t    7f3b4c02abb8 [unknown] (/tmp/perf-4244.map)
\t    7f3b4c022d5c [unknown] (/tmp/perf-4244.map)
\t          14ce0d Builtins_JSEntry (/usr/bin/node)
"""  # noqa: W291


def test_stacks_of_perf() -> None:
    found = parsed(PERF.splitlines(), {4242: "c", 4243: "", 4244: "node"})
    assert set(found) == {4242, 4243, 4244}  # no other process
    ((stack, count),) = found[4242].items()
    assert count == 1
    assert stack == (
        Frame("__libc_start_main", "C library"),
        Frame("non-virtual thunk to a::b(uv_buf_t**, long*)", LOOP),
        Frame("PQexecPrepared", "libpq"),
        Frame("[libssl.so.3]", "TLS"),
        Frame("__send", "C library"),
        Frame("entry_SYSCALL_64_after_hwframe", KERNEL),
        Frame("tcp_ack", KERNEL),
    )
    assert found[4243] == Counter({(Frame("PortalRun", "postgres"),): 1})
    compiled = Frame(f"({JAVASCRIPT})", JAVASCRIPT)
    assert found[4244] == Counter({(Frame("Builtins_JSEntry", "Node"), compiled): 1})


V8_LOG = r"""v8-version,11,3,244,8,-node.38,0
code-creation,JS,2,54795,0x7f3b4c02a000,888,inner /x/node_modules/pg/lib/client.js:542:15,0x17bcb390f38,~
code-creation,JS,11,55942,0x7f3b4c02a000,4096,inner /x/node_modules/pg/lib/client.js:542:15,0x17bcb390f38,^
code-creation,JS,11,55950,0x7f3b4c010000,256, node:net:12:1,0x17bcb390f38,^
code-move,0x7f3b4c010000,0x7f3b4c022d00
code-creation,Builtin,3,1,0x14ce000,16,RecordWrite
"""


def test_names_of_compiled_javascript() -> None:
    names = NodeNames(V8_LOG.splitlines())
    assert names(0x7F3B4C02ABB8) == "inner (pg/lib/client.js:542)"
    assert names(0x7F3B4C022D5C) == "(anonymous) (node:net:12)"  # where it was moved to
    assert names(0x7F3B4C010000) == ""
    assert names(1) == ""
    ((stack, _count),) = parsed(PERF.splitlines(), {4244: "node"}, names)[4244].items()
    assert [frame.name for frame in stack[1:]] == ["(anonymous) (node:net:12)", "inner (pg/lib/client.js:542)"]
    assert {frame.part for frame in stack[1:]} == {JAVASCRIPT}


COLLAPSED = """\
[main tid=7];rowpath/Main.main_[j];org/postgresql/core/PGStream.flush_[i];libc.so.6`__send;do_syscall_64_[k] 5
[main tid=7];rowpath/Main.main_[0];a/B$$Lambda.0x00007f7129094000.run_[1];libjvm.so`os::javaTimeMillis 2
[C2 CompilerThread0 tid=9];libjvm.so`Compile::Compile 70
java/net/Socket.write_[j];libc.so.6`__GI_write 3
"""


def test_stacks_of_async_profiler() -> None:
    assert async_profiler.stacks(COLLAPSED.splitlines(), language("java")) == {
        (
            Frame("rowpath.Main.main", JAVA),
            Frame("org.postgresql.core.PGStream.flush", JAVA),
            Frame("__send", "C library"),
            Frame("do_syscall_64", KERNEL),
        ): 5,
        (
            Frame("rowpath.Main.main", JAVA),
            Frame("a.B$$Lambda.run", JAVA),
            Frame("os::javaTimeMillis", "Java runtime"),
        ): 2,
        (Frame("java.net.Socket.write", JAVA), Frame("__GI_write", "C library")): 3,
    }


def test_stacks_of_a_jvm_that_may_not_see_the_kernel() -> None:
    (line,) = COLLAPSED.splitlines()[-1:]
    ((stack, count),) = async_profiler.stacks([line], language("java")).items()
    assert count == 3
    assert stack[1:] == (Frame("__GI_write", "C library"), INSIDE)


PY_SPY = """\
0x7f1d (/usr/lib/libc.so.6);loop (/x/loop.py:4);execute (/e/lib/python3.11/site-packages/psycopg/cursor.py:97) 9
loop (/x/loop.py:4);f (/e/lib/site-packages/psycopg_c/_psycopg.cpython-311.so);stmt (/b/cursor.c:5) 2
loop (/x/core/loop.py:4);stmt_step (/tmp/Python-3.11.7/Modules/_sqlite/cursor.c:524) 4
loop (/x/core/loop.py:4);poll (/usr/lib/libc.so.6) 70
"""


def test_stacks_of_py_spy() -> None:
    python = "Python interpreter"
    loop = Frame("loop (loop.py:4)", python)
    assert py_spy.stacks(PY_SPY.splitlines(), language("python")) == {
        (Frame("[libc.so.6]", "C library"), loop, Frame("execute (psycopg/cursor.py:97)", python)): 9,
        (loop, Frame("f", "psycopg_c"), Frame("stmt", "psycopg_c")): 2,
        (loop, Frame("stmt_step", python)): 4,
    }


def test_long_names_are_cut() -> None:
    assert short("core.init.given[go.shape.struct { Phase string }].func5") == "core.init.given[…].func5"
    assert len(short("x" * 500)) == 160


def test_time_by_stack_and_part() -> None:
    inner, outer = Frame("PQexec", "libpq"), Frame("main", LOOP)
    side = SideStacks("client", 1000.0, "perf", {(outer, inner): 3, (outer,): 1})
    assert side.times_ns() == {(outer, inner): 750.0, (outer,): 250.0}
    assert side.parts_ns() == {"libpq": 750.0, LOOP: 250.0}


def test_without_perf_the_error_names_what_brings_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(EnvironmentMissing, match="perf is missing") as missing,
        recording([1], [0], tmp_path / "data", TABLES),
    ):
        pass
    assert missing.value.hint == "apt-get install linux-perf"
