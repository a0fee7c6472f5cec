"""Every adapter of the Python runner against the controller's expected rows, on real engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.postgresql import Postgresql
from rowpath.engines.sqlite import Sqlite
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.model.workload import Phase, result_columns
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import generators, workload_file
from rowpath.workloads.expected import Expected
from tests.runners.python.engines import postgresql_fixture, running, sqlite_file_fixture, sqlite_loaded_fixture  # noqa: F401
from tests.runners.python.talk import ADAPTERS, Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401

EVERY_WORKLOAD = ("scan", "keyed", "tab1", "aggregate", "connect", "types")  # where conformance does not go
SOME_WORKLOADS = ("keyed", "connect")  # stamps and times of a path whose rows conformance checks
VERIFIED = 20  # operations
VERIFIED_SCANS = 2  # each is the whole table again


def check_every_phase(talk: Talk, engine: Any, names: tuple[str, ...] = EVERY_WORKLOAD) -> None:
    """Every phase of the workloads: touch of a cold and a steady block, digest of reads, digest after writes."""
    for name in names:
        whole = workload_file.load_workload(name)
        workload, _ = workload_file.for_engine(whole, engine.supports)
        expected = expected_of(name, engine)
        for phase in workload.phases:
            full = talk.prepare(workload, phase, workload_file.sql_for(workload, phase, engine))
            if phase.writes:
                for statement in workload_file.reset_for(workload, phase, engine):
                    talk.run(statement, ignore_errors=statement.startswith("DROP"))
                operations = min(phase.operations, 200)
                sample = talk.sample(full, operations=operations, lead_in_ns=0, first=0)
                assert (sample.operations, sample.failed, sample.failure) == (operations, 0, None)
                after = Phase(
                    name="after",
                    kind="query",
                    sql=workload_file.whole_sql(phase.after, workload.tables[phase.after]),
                    table=phase.after,
                )
                assert talk.verify(talk.prepare(workload, after)).digest == expected.after_digest(phase, operations), (
                    full
                )
                continue
            cold = talk.sample(full, operations=3, lead_in_ns=0, first=0)
            count = VERIFIED_SCANS if phase.scan else VERIFIED
            verified = talk.verify(full, 2, count)
            assert verified.digest == expected.verify_digest(phase, 2, count, 100_000), full
            assert verified.rows == expected.rows(phase, 2, count)
            assert int(verified.touch, 16) in (expected.touches(phase).expected(2, count) or ())
            for sample in (cold, talk.sample(full), talk.sample(full, first=990)):
                assert sample.failure is None
                assert sample.rows == expected.rows(phase, sample.first, sample.operations)
                assert sample.values == sample.rows * len(result_columns(workload, phase))
                assert int(sample.touch, 16) in (
                    expected.touches(phase).expected(sample.first, sample.operations) or ()
                )
                assert bool(sample.first_row_ns) == phase.stamps
                assert sample.execute_ns <= sample.first_row_ns
                assert bool(sample.connect_ns) == (phase.kind == "connect")
            assert len(verified.delivered) == len(result_columns(workload, phase))


_EXPECTED: dict[tuple[str, str], Expected] = {}


def expected_of(name: str, engine: Any) -> Expected:
    """The expected rows of a workload on an engine, made once."""
    whole = workload_file.load_workload(name)
    return _EXPECTED.setdefault((name, engine.name), Expected(whole, engine.supports))


def workloads_of(profile: str) -> tuple[str, ...]:
    """Conformance takes every path as it is tuned; as it is shipped, it is checked here alone."""
    return EVERY_WORKLOAD if profile == "shipped" else SOME_WORKLOADS


@pytest.mark.parametrize(
    ("statement", "durability", "profile"),
    [
        ("prepared", "full", "tuned"),
        ("bound", "none", "tuned"),
        ("text", "none", "tuned"),
        ("prepared", "none", "shipped"),
    ],
)
def test_sqlite(kept: Callable[..., Talk], sqlite_file: Path, statement: str, durability: str, profile: str) -> None:
    talk = kept("sqlite3")
    talk.open(path=str(sqlite_file), statement=statement, durability=durability, profile=profile)
    check_every_phase(talk, Sqlite(), workloads_of(profile))
    facts = talk.facts()
    assert facts.settings["synchronous"] == ("FULL" if durability == "full" else "OFF")
    assert facts.settings["autocommit"] == ("off" if profile == "shipped" else "on")
    assert facts.settings["gc"]


def test_sqlite_says_what_it_converted_and_what_failed(
    kept: Callable[..., Talk], sqlite_file: Path, tmp_path: Path
) -> None:
    talk = kept("sqlite3")
    talk.open(path=str(sqlite_file), statement="prepared", durability="none")
    scan = workload_file.load_workload("scan")
    name = talk.prepare(scan, scan.phases[0])
    assert talk.verify(name).converted == ["REQTS"]
    with pytest.raises(RunnerFailure, match="no such table") as caught:
        talk.verify(talk.prepare(scan, scan.phases[0], "SELECT * FROM nowhere"))
    assert (caught.value.kind, caught.value.code) == ("sql", "SQLITE_ERROR")
    failing = talk.sample(name)
    assert (failing.operations, failing.failed, failing.rows) == (0, 100, 0)
    assert failing.failure is not None and failing.failure.kind == "sql"
    other = "SELECT REQTYPE, REQFILE, BROWSER, REQTS, 'x', REQUSER, GEOID FROM hits LIMIT 1"
    column = talk.verify(talk.prepare(scan, scan.phases[0], other)).columns[4]
    assert (column.foreign, "'x'" in column.reason) == (1, True)
    with pytest.raises(RunnerFailure) as caught:
        talk.open(path=str(tmp_path / "no" / "such" / "folder"), statement="prepared")
    assert caught.value.kind == "connect"


def test_no_more_rows_are_hashed_than_asked_for(kept: Callable[..., Talk], sqlite_file: Path) -> None:
    """In the middle of the last operation's rows; they are counted and touched all the same."""
    talk = kept("sqlite3")
    talk.open(path=str(sqlite_file), statement="prepared", durability="none")
    scan = workload_file.load_workload("scan")
    phase, expected = scan.phases[0], expected_of("scan", Sqlite())
    verified = talk.verify(talk.prepare(scan, phase), 0, 2, max_rows=10_000)
    assert verified.digest == expected.verify_digest(phase, 0, 2, 10_000)
    assert verified.digest != expected.verify_digest(phase, 0, 2, 100_000)
    assert verified.rows == expected.rows(phase, 0, 2)
    assert int(verified.touch, 16) in (expected.touches(phase).expected(0, 2) or ())


def test_a_delimited_file(kept: Callable[..., Talk], tmp_path: Path) -> None:
    class File:
        name = "file"

        def supports(self, logical_type: str) -> str:
            return ""

    for table_name, table in workload_file.load_workload("scan").tables.items():
        generators.write_delimited(tmp_path / f"{table_name}.tbl", table)
    talk = kept("file")
    talk.open(path=str(tmp_path), delimiter="|")
    check_every_phase(talk, File(), ("scan",))
    keyed = workload_file.load_workload("keyed")
    with pytest.raises(RunnerFailure, match="whole tables") as caught:
        talk.prepare(keyed, keyed.phase("read"))
    assert caught.value.kind == "unsupported"


# Every two values of a driver that shape its stamps meet: how it executes, and how it takes rows.
@pytest.mark.parametrize(
    "coordinates",
    [
        "psycopg prepared row whole text unix tuned",
        "psycopg prepared block:100 whole binary tcp tuned",
        "psycopg bound row cursor:1000 text tcp tuned",
        "psycopg text block:100 whole text unix tuned",
        "psycopg prepared row whole text unix shipped",
        "psycopg2 text row whole text unix tuned",
        "psycopg2 text row cursor:1000 text tcp tuned",
        "psycopg2 text row whole text tcp shipped",
        "asyncpg prepared row whole binary unix tuned",
        "asyncpg bound row cursor:1000 binary tcp tuned",
        "asyncpg text row whole binary tcp tuned",
        "asyncpg prepared row whole binary unix shipped",
        "psqlpy prepared row whole binary unix tuned",
        "psqlpy bound row whole binary tcp tuned",
        "psqlpy prepared row whole binary tcp shipped",
    ],
)
def test_postgresql(kept: Callable[..., Talk], postgresql: dict[str, Any], coordinates: str) -> None:
    driver, *values = coordinates.split()
    chosen = dict(zip(("statement", "fetch", "result", "format", "transport", "profile"), values, strict=True))
    assert all(
        value in ADAPTERS[driver].coordinates[key]
        for key, value in chosen.items()
        if key in ADAPTERS[driver].coordinates
    )
    talk = kept(driver)
    reply = talk.open(**postgresql, **chosen, tls="off")
    assert reply.server_pid
    assert Path(f"/proc/{reply.server_pid}").exists()
    check_every_phase(talk, Postgresql(), workloads_of(chosen["profile"]))
    facts = talk.facts()
    assert facts.driver_version == ADAPTERS[driver].versions[0]
    implicit = chosen["profile"] == "shipped" and driver not in ("asyncpg", "psqlpy")
    assert facts.settings["autocommit"] == ("off" if implicit else "on")
    assert facts.settings["tls"] == "off"
    assert facts.settings["TimeZone"] == "UTC"


# Bytes sent and round trips of one read by key, least to most.
@pytest.mark.parametrize(
    ("driver", "round_trips"),
    [("psycopg", {"prepared": 1, "bound": 1, "text": 1}), ("asyncpg", {"prepared": 1, "bound": 2, "text": 2})],
)
def test_each_statement_mode_is_what_it_says(
    kept: Callable[..., Talk], postgresql: dict[str, Any], driver: str, round_trips: dict[str, int]
) -> None:
    keyed = workload_file.load_workload("keyed")
    sent = {}
    proxy = Proxy(int(postgresql["port"]))
    try:
        talk = kept(driver)
        for statement, trips in round_trips.items():
            talk.open(**(postgresql | {"port": proxy.port}), statement=statement, transport="tcp", result="whole")
            name = talk.prepare(keyed, keyed.phase("read"))
            talk.sample(name, operations=20, lead_in_ns=0, first=0)
            proxy.watch("FROM mydata2 WHERE KEY1 =")
            proxy.reset()
            assert talk.sample(name, operations=100, lead_in_ns=0).failed == 0
            counters = proxy.read()
            assert counters.round_trips == 100 * trips
            assert counters.texts_sent == (0 if statement == "prepared" else 100 * trips)
            sent[statement] = counters.bytes_sent
    finally:
        proxy.stop()
    assert sent["prepared"] < sent["bound"]
    assert sent["prepared"] < sent["text"] != sent["bound"]


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "asyncpg"])
def test_a_cursor_streams_in_constant_memory(
    start: Callable[..., Talk], postgresql: dict[str, Any], driver: str
) -> None:
    scan = workload_file.load_workload("scan")
    peaks_kb = []
    for times in (5, 25):
        talk = start(driver)
        talk.open(**postgresql, statement="bound", result="cursor:1000", format="text", transport="unix")
        sql = f"SELECT hits.* FROM hits, generate_series(1, {times})"
        sample = talk.sample(talk.prepare(scan, scan.phases[0], sql), operations=1, lead_in_ns=0)
        assert sample.rows == 6071 * times
        status = Path(f"/proc/{talk.runner.pid}/status").read_text()
        peaks_kb.append(int(status.partition("VmHWM:")[2].split()[0]))
    assert peaks_kb[1] - peaks_kb[0] < 2048


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "asyncpg", "psqlpy"])
def test_errors_are_typed(kept: Callable[..., Talk], postgresql: dict[str, Any], driver: str) -> None:
    talk = kept(driver)
    options = {**postgresql, "statement": "bound", "result": "whole", "format": "text", "transport": "tcp"}
    with pytest.raises(RunnerFailure) as caught:
        talk.open(**(options | {"password": "wrong"}))
    assert caught.value.kind == "connect"
    assert "wrong" not in caught.value.text
    with pytest.raises(RunnerFailure, match="unix socket") as caught:
        talk.open(**(options | {"transport": "unix", "tls": "on"}))
    assert caught.value.kind == "unsupported"
    talk.open(**options)
    scan = workload_file.load_workload("scan")
    with pytest.raises(RunnerFailure) as caught:
        talk.verify(talk.prepare(scan, scan.phases[0], "SELECT * FROM nowhere"))
    code = "42P01" if driver != "psqlpy" else "DatabaseError"  # it has no other
    assert (caught.value.kind, caught.value.code) == ("sql", code)
    failing = talk.sample(f"{scan.name}.{scan.phases[0].name}", duration_ns=10_000_000_000)
    assert (failing.operations, failing.failed) == (0, 100)
    assert failing.failure is not None and failing.failure.code == code


@pytest.fixture(name="with_tls", scope="module")
def with_tls_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    engine = Postgresql()
    version = engine.tls_version()
    there = engine.availability_of(version, "on")
    if not there.ok:
        pytest.skip(there.reason)
    yield from running(tmp_path_factory.mktemp("tls"), (), version)


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "asyncpg", "psqlpy"])
def test_tls(kept: Callable[..., Talk], with_tls: dict[str, Any], driver: str) -> None:
    by_itself = "off" if driver == "psqlpy" else "on"
    talk = kept(driver)
    for tls, negotiated in (("on", "on"), ("off", "off"), ("default", by_itself)):
        talk.open(**with_tls, statement="bound", transport="tcp", tls=tls)
        assert talk.facts().settings["tls"] == negotiated, tls
