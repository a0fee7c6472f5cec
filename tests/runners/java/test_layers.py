"""Layers above a driver: every operation's objects or what it wrote by their digest, and what is sent for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from rowpath.execution.verification_pass import StatementsSent
from rowpath.machine import jvm, postgresql_programs
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.runners.manifest import Layer
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Facts, FactsReply
from rowpath.tape.proxy import RecordingProxy
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import at_scale, load_workload, reset_for
from tests.runners.java.talk import ADAPTERS, Instances, Talk, java, loaded, path_of

SERVER = ("postgresql", "server")
PGJDBC = ADAPTERS["pgjdbc"]
LAYERS = {layer.name: layer for layer in PGJDBC.layers}
# Of each first words 37 films: more than a page of 20, so that most pages are full ones.
FILMS = at_scale(load_workload("films"), 0.12)
DIGESTED = 40
SENT = 10  # operations whose round trips are counted
LISTS = {"film": 4, "user": 2, "one": 1, "search": 1, "page": 1}  # round trips with one for each list
ONE = dict.fromkeys(LISTS, 1)
# What a layer's documentation begins with; the other layers' takes one for each object, and COMMIT.
SHIPPED = {"spring-jdbc": LISTS, "jdbi": LISTS, "jooq": ONE}
pytestmark = pytest.mark.skipif(
    bool(jvm.compiler_problem()) or not postgresql_programs.availability().ok, reason="no JDK or no PostgreSQL"
)


def paths_of(layer: Layer) -> list[AccessPath]:
    """Each technique of the program by hand, each profile of a layer."""
    if layer.kind == "by hand":
        return [path_of("pgjdbc", layer=layer.name, technique=way) for way in layer.techniques]
    return [path_of("pgjdbc", layer=layer.name, profile=profile) for profile in ("shipped", "tuned")]


def name_of(path: AccessPath) -> str:
    return f"{path.layer} {path.get('profile')} {path.technique}"


PATHS = [path for layer in LAYERS.values() for path in paths_of(layer)]
WRITING = [path for path in PATHS if path.technique != "join"]
# A path's tests follow each other, so that they share its process.
each_path = pytest.mark.parametrize("path", PATHS, ids=name_of, scope="module")
each_writing = pytest.mark.parametrize("path", WRITING, ids=name_of, scope="module")


@pytest.fixture(scope="module")
def truth() -> Expected:
    return Expected(FILMS)


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    with loaded([SERVER], [FILMS]) as started:
        java.build([(PGJDBC, path_of("pgjdbc").version)], PATHS)
        yield started


@contextmanager
def counted(path: AccessPath, instances: Instances) -> Iterator[tuple[Talk, Proxy]]:
    """A runner that goes through the counting proxy."""
    options = instances[SERVER].options(path)
    proxy = Proxy(int(options["port"]))
    talk = Talk(PGJDBC, path, options | {"port": proxy.port})
    try:
        yield talk, proxy
    finally:
        talk.close()
        proxy.stop()


def operations(path: AccessPath, *, writes: bool) -> list[Phase]:
    """The phases that the layer has with that technique."""
    written = LAYERS[path.layer].operations
    return [
        phase
        for phase in FILMS.phases
        if phase.writes == writes and phase.access in written.get(path.technique, (phase.access,))
    ]


def takes(path: AccessPath, operation: str, round_trips: float) -> bool:
    """Whether an operation takes as many round trips as its program is written for."""
    wanted = LISTS if path.get("profile") == "tuned" else SHIPPED.get(path.layer)
    if path.technique != "none":
        wanted = {"queries": LISTS, "server": ONE, "join": ONE}.get(path.technique)
    return round_trips == wanted[operation] if wanted else round_trips > LISTS[operation]


@each_path
def test_objects_are_those_of_the_truth(
    path: AccessPath, truth: Expected, instances: Instances, tmp_path: Path
) -> None:
    with counted(path, instances) as (talk, proxy):
        for phase in operations(path, writes=False):
            operation = phase.name
            talk.prepare_phase(FILMS, phase, "", tmp_path)
            delivered = talk.verify(operation, count=DIGESTED)
            assert delivered.digest == truth.verify_digest(phase, 0, DIGESTED, 200_000), operation
            proxy.reset()
            sampled = talk.sample(operation, operations=SENT)
            assert (sampled.operations, sampled.failed) == (SENT, 0), sampled.failure
            assert int(sampled.touch, 16) in (truth.touches(phase).expected(0, SENT) or ())
            assert takes(path, operation, proxy.read().round_trips / SENT), operation
        assert talk.log == []
        ((_library, version),) = talk.ask(Facts, FactsReply).libraries.items()
        assert any(artefact.endswith(f":{version}") for artefact in LAYERS[path.layer].packages[:1])


def test_what_a_technique_does_not_have_is_said(instances: Instances, tmp_path: Path) -> None:
    path = path_of("pgjdbc", layer="none", technique="lazy")
    talk = Talk(PGJDBC, path, instances[SERVER].options(path))
    try:
        with pytest.raises(RunnerFailure, match="search is not written with technique=lazy"):
            talk.prepare_phase(FILMS, FILMS.phase("search"), "", tmp_path)
    finally:
        talk.close()


@each_writing
def test_tables_hold_what_was_written(path: AccessPath, truth: Expected, instances: Instances, tmp_path: Path) -> None:
    talk = Talk(PGJDBC, path, instances[SERVER].options(path))
    try:
        for phase in operations(path, writes=True):
            reset(talk, phase, tmp_path)
            sampled = talk.sample(phase.name, operations=DIGESTED)
            assert (sampled.operations, sampled.failed) == (DIGESTED, 0), (phase.name, sampled.failure)
            for table in (phase.after, *phase.also_after):
                held = talk.digest_after(FILMS, msgspec.structs.replace(phase, after=table), tmp_path)
                assert held == truth.after_digest(phase, DIGESTED, table), (phase.name, table)
        assert talk.log == []
    finally:
        talk.close()


@each_writing
def test_a_graph_that_fails_half_way_leaves_nothing(
    path: AccessPath, truth: Expected, instances: Instances, tmp_path: Path
) -> None:
    """No row and no open transaction: the tables can be made again at once."""
    phase = FILMS.phase("add")
    talk = Talk(PGJDBC, path, instances[SERVER].options(path))
    try:
        reset(talk, phase, tmp_path)
        talk.run("ALTER TABLE actors_added ADD CHECK (position < 7)")
        assert talk.sample("add", operations=1).failed == 1
        for table in (phase.after, *phase.also_after):
            held = talk.digest_after(FILMS, msgspec.structs.replace(phase, after=table), tmp_path)
            assert held == truth.after_digest(phase, 0, table), table
        reset(talk, phase, tmp_path)
        assert talk.sample("add", operations=1).failed == 0
    finally:
        talk.close()


def reset(talk: Talk, phase: Phase, folder: Path) -> None:
    """The phase's tables at their start, the phase prepared."""
    for statement in reset_for(FILMS, phase, talk.engine):
        talk.run(statement, ignore_errors=statement.startswith("DROP"))
    talk.prepare_phase(FILMS, phase, "", folder)


BEGIN_AND_COMMIT = 2
ROW_BY_ROW = {"add": 1 + 2 + 8 + BEGIN_AND_COMMIT, "change": 1, "read-modify-write": 2 + BEGIN_AND_COMMIT}
MANY_ROWS = ROW_BY_ROW | {"add": 3 + BEGIN_AND_COMMIT}
WRITTEN = {
    ("spring-jdbc", "shipped"): ROW_BY_ROW,  # in two batches
    ("jdbi", "shipped"): ROW_BY_ROW,  # in two batches
    ("mybatis", "shipped"): ROW_BY_ROW | {"change": 1 + BEGIN_AND_COMMIT},
    ("hibernate", "shipped"): ROW_BY_ROW | {"change": 2 + BEGIN_AND_COMMIT},  # read before
}
BY_HAND = {"server": dict.fromkeys(ROW_BY_ROW, 1), "lazy": ROW_BY_ROW}


@each_writing
def test_writes_take_the_statements_that_they_are_written_for(
    path: AccessPath, instances: Instances, tmp_path: Path
) -> None:
    wanted = BY_HAND.get(path.technique) or WRITTEN.get((path.layer, path.get("profile")), MANY_ROWS)
    options, sent = instances[SERVER].options(path), StatementsSent("postgresql")
    proxy = RecordingProxy("postgresql", ("127.0.0.1", int(options["port"])), records=sent)
    proxy.start()
    talk = Talk(PGJDBC, path, options | {"port": proxy.port})
    try:
        for phase in operations(path, writes=True):
            reset(talk, phase, tmp_path)
            for first in range(12):  # also once pgjdbc prepares in the server: from the fifth execution on
                sent.texts.clear()
                assert talk.sample(phase.name, operations=1, first=first).failed == 0
                assert len(sent.texts) == wanted[phase.name], (phase.name, first, sent.texts)
    finally:
        talk.close()
        proxy.stop()


def test_clients_of_a_process_share_what_a_layer_makes_once(
    truth: Expected, instances: Instances, tmp_path: Path
) -> None:
    """Each with its own connection, side by side."""
    path = path_of("pgjdbc", layer="hibernate", clients="2")
    phase = FILMS.phase("read-modify-write")
    talk = Talk(PGJDBC, path, instances[SERVER].options(path))
    try:
        reset(talk, phase, tmp_path)
        sampled = talk.sample(phase.name, operations=DIGESTED)
        assert (sampled.operations, sampled.failed) == (DIGESTED, 0), sampled.failure
        assert talk.digest_after(FILMS, phase, tmp_path) == truth.after_digest(phase, DIGESTED, phase.after)
    finally:
        talk.close()


@each_writing
def test_a_layer_s_error_is_the_driver_s(path: AccessPath, instances: Instances, tmp_path: Path) -> None:
    """Each layer wraps what the driver throws."""
    talk = Talk(PGJDBC, path, instances[SERVER].options(path))
    try:
        talk.prepare_phase(FILMS, FILMS.phase("film"), "", tmp_path)
        talk.run("SET search_path = nowhere")
        sampled = talk.sample("film", operations=1)
        assert sampled.failure and (sampled.failure.kind, sampled.failure.code) == ("sql", "42P01")
        talk.run("SET search_path = public")
        assert talk.sample("film", operations=1).failed == 0
    finally:
        talk.close()


def test_without_a_layer_no_layer_is_fetched_or_loaded() -> None:
    path = path_of("pgjdbc")
    words = " ".join(java.command(PGJDBC, path.version, path).arguments)
    assert "--layer" not in words and "layers" not in words
    assert not any(jar.split(":")[1] in words for layer in LAYERS.values() for jar in layer.packages[1:])
