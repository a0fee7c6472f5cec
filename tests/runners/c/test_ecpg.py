"""The C path in embedded SQL: two builds of one program, which says what it was not written for."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Close, CloseReply, Verify, VerifyReply
from tests.runners.c.talk import ADAPTERS, Talk, expected_of, started

c: Any = toolchain("c")
problem = c.availability(ADAPTERS["ecpg"], "system").reason or ENGINES["postgresql"].availability().reason
pytestmark = pytest.mark.skipif(bool(problem), reason=problem or "it can run")


@pytest.fixture(scope="module")
def instance() -> Iterator[Instance]:
    """A server with the tables of both workloads."""
    with started("postgresql") as running:
        workloads = [expected_of(name, ENGINES["postgresql"]).workload for name in ("keyed", "scan", "scan-sizes")]
        running.load({name: table for workload in workloads for name, table in workload.tables.items()})
        yield running


@pytest.mark.parametrize("result", ADAPTERS["ecpg"].coordinates["result"])
@pytest.mark.parametrize("statement", ADAPTERS["ecpg"].coordinates["statement"])
def test_scan(statement: str, result: str, instance: Instance, tmp_path: Path) -> None:
    with Talk("ecpg", instance, statement=statement, result=result) as talk:
        expected = expected_of("scan", talk.engine)
        talk.prepare(expected, expected.workload.phase("read"), tmp_path)
        reply = talk.sample("read", operations=3, first=0)
        assert (reply.operations, reply.failed, reply.rows) == (3, 0, 3 * 6071)
        assert int(reply.touch, 16) in (expected.touches(expected.workload.phase("read")).expected(0, 3) or ())


@pytest.mark.parametrize("result", ADAPTERS["ecpg"].coordinates["result"])
@pytest.mark.parametrize("rows", [1, 10, 100, 1000, 5000])
def test_first_rows(rows: int, result: str, instance: Instance, tmp_path: Path) -> None:
    """Results that fill the host arrays exactly, less, and several times."""
    with Talk("ecpg", instance, result=result) as talk:
        expected = expected_of("scan-sizes", talk.engine)
        phase = expected.workload.phase(f"first-{rows}")
        talk.prepare(expected, phase, tmp_path)
        reply = talk.ask(Verify, VerifyReply, phase=phase.name, first=0, count=1)
        assert reply.digest == expected.verify_digest(phase, 0, 1, 100_000)


def test_a_failed_insert_is_told_and_the_next_goes_on(instance: Instance, tmp_path: Path) -> None:
    with Talk("ecpg", instance) as talk:
        expected = expected_of("keyed", talk.engine)
        insert = expected.workload.phase("insert")
        talk.prepare(expected, insert, tmp_path)
        assert talk.sample("insert", operations=1, first=0).failed == 0
        again = talk.sample("insert", operations=2, first=0)
        assert (again.operations, again.failed) == (1, 1)
        assert again.failure is not None
        assert (again.failure.kind, again.failure.code) == ("sql", "23505")


@pytest.mark.parametrize(("statement", "texts"), [("prepared", 0), ("bound", 20)])
def test_how_a_read_travels(statement: str, texts: int, instance: Instance, tmp_path: Path) -> None:
    """Seen from between: one round trip each, with or without the statement's text (as the precompiler writes it)."""
    with Talk("ecpg", instance, statement=statement, transport="tcp") as talk:
        seen = talk.statements_seen(expected_of("keyed", talk.engine), tmp_path, "from mydata2")
        assert seen == (20, texts)


def test_what_it_was_not_written_for(instance: Instance, tmp_path: Path) -> None:
    with Talk("ecpg", instance) as talk:
        expected = expected_of("tab1", talk.engine)
        with pytest.raises(RunnerFailure, match="stand in its source") as raised:
            talk.prepare(expected, expected.workload.phase("select"), tmp_path)
        assert raised.value.kind == "unsupported"


def test_more_rows_than_the_host_arrays_hold(instance: Instance) -> None:
    with pytest.raises(RunnerFailure, match="1 to 100000 rows, not 200000"):
        Talk("ecpg", instance, result="cursor:200000")


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_a_refused_login(transport: str, instance: Instance) -> None:
    with Talk("ecpg", instance, transport=transport) as talk:
        secret = str(talk.options["password"])
        assert talk.facts().settings["transport"] == transport
        assert secret not in Path(f"/proc/{talk.runner.pid}/cmdline").read_bytes().decode()
        talk.ask(Close, CloseReply)
        with pytest.raises(RunnerFailure) as raised:
            talk.open(talk.options | {"password": "wrong-word"})
        assert raised.value.kind == "connect"
        assert "wrong-word" not in raised.value.text


def test_each_mode_is_a_build_of_its_own() -> None:
    adapter = ADAPTERS["ecpg"]
    assert c.executable(adapter, "system", "prepared") != c.executable(adapter, "system", "bound")


def test_a_missing_precompiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert c.missing_program(ADAPTERS["ecpg"]) == ("no precompiler ecpg", "apt-get install libecpg-dev")
