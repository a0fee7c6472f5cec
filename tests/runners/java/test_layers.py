"""Layers above a driver: every operation's objects by their digest, and what is sent for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rowpath.machine import jvm, postgresql_programs
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import Layer
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Facts, FactsReply
from rowpath.workloads.workload_file import load_workload
from tests.runners.java.talk import ADAPTERS, Instances, Talk, expected_of, java, loaded, path_of

SERVER = ("postgresql", "server")
PGJDBC = ADAPTERS["pgjdbc"]
LAYERS = {layer.name: layer for layer in PGJDBC.layers}
OPERATIONS = ("film", "user", "search")
DIGESTED = 40
SENT = 10  # operations whose round trips are counted
LISTS = {"film": 4, "user": 2, "search": 1}  # round trips with one for each list, BEGIN and COMMIT none
ONE = dict.fromkeys(OPERATIONS, 1)
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


PATHS = [path for layer in LAYERS.values() for path in paths_of(layer)]


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    with loaded([SERVER], ["films"]) as started:
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


def is_written(path: AccessPath, operation: str) -> bool:
    return operation != "search" or path.technique in ("none", "queries")


def takes(path: AccessPath, operation: str, round_trips: float) -> bool:
    """Whether an operation takes as many round trips as its program is written for."""
    wanted = LISTS if path.get("profile") == "tuned" else SHIPPED.get(path.layer)
    if path.technique != "none":
        wanted = {"queries": LISTS, "server": ONE}.get(path.technique)
    return round_trips == wanted[operation] if wanted else round_trips > LISTS[operation]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.layer} {path.get('profile')} {path.technique}")
def test_objects_are_those_of_the_truth(path: AccessPath, instances: Instances, tmp_path: Path) -> None:
    workload = load_workload("films")
    truth = expected_of("films", "postgresql")
    with counted(path, instances) as (talk, proxy):
        for operation in OPERATIONS:
            phase = workload.phase(operation)
            if not is_written(path, operation):
                with pytest.raises(RunnerFailure, match="is not written with technique="):
                    talk.prepare_phase(workload, phase, "", tmp_path)
                continue
            talk.prepare_phase(workload, phase, "", tmp_path)
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


def test_a_layer_s_error_is_the_driver_s(instances: Instances, tmp_path: Path) -> None:
    """Each layer wraps what the driver throws."""
    phase = load_workload("films").phase("film")
    for path in PATHS:
        if path.get("profile") == "tuned":
            talk = Talk(PGJDBC, path, instances[SERVER].options(path))
            try:
                talk.prepare_phase(load_workload("films"), phase, "", tmp_path)
                talk.run("SET search_path = nowhere")
                sampled = talk.sample("film", operations=1)
                assert sampled.failure and (sampled.failure.kind, sampled.failure.code) == ("sql", "42P01"), path.layer
                talk.run("SET search_path = public")
                assert talk.sample("film", operations=1).failed == 0, path.layer
            finally:
                talk.close()


def test_without_a_layer_no_layer_is_fetched_or_loaded() -> None:
    path = path_of("pgjdbc")
    words = " ".join(java.command(PGJDBC, path.version, path).arguments)
    assert "--layer" not in words and "layers" not in words
    assert not any(jar.split(":")[1] in words for layer in LAYERS.values() for jar in layer.packages[1:])
