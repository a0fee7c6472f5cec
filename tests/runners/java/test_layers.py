"""Layers above a driver: every operation's objects by their digest, and what is sent for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rowpath.machine import jvm, postgresql_programs
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase, Workload
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
SENT = 10  # operations whose statements are counted
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
            sampled = talk.sample(operation, operations=SENT)
            assert (sampled.operations, sampled.failed) == (SENT, 0), sampled.failure
            assert int(sampled.touch, 16) in (truth.touches(phase).expected(0, SENT) or ())
