"""The Python drivers of MariaDB and MySQL against the expected rows on a real server; what they say in trouble."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import CountsStatements, Instance, Place
from rowpath.execution.worker import Worker
from rowpath.model.path import AccessPath
from rowpath.model.workload import Parameters, Phase
from rowpath.planning.plan import PlannedPath
from rowpath.planning.selection import lattice
from rowpath.runners.manifest import adapter_of, source_file
from rowpath.runners.process import RunnerFailure
from rowpath.tape.proxy import RecordingProxy
from rowpath.workloads import workload_file
from tests.engines.life import reaching
from tests.runners.python.talk import ADAPTERS, Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401
from tests.runners.python.test_adapters import check_every_phase, workloads_of
from tests.waiting import nobody_listens

LOADED = ("scan", "keyed", "tab1", "types")
PATH = AccessPath.of({"engine": "mariadb", "deployment": "server"})


@pytest.fixture(name="mariadb", scope="module")
def mariadb_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    engine = ENGINES["mariadb"]
    if not engine.availability().ok:
        pytest.skip(engine.availability().reason)
    folder = tmp_path_factory.mktemp("mariadb")
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    place = Place(folder, folder, (max(os.sched_getaffinity(0)),), storage="innodb")
    instance = engine.instance("server", "none", place)
    instance.start()
    try:
        tables = {}
        for name in LOADED:
            workload, _ = workload_file.for_engine(workload_file.load_workload(name), engine.supports)
            tables |= {table: one for table, one in workload.tables.items() if one.rows}
        instance.load(tables)
        yield instance
    finally:
        instance.stop()


@pytest.mark.parametrize(
    ("driver", "chosen"),
    [
        ("pymysql", {"statement": "bound", "transport": "unix"}),
        ("pymysql", {"statement": "text", "result": "single-row", "fetch": "block:100", "transport": "tcp"}),
        ("pymysql", {"statement": "bound", "profile": "shipped", "transport": "tcp"}),
        ("mysqlclient", {"statement": "bound", "transport": "unix"}),
        ("mysqlclient", {"statement": "text", "result": "single-row", "transport": "tcp", "profile": "shipped"}),
        ("mariadb", {"statement": "bound", "format": "text", "transport": "unix"}),
        ("mariadb", {"statement": "bound", "format": "binary", "result": "single-row", "transport": "tcp"}),
        ("mysql-connector", {"statement": "prepared", "implementation": "c", "transport": "unix"}),
        ("mysql-connector", {"statement": "bound", "implementation": "pure", "result": "whole", "transport": "tcp"}),
        ("mysql-connector", {"statement": "prepared", "implementation": "pure", "transport": "unix"}),
        ("mysql-connector", {"statement": "bound", "implementation": "c", "profile": "shipped", "transport": "tcp"}),
    ],
)
def test_every_phase(kept: Callable[..., Talk], mariadb: Instance, driver: str, chosen: dict[str, str]) -> None:
    talk = kept(driver)
    talk.open(**mariadb.options(PATH), **chosen)
    check_every_phase(talk, ENGINES["mariadb"], workloads_of(chosen.get("profile", "tuned")))
    facts = talk.facts()
    assert facts.settings["autocommit"] == ("off" if chosen.get("profile") == "shipped" else "on")
    assert facts.settings["tls"] == "off"
    assert "MariaDB" in facts.engine_version
    assert facts.driver_version


@pytest.mark.parametrize(
    ("driver", "chosen", "prepared", "executed"),
    [
        ("pymysql", {"statement": "bound"}, 0, 0),
        ("mysqlclient", {"statement": "bound"}, 0, 0),
        ("mariadb", {"statement": "bound", "format": "text"}, 0, 0),
        ("mariadb", {"statement": "bound", "format": "binary"}, 100, 100),
        ("mysql-connector", {"statement": "bound", "implementation": "c"}, 0, 0),
        ("mysql-connector", {"statement": "prepared", "implementation": "c"}, 1, 100),
        ("mysql-connector", {"statement": "prepared", "implementation": "pure"}, 1, 100),
    ],
)
def test_the_server_counts_what_the_statement_mode_means(
    kept: Callable[..., Talk], mariadb: Instance, driver: str, chosen: dict[str, str], prepared: int, executed: int
) -> None:
    assert isinstance(mariadb, CountsStatements)
    talk = kept(driver)
    talk.open(**mariadb.options(PATH), **chosen, transport="unix")
    workload = workload_file.load_workload("keyed")
    before = mariadb.statement_counts()
    sample = talk.sample(talk.prepare(workload, workload.phase("read")), operations=100, lead_in_ns=0, first=0)
    after = mariadb.statement_counts()
    assert (sample.operations, sample.failure) == (100, None)
    counted = {name: after[name] - before[name] for name in ("prepare", "execute")}
    assert counted == {"prepare": prepared, "execute": executed}


def test_a_float_that_the_c_extension_would_round_is_refused(kept: Callable[..., Talk], mariadb: Instance) -> None:
    talk = kept("mysql-connector")
    talk.open(**mariadb.options(PATH), statement="prepared", implementation="c", transport="unix")
    workload = workload_file.load_workload("types")
    phase = Phase(
        name="one",
        kind="query",
        sql="SELECT id FROM types WHERE c_float64 = ?",
        table="types",
        columns=workload.tables["types"].columns[:1],
        parameters=Parameters(generator="rows", count=1, columns=("c_float64",), table="types"),
    )
    with pytest.raises(RunnerFailure, match="4 bytes") as refused:
        talk.prepare(workload, phase)
    assert refused.value.kind == "unsupported"


@pytest.mark.parametrize("driver", ["pymysql", "mysqlclient", "mariadb", "mysql-connector"])
@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_a_wrong_password_and_a_missing_server_are_told(
    kept: Callable[..., Talk], mariadb: Instance, driver: str, transport: str
) -> None:
    talk = kept(driver)
    options = mariadb.options(PATH) | {"transport": transport, "statement": "bound"}
    with pytest.raises(RunnerFailure, match="Access denied for user 'rowpath'") as denied:
        talk.open(**options | {"password": "wr0ng-secret"})
    assert (denied.value.kind, denied.value.code) == ("connect", "1045")
    assert "wr0ng-secret" not in str(denied.value)
    with nobody_listens() as port:
        nowhere = {"socket": "/nowhere/mysql.sock", "port": port}
        with pytest.raises(RunnerFailure, match=r"(?i)can't connect|connection refused|errno 2\b") as missing:
            talk.open(**options | nowhere)
    assert missing.value.kind == "connect"
    talk.open(**options)
    talk.run("SELECT 1")


@pytest.mark.parametrize("driver", ["pymysql", "mysqlclient", "mariadb", "mysql-connector"])
def test_a_driver_takes_its_cures_and_refuses_an_unknown_name(
    kept: Callable[..., Talk], mariadb: Instance, driver: str
) -> None:
    talk = kept(driver)
    options = mariadb.options(PATH) | {"transport": "tcp", "statement": "bound"}
    with pytest.raises(RunnerFailure, match="no_such_name") as refused:
        talk.open(**options, driver_settings="no_such_name=1")
    assert refused.value.kind == "unsupported"
    (cure,) = ADAPTERS[driver].cures
    talk.open(**options, driver_settings="\n".join(cure.settings))


def test_a_missing_client_library_is_told_with_its_remedy(start: Callable[..., Talk], tmp_path: Path) -> None:
    (tmp_path / "MySQLdb.py").write_text('raise ImportError("libmariadb.so.3: cannot open shared object file")\n')
    (tmp_path / "adapters").mkdir()
    shutil.copy(source_file(ADAPTERS["mysqlclient"]), tmp_path / "adapters" / "toy.py")
    talk = start("toy", tmp_path)
    with pytest.raises(RunnerFailure, match=r"libmariadb\.so\.3.*apt-get install libmariadb3") as refused:
        talk.open(statement="bound")
    assert refused.value.kind == "unsupported"


def test_oracledb_says_that_nobody_listens(start: Callable[..., Talk]) -> None:
    talk = start("oracledb")
    with nobody_listens() as port, pytest.raises(RunnerFailure, match="refused") as missing:
        talk.open(
            host="127.0.0.1",
            port=port,
            user="u",
            password="s3cret",
            database="X",
            statement="prepared",
        )
    assert missing.value.kind == "connect"
    assert missing.value.code.startswith("DPY-")
    assert "s3cret" not in str(missing.value)


def test_a_path_whose_server_does_not_compress_fails(mariadb: Instance) -> None:
    """A recording proxy takes compression out of the server's greeting, and the driver goes on without it."""
    adapter = adapter_of("python", "mysql-connector")
    wanted = {"engine": ("mariadb",), "compression": ("zlib",), "transport": ("tcp",)}
    (path,) = lattice(adapter, wanted)
    proxy = RecordingProxy("mysql", ("127.0.0.1", int(mariadb.options(path)["port"])))
    proxy.start()
    worker = Worker(PlannedPath(path, adapter, (), "p"), mariadb, log=print, timeout_s=60.0)
    try:
        worker.open()
        assert worker.facts()["settings"]["compression"] == "on"
        worker.disconnect()
        with pytest.raises(RunnerFailure, match=r"compression=zlib was requested, but .* the server reports: off"):
            worker.open(port=proxy.port)
    finally:
        worker.close()
        proxy.stop()
