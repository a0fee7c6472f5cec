"""Every table of known sample databases, by every driver that a probe tries: none is refused, none is called wrong."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.errors import UsageError
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.model.progress import Silent
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.throttled_worker import work_of
from rowpath.probe.command import probe
from rowpath.probe.run import ProbeRun
from rowpath.probe.search import Search
from rowpath.probe.tries import driver_of
from tests.end_to_end import sample_databases
from tests.end_to_end.sample_databases import tables
from tests.engines.insides import psql, rows_of
from tests.engines.life import reaching


class Compared(ProbeRun):
    """Compares what each driver delivers of each table, and times nothing."""

    found: dict[str, dict[str, str]] = {}  # by table: what is said of a driver

    @override
    def go_through(self, search: Search) -> None:
        firsts = {driver_of(planned): planned for planned in reversed(search.candidates)}
        for name, _columns in tables():
            sql = f"SELECT * FROM {name}"
            columns = self.access.describe(sql)
            assert not [column.name for column in columns if column.type == "opaque"], name
            search.work, search.tried = work_of(sql, columns), {}
            search.labels = tuple(column.name for column in columns)
            search.candidates = tuple(firsts.values())
            search.compare()
            told = {one.planned.name: one.left for one in search.tried.values() if one.left}
            told |= {f"tie {v.first.planned.name}": str(v.ties) for v in search.agreement.verdicts if v.ties}
            notes = [note for verdict in search.agreement.verdicts for note in verdict.notes() if "cannot" in note]
            self.found[name] = told | ({"notes": "; ".join(notes)} if notes else {})
        search.tried = {}


def compared(url: str, tmp_path: Path) -> dict[str, dict[str, str]]:
    Compared.found = {}
    options = ProbeOptions(url, query="SELECT 1 AS one", directory=tmp_path / "run")
    with pytest.raises(UsageError, match="no candidate was tried"):  # nothing was timed
        probe(options, Silent(), Compared, say=lambda _: None)
    assert len(Compared.found) == len(list(tables()))
    return {table: told for table, told in Compared.found.items() if told}


def test_on_sqlite(tmp_path: Path) -> None:
    file = tmp_path / "samples.db"
    with sqlite3.connect(file) as connection:
        for statement in sample_databases.statements("sqlite"):
            connection.execute(statement)
    connection.close()
    assert compared(f"sqlite://{file}", tmp_path) == {}


@pytest.fixture(name="server", params=["postgresql", pytest.param("mariadb", marks=pytest.mark.long)])
def server_fixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("samples")
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    instance: Any = ENGINES[request.param].instance(
        "server", "none", Place(folder / "d", folder / "s", cpus.server_cpus())
    )
    instance.start()
    try:
        yield request.param, instance
    finally:
        instance.stop()


def test_on_a_server(server: tuple[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, instance = server
    login = instance.options(AccessPath.of({"transport": "tcp"}))
    if engine == "postgresql":
        psql(instance, ";\n".join(sample_databases.statements(engine)) + ";")
    else:
        for statement in sample_databases.statements(engine):
            rows_of(instance, f"USE {login['database']}; {statement};")
    monkeypatch.setenv("ROWPATH_PROBE_PASSWORD", login["password"])
    url = f"{engine}://{login['user']}@127.0.0.1:{login['port']}/{login['database']}"
    assert compared(url, tmp_path) == {}
