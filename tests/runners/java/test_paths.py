"""Every path of the Java runner delivers every row of every workload, exactly: digests against the truth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.runners.manifest import Adapter
from rowpath.runners.protocol import (
    Bye,
    Close,
    CloseReply,
    Facts,
    FactsReply,
    Open,
    OpenReply,
    Reply,
    Verify,
    VerifyReply,
)
from rowpath.runners.toolchains import java
from rowpath.workloads.expected import Expected
from rowpath.workloads.sql import result_columns
from tests.runners.java.talk import ADAPTERS, Instances, Talk, loaded, truth_of

WIDTH = ("clients", "concurrency", "bulk")  # test_java_clients.py, test_java_load.py
ALONE = ("version", "transport", "tls")
# Whose paths tests/conformance goes through; what is theirs alone: test_java_mysql.py, test_java_classic.py,
# test_java_any.py, test_java_spl.py.
ELSEWHERE = ("null", "mariadb", "mysql", "ibmi", "oracle", "jdbc", "spl")
WORKLOADS = ("scan", "keyed", "tab1", "aggregate", "connect", "types")  # further ones have only more rows or columns
MOST_OPERATIONS = 1000  # of a phase that is worth its time here
pytestmark = pytest.mark.skipif(bool(java._problem()), reason="no JDK")


def exists(adapter: Adapter, coordinates: dict[str, str]) -> bool:
    return not any(rule.when.items() <= coordinates.items() for rule in adapter.unsupported)


def paths() -> list[tuple[Adapter, AccessPath]]:
    """Every point of each adapter's lattice that exists, but the other transports, TLS and versions once only."""
    found = []
    for adapter in ADAPTERS.values():
        for engine, deployment in itertools.product(adapter.engines, adapter.deployments):
            if engine in ELSEWHERE or "engine_version" in adapter.coordinates:
                continue
            fixed = {"engine": engine, "deployment": deployment, "durability": "none", "driver": adapter.driver}
            axes = {"version": adapter.versions, **adapter.coordinates}
            axes |= {key: axes[key][:1] for key in WIDTH if key in axes}
            if "tls" in axes:
                axes["tls"] = tuple(value for value in axes["tls"] if value != "on")  # test_java_postgresql.py
            first = {key: values[0] for key, values in axes.items()}
            for point in itertools.product(*axes.values()):
                coordinates = dict(zip(axes, point, strict=True))
                usual = all(coordinates[key] == first[key] for key in ALONE if key in axes)
                alone = sum(coordinates[key] != first[key] for key in axes) == 1
                if exists(adapter, fixed | coordinates) and (usual or alone):
                    found.append((adapter, AccessPath.of(fixed | coordinates)))
    return found


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    with loaded(
        sorted({(path.get("engine"), path.get("deployment")) for _, path in paths()}), list(WORKLOADS)
    ) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parameters")


def serves(adapter: Adapter, phase: Phase) -> bool:
    if phase.kind == "load":
        return False  # test_java_load.py, with fewer rows
    if phase.operations > MOST_OPERATIONS:
        return False
    return phase.scan if "scan" in adapter.phases else phase.kind in adapter.phases


@pytest.mark.parametrize(
    ("adapter", "path"), paths(), ids=lambda value: value.id if isinstance(value, AccessPath) else ""
)
def test_every_workload(adapter: Adapter, path: AccessPath, instances: Instances, folder: Path) -> None:
    key = path.get("engine"), path.get("deployment")
    if key not in instances:
        pytest.skip(ENGINES[key[0]].availability().reason)
    instance = instances[key]
    instance.own_copy(path)
    talk = Talk(adapter, path, instance.options(path))
    try:
        for workload_name in WORKLOADS:
            truth = truth_of(workload_name, key[0])
            for phase in truth.workload.phases:
                if serves(adapter, phase):
                    check_phase(talk, truth, phase, path, folder)
        check_facts(talk.ask(Facts, FactsReply), path, instance)
        talk.ask(Close, CloseReply)
        talk.ask(Open, OpenReply, options=path.as_dict() | instance.options(path))
        talk.ask(Bye, Reply)
        assert talk.runner.process.wait(10) == 0
        assert talk.log == []
    finally:
        talk.runner.stop()


def check_phase(talk: Talk, truth: Expected, phase: Phase, path: AccessPath, folder: Path) -> None:
    workload = truth.workload
    talk.make_ready(workload, phase, folder)
    operations = phase.operations or 7
    if not phase.writes:
        operations = 1 if phase.scan else operations
        verified = talk.ask(Verify, VerifyReply, phase=phase.name, first=3, count=operations)
        expected_digest = truth.verify_digest(phase, 3, operations, 100_000)
        assert verified.digest == expected_digest, (phase.name, verified)
        assert len(verified.delivered) == len(result_columns(workload, phase))
    sampled = talk.sample(phase.name, operations=operations)
    assert (sampled.operations, sampled.failed, sampled.failure) == (operations, 0, None), phase.name
    assert 0 < sampled.execute_ns <= sampled.ns
    expected = truth.touches(phase).expected(0, operations)
    if expected is not None:
        if not workload.conformance_only:  # its text is not ASCII
            assert int(sampled.touch, 16) in expected
        assert sampled.rows == truth.rows(phase, 0, operations)
        assert sampled.execute_ns <= sampled.first_row_ns <= sampled.ns
    if phase.after:
        assert talk.digest_after(workload, phase, folder) == truth.after_digest(phase, operations), phase.name


def check_facts(facts: FactsReply, path: AccessPath, instance: Instance) -> None:
    assert "-Xmx256m" in facts.runtime
    assert "-XX:+UseSerialGC" in facts.runtime
    for secret in instance.secrets():
        assert secret not in repr(facts)
    settings = facts.settings
    engine = path.get("engine")
    if engine != "file":
        assert settings["autocommit"] == "on"
        assert path.get("version") in facts.driver_version
    if engine == "sqlite":
        assert settings["synchronous"] == "0"
    if path.get("deployment") == "embedded" and engine == "derby":
        assert settings["durability"] == "none"
    if engine == "postgresql":
        statement, asked = path.get("statement"), path.get("prepare_threshold")
        assert settings["prepare_threshold"] == ("0" if statement == "bound" else "5" if asked == "auto" else asked)
        assert settings["query_mode"] == ("simple" if path.get("statement") == "text" else "extended")
        assert settings["fetch_size"] == path.get("result").replace("whole", ":0").partition(":")[2]
        assert settings["tls"] == "off"
        assert settings["TimeZone"] == "UTC"
