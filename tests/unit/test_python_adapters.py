"""Every adapter of the Python runner against the controller's truth, on real engines."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from python_talk import ADAPTERS, Talk, start_fixture  # noqa: F401

from rowpath import generators, workloads
from rowpath.engines.base import Place
from rowpath.engines.postgresql import Postgresql
from rowpath.engines.sqlite import Sqlite
from rowpath.model import Path as AccessPath
from rowpath.model import Phase
from rowpath.runners import RunnerFailure
from rowpath.truth import Truth

EVERY_WORKLOAD = ("scan", "keyed", "tab1", "aggregate", "connect", "types")


def check_every_phase(talk: Talk, engine: Any, names: tuple[str, ...] = EVERY_WORKLOAD) -> None:
    """Every phase of the workloads: touch of a cold and a steady block, digest of reads, digest after writes."""
    for name in names:
        whole = workloads.load_workload(name)
        workload, _ = workloads.for_engine(whole, engine.supports)
        truth = Truth(whole, engine.supports)
        for phase in workload.phases:
            full = talk.prepare(workload, phase, workloads.sql_for(workload, phase, engine))
            if phase.writes:
                for statement in workloads.reset_for(workload, phase, engine):
                    talk.run(statement, ignore_errors=statement.startswith("DROP"))
                operations = min(phase.operations, 200)
                sample = talk.sample(full, operations=operations, lead_in_ns=0, first=0)
                assert (sample.operations, sample.failed, sample.failure) == (operations, 0, None)
                after = Phase(name="after", kind="query", sql=workloads.after_sql(workload, phase), table=phase.after)
                assert talk.verify(talk.prepare(workload, after)).digest == truth.after_digest(phase, operations), full
                continue
            cold = talk.sample(full, operations=3, lead_in_ns=0, first=0)
            verified = talk.verify(full, 2, 20)
            assert verified.digest == truth.verify_digest(phase, 2, 20, 100_000), full
            assert verified.rows == truth.rows(phase, 2, 20)
            assert int(verified.touch, 16) in (truth.touches(phase).expected(2, 20) or ())
            for sample in (cold, talk.sample(full), talk.sample(full, first=990)):
                assert sample.failure is None
                assert sample.rows == truth.rows(phase, sample.first, sample.operations)
                assert sample.values == sample.rows * len(workloads.result_columns(workload, phase))
                assert int(sample.touch, 16) in (truth.touches(phase).expected(sample.first, sample.operations) or ())
                assert bool(sample.first_row_ns) == phase.stamps
                assert sample.execute_ns <= sample.first_row_ns
                assert bool(sample.connect_ns) == (phase.kind == "connect")
            assert len(verified.delivered) == len(workloads.result_columns(workload, phase))


@pytest.fixture(scope="module")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sqlite")
    engine = Sqlite()
    instance = engine.instance("embedded", "full", Place(folder, folder, (0,)))
    instance.start()
    for name in ("scan", "keyed", "tab1", "types"):
        workload, _ = workloads.for_engine(workloads.load_workload(name), engine.supports)
        instance.load(workload.tables)
    return Path(instance._file)


@pytest.mark.parametrize(
    ("statement", "durability", "profile"),
    [
        ("prepared", "full", "tuned"),
        ("bound", "none", "tuned"),
        ("text", "none", "tuned"),
        ("prepared", "none", "shipped"),
    ],
)
def test_sqlite(
    start: Callable[..., Talk], sqlite_file: Path, tmp_path: Path, statement: str, durability: str, profile: str
) -> None:
    own = tmp_path / "own é.sqlite"
    shutil.copy(sqlite_file, own)
    talk = start("sqlite3")
    talk.open(path=str(own), statement=statement, durability=durability, profile=profile)
    check_every_phase(talk, Sqlite())
    facts = talk.facts()
    assert facts.settings["synchronous"] == ("FULL" if durability == "full" else "OFF")
    assert facts.settings["autocommit"] == ("off" if profile == "shipped" else "on")
    assert facts.settings["gc"]


def test_sqlite_says_what_it_converted_and_what_failed(
    start: Callable[..., Talk], sqlite_file: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.sqlite"
    shutil.copy(sqlite_file, own)
    talk = start("sqlite3")
    talk.open(path=str(own), statement="prepared", durability="none")
    scan = workloads.load_workload("scan")
    name = talk.prepare(scan, scan.phases[0])
    assert talk.verify(name).converted == ["REQTS"]
    with pytest.raises(RunnerFailure, match="no such table") as caught:
        talk.verify(talk.prepare(scan, scan.phases[0], "SELECT * FROM nowhere"))
    assert (caught.value.kind, caught.value.code) == ("sql", "SQLITE_ERROR")
    failing = talk.sample(name)
    assert (failing.operations, failing.failed, failing.rows) == (0, 100, 0)
    assert failing.failure is not None and failing.failure.kind == "sql"
    with pytest.raises(RunnerFailure, match="REQSIZE") as caught:
        talk.verify(
            talk.prepare(
                scan, scan.phases[0], "SELECT REQTYPE, REQFILE, BROWSER, REQTS, 'x', REQUSER, GEOID FROM hits LIMIT 1"
            )
        )
    assert caught.value.kind == "verify"
    with pytest.raises(RunnerFailure) as caught:
        talk.open(path=str(tmp_path / "no" / "such" / "folder"), statement="prepared")
    assert caught.value.kind == "connect"


def test_a_delimited_file(start: Callable[..., Talk], tmp_path: Path) -> None:
    class File:
        name = "file"

        def supports(self, logical_type: str) -> str:
            return ""

    for name in ("scan", "types"):
        for table_name, table in workloads.load_workload(name).tables.items():
            generators.write_delimited(tmp_path / f"{table_name}.tbl", table)
    talk = start("file")
    talk.open(path=str(tmp_path), delimiter="|")
    check_every_phase(talk, File(), ("scan", "types"))
    keyed = workloads.load_workload("keyed")
    with pytest.raises(RunnerFailure, match="whole tables") as caught:
        talk.prepare(keyed, keyed.phase("read"))
    assert caught.value.kind == "unsupported"


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    engine = Postgresql()
    if not engine.availability().ok:
        pytest.skip(engine.availability().reason)
    folder = tmp_path_factory.mktemp("pg")
    for parent in (folder, *folder.parents[:3]):
        parent.chmod(0o755)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    instance = engine.instance("server", "none", Place(folder / "d", folder / "s", (max(os.sched_getaffinity(0)),)))
    (folder / "d").mkdir()
    instance.start()
    try:
        for name in ("scan", "keyed", "tab1", "types"):
            workload, _ = workloads.for_engine(workloads.load_workload(name), engine.supports)
            instance.load(workload.tables)
        yield instance.options(AccessPath.of({"engine": "postgresql"}))
    finally:
        instance.stop()


@pytest.mark.parametrize(
    "coordinates",
    [
        "prepared whole text unix tuned",
        "prepared whole binary tcp tuned",
        "bound cursor:1000 text tcp tuned",
        "bound cursor:1000 binary unix tuned",
        "text whole text unix tuned",
        "prepared whole text unix shipped",
    ],
)
def test_psycopg(start: Callable[..., Talk], postgresql: dict[str, Any], coordinates: str) -> None:
    statement, result, form, transport, profile = coordinates.split()
    talk = start("psycopg")
    reply = talk.open(
        **postgresql, statement=statement, result=result, format=form, transport=transport, tls="off", profile=profile
    )
    assert reply.server_pid
    assert Path(f"/proc/{reply.server_pid}").exists()
    check_every_phase(talk, Postgresql())
    facts = talk.facts()
    assert facts.driver_version == ADAPTERS["psycopg"].versions[0]
    assert facts.settings["autocommit"] == ("on" if profile == "tuned" else "off")
    assert facts.settings["tls"] == "off"
    assert facts.settings["TimeZone"] == "UTC"


def test_psycopg_streams_in_constant_memory(start: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    scan = workloads.load_workload("scan")
    peaks_kb = []
    for times in (10, 60):
        talk = start("psycopg")
        talk.open(**postgresql, statement="bound", result="cursor:1000", format="text", transport="unix")
        sql = f"SELECT hits.* FROM hits, generate_series(1, {times})"
        sample = talk.sample(talk.prepare(scan, scan.phases[0], sql), operations=1, lead_in_ns=0)
        assert sample.rows == 6071 * times
        status = Path(f"/proc/{talk.runner.pid}/status").read_text()
        peaks_kb.append(int(status.partition("VmHWM:")[2].split()[0]))
    assert peaks_kb[1] - peaks_kb[0] < 2048


def test_psycopg_errors_are_typed(start: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    talk = start("psycopg")
    options = {**postgresql, "statement": "prepared", "result": "whole", "format": "text", "transport": "tcp"}
    with pytest.raises(RunnerFailure) as caught:
        talk.open(**(options | {"password": "wrong"}))
    assert caught.value.kind == "connect"
    talk.open(**options)
    scan = workloads.load_workload("scan")
    with pytest.raises(RunnerFailure) as caught:
        talk.verify(talk.prepare(scan, scan.phases[0], "SELECT * FROM nowhere"))
    assert (caught.value.kind, caught.value.code) == ("sql", "42P01")
