"""Records without SQL: what is stored comes back, keys in their order, transactions as they ended, errors told."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine import c_compiler
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, LogicalType
from rowpath.planning.availability import ineligible_reason
from rowpath.runners import protocol
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import codec
from rowpath.workloads.generators import rows
from rowpath.workloads.workload_file import for_engine, load_workload
from tests.runners.c.talk import ADAPTERS, Talk, started

c: Any = toolchain("c")
DRIVERS = {"berkeleydb": "berkeleydb", "lmdb": "lmdb", "gnucobol": "cobol", "file-per-record": "file-per-record"}
PATHS = [
    ("berkeleydb", {"durability": "none"}),
    ("berkeleydb", {"durability": "full"}),
    ("berkeleydb", {"durability": "none", "fetch": "block:100"}),
    ("lmdb", {"durability": "none"}),
    ("lmdb", {"durability": "full", "read_transaction": "new"}),
]
UNORDERED = ("file-per-record", {"durability": "none"})
TRANSACTIONAL = [("berkeleydb", {"durability": "full"}), ("lmdb", {"durability": "none"})]
NUMBER = Column("number", "integer")
Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def instances() -> Iterator[dict[str, Instance]]:
    """The engines whose libraries are here, empty."""
    found = {name: ENGINES[engine].availability() for name, engine in DRIVERS.items()}
    with contextlib.ExitStack() as open_ones:
        yield {name: open_ones.enter_context(started(DRIVERS[name])) for name in found if found[name].ok}


def talk_to(driver: str, instances: dict[str, Instance], **coordinates: str) -> Talk:
    if driver not in instances:
        pytest.skip(ENGINES[DRIVERS[driver]].availability().reason)
    return Talk(driver, instances[driver], **coordinates)


class Records:
    """One table of a connected runner, its rows given here."""

    def __init__(self, talk: Talk, folder: Path, columns: tuple[Column, ...], key: tuple[str, ...] = ()) -> None:
        self.talk, self.folder, self.columns, self.key = talk, folder, columns, key
        self.name = "mydata2_given" if "KEY1" in key else "given"
        self.run(f"CREATE {self.name} {'KEYED' if key else 'NUMBERED'}")

    def run(self, *words: str) -> None:
        self.talk.ask(protocol.RunStatements, protocol.RunReply, statements=list(words), ignore_errors=False)

    def prepare(self, access: str, given: Rows | None = None, **changed: Any) -> None:
        whole = self.columns
        taken = [each for each in whole if access != "read" or each.name in self.key]
        fields: dict[str, Any] = {"table_columns": whole, "key_columns": list(self.key)}
        fields |= {"columns": [] if access == "insert" else whole, "parameter_columns": taken if given else []}
        kind = "execute" if access == "insert" else "query"
        fields |= {"kind": kind, "sql": "", "table": self.name, "access": access} | changed
        spec = protocol.PhaseSpec(name=access, **fields)
        parameters = None
        if given:
            file = self.folder / f"{access}.rows"
            columns = tuple(each for each in self.columns if access != "read" or each.name in self.key)
            count = codec.write_rows(file, given, columns)
            parameters = protocol.ParameterSlice(file=str(file), first=0, count=count)
        self.talk.ask(protocol.Prepare, protocol.PrepareReply, phase=spec, parameters=parameters)

    def insert(self, given: Rows) -> protocol.SampleReply:
        self.prepare("insert", given)
        return self.talk.sample("insert", operations=len(given), first=0)

    def scan(self, max_rows: int = 1000) -> str:
        self.prepare("scan")
        asked = {"phase": "scan", "first": 0, "count": 1, "max_rows": max_rows}
        reply: protocol.VerifyReply = self.talk.ask(protocol.Verify, protocol.VerifyReply, **asked)
        return reply.digest


@pytest.mark.parametrize(("driver", "coordinates"), [*PATHS, UNORDERED])
def test_every_type(driver: str, coordinates: dict[str, str], instances: dict[str, Instance], tmp_path: Path) -> None:
    """NULL, empty texts, the least and greatest values, with a key and without."""
    with talk_to(driver, instances, **coordinates) as talk:
        table = for_engine(load_workload("types"), talk.engine.supports)[0].tables["types"]
        without = {"interval", "array", "timetz", "bits", "struct", "map", "rows", "any", "opaque"}
        assert without == set(get_args(LogicalType)) - {column.type for column in table.columns}
        for key in (table.primary_key, ()):
            records = Records(talk, tmp_path, table.columns, key)
            stored = records.insert(list(rows(table)))
            assert (stored.operations, stored.failure) == (6, None)
            assert records.scan() == codec.digest(rows(table), table.columns)
            records.run(f"DROP {records.name}")


@pytest.mark.parametrize(("driver", "coordinates"), PATHS)
def test_the_keys_order_is_the_values(
    driver: str, coordinates: dict[str, str], instances: dict[str, Instance], tmp_path: Path
) -> None:
    for column, values in (
        (NUMBER, [5, -1, 0, 2**31 - 1, -(2**31), 256]),
        (Column("number", "integer", bits=64), [2**40, -(2**63), 2**63 - 1, 0]),
        (Column("text", "char", length=3), ["b", "ab", "a", "abc"]),
    ):
        with talk_to(driver, instances, **coordinates) as talk:
            records = Records(talk, tmp_path, (column,), (column.name,))
            assert records.insert([(value,) for value in values]).failure is None
            least = min(values)
            assert records.scan(max_rows=1) == codec.digest([(least,)], (column,))
            again = records.insert([(least,)])
            assert again.failed == 1
            assert again.failure is not None
            assert (again.failure.kind, "xist" in again.failure.text) == ("sql", True)


@pytest.mark.parametrize(("driver", "coordinates"), TRANSACTIONAL)
def test_a_transaction_ends_as_it_is_told(
    driver: str, coordinates: dict[str, str], instances: dict[str, Instance], tmp_path: Path
) -> None:
    with talk_to(driver, instances, **coordinates) as talk:
        records = Records(talk, tmp_path, (NUMBER,))
        for word, left in (("ROLLBACK", []), ("COMMIT", [(1,), (2,)])):
            records.run("BEGIN")
            assert records.insert([(1,), (2,)]).operations == 2
            assert records.scan() == codec.digest([(1,), (2,)], (NUMBER,)), "it sees its own records"
            records.run(word)
            assert records.scan() == codec.digest(left, (NUMBER,))
        with pytest.raises(RunnerFailure, match="no transaction"):
            records.run("COMMIT")


@pytest.mark.parametrize("driver", ["berkeleydb", "file-per-record"])
def test_plain_files_have_no_transactions(driver: str, instances: dict[str, Instance], tmp_path: Path) -> None:
    with talk_to(driver, instances, durability="none") as talk:
        records = Records(talk, tmp_path, (NUMBER,))
        with pytest.raises(RunnerFailure, match="no transactions"):
            records.run("BEGIN")
        with pytest.raises(RunnerFailure, match="no transactions"):
            records.prepare("insert", [(1,)], kind="load", way="transaction")


@pytest.mark.parametrize(("driver", "coordinates"), [*PATHS, UNORDERED])
def test_a_long_record_grows_the_block(
    driver: str, coordinates: dict[str, str], instances: dict[str, Instance], tmp_path: Path
) -> None:
    columns = (NUMBER, Column("text", "text"))
    given: Rows = [(1, "a"), (2, "b" * 100_000), (3, "")]
    with talk_to(driver, instances, **coordinates) as talk:
        records = Records(talk, tmp_path, columns)
        assert records.insert(given).failure is None
        assert records.scan() == codec.digest(given, columns)


@pytest.mark.parametrize("driver", ["berkeleydb", "lmdb"])
def test_what_no_record_holds_is_told(driver: str, instances: dict[str, Instance], tmp_path: Path) -> None:
    with talk_to(driver, instances) as talk:
        records = Records(talk, tmp_path, (Column("text", "char", length=3), Column("small", "integer", bits=16)))
        for row, words in ((("abcd", 1), "longer than 3 bytes"), (("a", 40_000), "does not fit 2 bytes")):
            stored = records.insert([row])
            assert stored.failed == 1
            assert stored.failure is not None
            assert words in stored.failure.text
        with pytest.raises(RunnerFailure, match="not queries"):
            records.prepare("")
        with pytest.raises(RunnerFailure, match="not read by its primary key"):
            records.prepare("read")
        with pytest.raises(RunnerFailure, match="no word of this adapter"):
            records.run("SELECT 1")
        interval = (Column("many", "interval"),)
        with pytest.raises(RunnerFailure, match="many: C has no type of its own"):
            records.prepare("scan", table_columns=interval, columns=interval)


def test_what_is_no_database_is_told(instances: dict[str, Instance], tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(b"no database" * 1000)
    (tmp_path / "given.db").write_bytes(b"no database" * 1000)
    with talk_to("lmdb", instances) as talk, pytest.raises(RunnerFailure, match="not an LMDB file") as told:
        talk.open(talk.options | {"path": str(tmp_path)})
    assert (told.value.kind, told.value.code) == ("connect", "-30793")
    with talk_to("berkeleydb", instances) as talk:
        records = Records(talk, tmp_path, (NUMBER,))
        talk.open(talk.options | {"path": str(tmp_path)})
        with pytest.raises(RunnerFailure, match="given: ") as told:
            records.scan()
        assert told.value.kind == "sql"
        talk.open(talk.options | {"path": str(tmp_path / "nowhere")})
        with pytest.raises(RunnerFailure, match="given: No such file"):
            records.scan()


def test_a_file_is_found_by_its_records_key(instances: dict[str, Instance], tmp_path: Path) -> None:
    with talk_to("file-per-record", instances) as talk:
        records = Records(talk, tmp_path, (NUMBER,), ("number",))
        stored = records.insert([(5,), (-1,), (5,)])
        assert stored.failure is not None
        assert (stored.operations, stored.failed, stored.failure.kind) == (2, 1, "sql")
        records.prepare("read", [(-1,), (7,)])
        read = talk.sample("read", operations=2, first=0)
        assert (read.rows, read.failed) == (1, 0), "there is no 7"
        records.run(f"DROP {records.name}")
        with pytest.raises(RunnerFailure, match="given: No such file"):
            records.scan()
        long = (Column("text", "char", length=200),)
        with pytest.raises(RunnerFailure, match="a key of 200 bytes is too long"):
            Records(talk, tmp_path, long, ("text",)).prepare("insert", [("a",)])
        with pytest.raises(RunnerFailure, match="nowhere: No such file"):
            talk.open(talk.options | {"path": str(tmp_path / "nowhere")})


def test_file_status_is_told(instances: dict[str, Instance], tmp_path: Path) -> None:
    columns = load_workload("keyed").tables["mydata2"].columns
    with talk_to("gnucobol", instances) as talk:
        records = Records(talk, tmp_path, columns, ("KEY1",))
        stored = records.insert([("a", "first"), ("b", "second"), ("a", "third")])
        assert stored.failure is not None
        assert (stored.operations, stored.failure.kind, stored.failure.code) == (2, "sql", "22")
        records.prepare("read", [("b",), ("z",)])
        read = talk.sample("read", operations=2, first=0)
        assert (read.rows, read.failed) == (1, 0), "there is no z"
        assert records.scan() == codec.digest([("a", "first"), ("b", "second")], columns)
        records.run(f"DROP {records.name}")
        with pytest.raises(RunnerFailure, match=r"there is no such file \(file status 35\)"):
            records.scan()


def test_a_sequential_file_has_no_key() -> None:
    adapter = ADAPTERS["gnucobol"]
    keyed, scan = load_workload("keyed").phase("read"), load_workload("scan").phase("read")
    for organization, reason in (("indexed", ""), ("sequential", "a SEQUENTIAL file has no key")):
        path = AccessPath.of({"engine": "cobol", "organization": organization})
        assert ineligible_reason(adapter, path, "keyed.read", keyed).endswith(reason)
        assert bool(ineligible_reason(adapter, path, "keyed.read", keyed)) == bool(reason)
        assert not ineligible_reason(adapter, path, "scan.read", scan)
        assert "written only for scan.read" in ineligible_reason(adapter, path, "tab1.select", keyed)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert c_compiler.has_header("no-such-header-anywhere.h") is False
    monkeypatch.setattr(c, "has_header", lambda name, *_: name not in ("db.h", "lmdb.h"))
    for driver in ("berkeleydb", "lmdb"):
        if "library" in (lacking := c.availability(ADAPTERS[driver], "system").reason):
            pytest.skip(lacking)
    for driver, package in (("berkeleydb", "libdb5.3-dev"), ("lmdb", "liblmdb-dev")):
        here = c.availability(ADAPTERS[driver], "system")
        assert (here.ok, here.remedy) == (False, f"apt-get install {package}")
        assert "header" in here.reason
        assert not ENGINES[DRIVERS[driver]].availability().ok
    monkeypatch.setenv("PATH", "")
    assert c.missing_program(ADAPTERS["gnucobol"]) == ("no COBOL compiler (cobc)", "apt-get install gnucobol3")
    assert c.missing_program(ADAPTERS["lmdb"]) is None
