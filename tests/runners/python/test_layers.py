"""Every layer of the Python runner on real engines: the objects of each operation, and what it sends for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.engines.base import Place
from rowpath.engines.postgresql import Postgresql
from rowpath.engines.sqlite import Sqlite
from rowpath.execution.verification_pass import StatementsSent
from rowpath.model.workload import Phase, Workload
from rowpath.runners.manifest import Layer, load_manifest
from rowpath.runners.process import RunnerFailure
from rowpath.tape.proxy import RecordingProxy
from rowpath.workloads import workload_file
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import reset_for
from tests.engines.insides import database_of
from tests.runners.python.engines import running
from tests.runners.python.talk import Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401

SCALE = 0.1  # at which a search fills its page
COUNT = 20  # operations of each: their objects have every NULL and every empty list that those of forty have
FIRST = 2  # of those that read
ENGINES = {engine.name: engine for engine in (Postgresql(), Sqlite())}
PAGE = Path(__file__).parents[3] / "docs" / "add-a-layer.md"


def films() -> Workload:
    """The films, with as many parameters as are used: what each of thousands must deliver takes seconds to make."""
    whole = workload_file.at_scale(workload_file.load_workload("films"), SCALE)

    def few(phase: Phase) -> Phase:
        assert phase.parameters is not None
        count = min(phase.parameters.count, FIRST + COUNT)
        return msgspec.structs.replace(phase, parameters=msgspec.structs.replace(phase.parameters, count=count))

    return msgspec.structs.replace(whole, phases=tuple(map(few, whole.phases)))


FILMS = films()
EXPECTED = Expected(FILMS)
# Both engines have every type of theirs, so that the same is expected of both.
assert all(workload_file.for_engine(FILMS, engine.supports)[0] == FILMS for engine in ENGINES.values())
ONCE = ("django", "sqlmodel")  # layers that take each class but once in a process
LAYERS = {(layer.name, driver): layer for layer in load_manifest("python").layer for driver in layer.over}
PATHS = [
    (layer.name, driver, engine, technique, profile)
    for layer in load_manifest("python").layer
    for driver, engines in layer.over.items()
    for engine in engines
    for technique in layer.techniques
    for profile in (("tuned",) if layer.kind == "by hand" else ("tuned", "shipped"))
]


def each(paths: list[tuple[str, ...]]) -> pytest.MarkDecorator:
    """All tests of a path before those of the next, so that they share its runner."""
    return pytest.mark.parametrize("path", paths, ids=" ".join, scope="module")


@pytest.fixture(name="options", scope="module")
def options_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """What `open` needs of each engine, which holds the films."""
    folder, sqlite = tmp_path_factory.mktemp("sqlite"), Sqlite()
    instance = sqlite.instance("embedded", "full", Place(folder, folder, (0,)))
    instance.start()
    instance.load(FILMS.tables)
    of_sqlite = {"path": str(database_of(instance)), "durability": "full"}
    for of_server in running(tmp_path_factory.mktemp("pg"), ("films",), scale=SCALE):
        yield {"sqlite": of_sqlite, "postgresql": of_server | {"transport": "tcp"}}


@pytest.fixture(name="begin")
def begin_fixture(start: Callable[..., Talk], kept: Callable[..., Talk]) -> Callable[..., Talk]:
    """What gives the runner of a path: a new one where opening again would make the layer's classes again."""
    return lambda driver, **named: (start if named["layer"] in ONCE else kept)(driver, **named)


def operations(path: tuple[str, ...], *, writes: bool) -> list[Phase]:
    """The phases that the layer has with that technique."""
    layer, driver, _engine, technique, _profile = path
    written = LAYERS[layer, driver].operations
    return [
        phase
        for phase in FILMS.phases
        if phase.writes == writes and phase.access in written.get(technique, (phase.access,))
    ]


def has_add(path: tuple[str, ...]) -> bool:
    return FILMS.phase("add") in operations(path, writes=True)


def opened(begin: Callable[..., Talk], options: dict[str, Any], path: tuple[str, ...]) -> Talk:
    layer, driver, engine, technique, profile = path
    talk = begin(driver, engine=engine, layer=layer, technique=technique, profile=profile)
    talk.engine = ENGINES[engine]
    talk.open(**options, driver=driver, engine=engine, layer=layer, technique=technique, profile=profile)
    return talk


GRAPH = 1 + 2 + 8  # rows
BEGIN_AND_COMMIT = 2
# A statement for each list of objects.
JOINED = {"film": 4, "user": 2, "search": 1, "one": 1, "page": 1}
JOINED |= {"add": 3 + BEGIN_AND_COMMIT, "change": 1, "read-modify-write": 2 + BEGIN_AND_COMMIT}
# And one for each actor's person, author, review's film; what is changed is read before.
AS_MET = JOINED | {"film": 4 + 8 + 20, "user": 2 + 3, "change": 2}
ROW_BY_ROW = AS_MET | {"add": GRAPH + BEGIN_AND_COMMIT}
EACH_BY_ITSELF = ROW_BY_ROW | {"film": AS_MET["film"] + 2}  # directors too
READ = ("film", "user", "search", "one", "page")
IN_TRANSACTION = dict.fromkeys((*READ, "change"), 2)  # BEGIN, and ROLLBACK or COMMIT
# psycopg forgets what it prepared (from the fifth execution on) when a transaction is rolled back: DEALLOCATE ALL.
FORGOTTEN = IN_TRANSACTION | {"film": 2 + 1}
AFTER_EACH = EACH_BY_ITSELF | {"add": 1, "read-modify-write": 1}  # a transaction has the connection to itself
STATEMENTS = {
    ("none", "server"): {"film": 1, "user": 1, "add": 1, "read-modify-write": 1},
    ("none", "lazy"): EACH_BY_ITSELF,
    ("none", "join"): {"film": 1, "user": 1},
    ("tortoise", "none"): JOINED | {"add": GRAPH + BEGIN_AND_COMMIT},  # it has no INSERT of many rows
}
SHIPPED = {
    "sqlalchemy-core": (JOINED | {"add": GRAPH + BEGIN_AND_COMMIT}, IN_TRANSACTION),
    "sqlalchemy-orm": (AS_MET, FORGOTTEN),
    "sqlmodel": (AS_MET, FORGOTTEN),
    "django": (ROW_BY_ROW, {}),
    "peewee": (ROW_BY_ROW, {}),
    "tortoise": (EACH_BY_ITSELF, AFTER_EACH),  # asyncpg's pool resets the connection
}


@each([path for path in PATHS if path[2] == "postgresql"])
def test_statements_are_those_of_the_technique(
    begin: Callable[..., Talk], options: dict[str, dict[str, Any]], path: tuple[str, ...]
) -> None:
    """The first test of a path: what a process does only once would be among them."""
    layer, driver, engine, technique, profile = path
    usual, more = SHIPPED[layer] if profile == "shipped" else (STATEMENTS.get((layer, technique), JOINED), {})
    sent = StatementsSent("postgresql")
    proxy = RecordingProxy("postgresql", ("127.0.0.1", int(options[engine]["port"])), records=sent)
    proxy.start()
    try:
        talk = opened(begin, options[engine] | {"port": proxy.port}, path)
        for phase in (*operations(path, writes=False), *operations(path, writes=True)):
            name = reset(talk, phase)
            types = (driver, technique, phase.name) == ("asyncpg", "server", "add")  # it asks what an array is, once
            for first in range(3):  # also the first: no operation connects
                sent.texts.clear()
                assert talk.sample(name, operations=1, lead_in_ns=0, first=first).failed == 0
                expected = usual[phase.name] + more.get(phase.name, 0)
                assert len(sent.texts) == expected or (types and not first), (phase.name, sent.texts)
        talk.close_connection()
    finally:
        proxy.stop()


@each(PATHS)
def test_objects_are_those_of_the_tables(
    begin: Callable[..., Talk], options: dict[str, dict[str, Any]], path: tuple[str, ...]
) -> None:
    talk = opened(begin, options[path[2]], path)
    for phase in operations(path, writes=False):
        name = talk.prepare(FILMS, phase)
        verified = talk.verify(name, FIRST, COUNT)
        assert verified.rows == EXPECTED.rows(phase, FIRST, COUNT)
        assert verified.digest == EXPECTED.verify_digest(phase, FIRST, COUNT, 100_000), phase.name
        sample = talk.sample(name, operations=COUNT, lead_in_ns=0, first=FIRST)
        assert (sample.failed, sample.failure) == (0, None)
        assert int(sample.touch, 16) in (EXPECTED.touches(phase).expected(FIRST, COUNT) or ())
    talk.close_connection()


@each(PATHS)
def test_tables_hold_what_was_written(
    begin: Callable[..., Talk], options: dict[str, dict[str, Any]], path: tuple[str, ...]
) -> None:
    talk = opened(begin, options[path[2]], path)
    for phase in operations(path, writes=True):
        assert written(talk, phase) == {
            table: EXPECTED.after_digest(phase, COUNT, table) for table in (phase.after, *phase.also_after)
        }, phase.name
    talk.close_connection()


def written(talk: Talk, phase: Phase) -> dict[str, str]:
    """The digests of the tables after the phase's operations, none of which may fail."""
    name = reset(talk, phase)
    sample = talk.sample(name, operations=COUNT, lead_in_ns=0, first=0)
    assert (sample.failed, sample.failure) == (0, None), phase.name
    return {
        table: talk.digest_after(FILMS, msgspec.structs.replace(phase, after=table), talk.folder)
        for table in (phase.after, *phase.also_after)
    }


@each([path for path in PATHS if has_add(path)])
def test_a_graph_that_fails_half_way_leaves_nothing_behind(
    begin: Callable[..., Talk], options: dict[str, dict[str, Any]], path: tuple[str, ...]
) -> None:
    phase = FILMS.phase("add")
    talk = opened(begin, options[path[2]], path)
    name = reset(talk, phase)
    talk.run("DROP TABLE actors_added")
    sample = talk.sample(name, operations=3, lead_in_ns=0, first=0)
    assert (sample.operations, sample.failed) == (0, 3)
    assert talk.digest_after(FILMS, phase, talk.folder) == EXPECTED.after_digest(phase, 0)
    # No transaction is left that would keep the tables from being made again.
    assert written(talk, phase)[phase.after] == EXPECTED.after_digest(phase, COUNT)
    talk.close_connection()


CHEAT = """from decimal import Decimal

from layers import sqlalchemy_orm as honest


class Adapter(honest.Adapter):
    pass


"""
# By what a layer does wrong: the operations in which it shows, with the tables.
DEFECTS: dict[str, tuple[str, dict[str, set[str]]]] = {
    "forgets a child": (
        "cast_of = honest.cast_of\nhonest.cast_of = lambda person: cast_of(person)[:-1]\n",
        {"add": {"actors_added"}},
    ),
    "loses a cent": (
        "write = honest.Adapter.tuned_read_modify_write\n"
        "Adapter.tuned_read_modify_write = lambda self, key, amount: write(self, key, amount - Decimal('0.01'))\n",
        {"read-modify-write": {"films_changed"}},
    ),
    "commits nothing": (
        "honest.Session.commit = honest.Session.rollback\n",
        {"add": {"films_added", "directors_added", "actors_added"}, "read-modify-write": {"films_changed"}},
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_what_a_layer_writes_wrong_is_found(
    start: Callable[..., Talk], options: dict[str, dict[str, Any]], tmp_path: Path, defect: str
) -> None:
    source, shows = tmp_path / "cheat.py", DEFECTS[defect][1]
    source.write_text(CHEAT + DEFECTS[defect][0])
    where = {"driver": "psycopg", "engine": "postgresql", "layer": "sqlalchemy-orm", "technique": "none"}
    talk = start(source=source, **where)
    talk.open(**options["postgresql"], **where, profile="tuned")
    talk.engine = ENGINES["postgresql"]
    for phase in FILMS.phases:
        if phase.writes:
            wrong = {
                table
                for table, digest in written(talk, phase).items()
                if digest != EXPECTED.after_digest(phase, COUNT, table)
            }
            assert wrong == shows.get(phase.name, set()), phase.name


def reset(talk: Talk, phase: Phase) -> str:
    """The phase prepared, its tables at their start."""
    for statement in reset_for(FILMS, phase, talk.engine):
        talk.run(statement, ignore_errors=statement.startswith("DROP"))
    return talk.prepare(FILMS, phase)


def test_the_layer_of_the_documents(
    start: Callable[..., Talk], options: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    """docs/add-a-layer.md: its entry is one of a manifest, its file hands over what it says and refuses the rest."""
    blocks = dict(re.findall(r"^```(python|toml)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    (entry,) = msgspec.toml.decode(blocks["toml"])["layer"]
    layer = msgspec.convert(entry, Layer)
    source = tmp_path / Path(layer.source).name
    source.write_text(blocks["python"])
    search = FILMS.phase("search")
    for profile in ("shipped", "tuned"):
        talk = start("psycopg", source=source)
        talk.open(**options["postgresql"], driver="psycopg", engine="postgresql", technique="none", profile=profile)
        verified = talk.verify(talk.prepare(FILMS, search), FIRST, COUNT)
        assert verified.digest == EXPECTED.verify_digest(search, FIRST, COUNT, 100_000)
        with pytest.raises(RunnerFailure, match="no operation 'film'") as caught:
            talk.prepare(FILMS, FILMS.phase("film"))
        assert caught.value.kind == "unsupported"
