"""The Java runner's kind `load`: every way leaves every row, once, in one transaction an operation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from rowpath.engines import ENGINES
from rowpath.machine import jvm
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase, Workload
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import RunReply, RunStatements
from rowpath.workloads import generators
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import load_workload
from tests.runners.java.talk import ADAPTERS, Instances, Talk, loaded, path_of

pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
DRIVERS = ("sqlite-jdbc", "derby", "pgjdbc")
PG = [("pgjdbc", bulk) for bulk in ("batch", "copy", "rewritten-batch")]
ROWS, OPERATIONS = 100, 5


def small(name: str) -> tuple[Workload, Phase]:
    """A phase of the workload `load` with few rows."""
    workload = load_workload("load")
    phase = workload.phase(name)
    assert phase.parameters is not None
    phase = msgspec.structs.replace(
        phase,
        rows_per_operation=ROWS,
        operations=OPERATIONS,
        parameters=msgspec.structs.replace(phase.parameters, count=ROWS * OPERATIONS),
    )
    return msgspec.structs.replace(workload, phases=(phase,)), phase


def ways() -> Iterator[AccessPath]:
    for driver in DRIVERS:
        adapter = ADAPTERS[driver]
        axes = adapter.deployments, adapter.coordinates["statement"], adapter.coordinates["bulk"]
        for deployment, statement, bulk in itertools.product(*axes):
            path = path_of(driver, deployment=deployment, statement=statement, bulk=bulk)
            if not any(rule.when.items() <= path.as_dict().items() for rule in adapter.unsupported):
                yield path


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    keys = dict.fromkeys((path.get("engine"), path.get("deployment")) for path in ways())
    with loaded(list(keys), ["keyed"]) as started:
        yield started


def talk_on(path: AccessPath, instances: Instances) -> Talk:
    key = path.get("engine"), path.get("deployment")
    if key not in instances:
        pytest.skip(ENGINES[key[0]].availability().reason)
    instances[key].own_copy(path)
    return Talk(ADAPTERS[path.get("driver")], path, instances[key].options(path))


@pytest.mark.parametrize("path", list(ways()), ids=lambda path: path.id)
def test_every_way(path: AccessPath, instances: Instances, tmp_path: Path) -> None:
    talk = talk_on(path, instances)
    try:
        for name in ("batch-100", "bulk"):
            if name == "batch-100" and path.get("bulk") != ADAPTERS[path.get("driver")].coordinates["bulk"][0]:
                continue
            workload, phase = small(name)
            talk.make_ready(workload, phase, tmp_path)
            sampled = talk.sample(phase.name, operations=OPERATIONS)
            assert (sampled.operations, sampled.failed, sampled.failure) == (OPERATIONS, 0, None), name
            assert (sampled.rows, sampled.execute_ns) == (0, 0)
            expected = Expected(workload).after_digest(phase, OPERATIONS)
            assert expected.startswith(f"{ROWS * OPERATIONS}:")
            assert talk.digest_after(workload, phase, tmp_path) == expected, name
    finally:
        talk.close()


@pytest.mark.parametrize(("driver", "bulk"), [("sqlite-jdbc", "batch"), ("derby", "batch"), *PG])
def test_an_operation_is_stored_whole_or_not_at_all(
    driver: str, bulk: str, instances: Instances, tmp_path: Path
) -> None:
    path = path_of(driver, bulk=bulk)
    talk = talk_on(path, instances)
    workload = load_workload("keyed")
    try:
        for way in ("transaction", "bulk"):
            phase = msgspec.structs.replace(
                workload.phase("insert"), kind="load", way=way, table="mydata2_new", rows_per_operation=ROWS
            )
            key, _data = list(generators.parameter_rows(workload, phase)[1])[150]
            talk.make_ready(workload, phase, tmp_path)
            taken = f"INSERT INTO mydata2_new (KEY1, DATA1) VALUES ('{key}', 'x')"
            talk.ask(RunStatements, RunReply, statements=[taken], ignore_errors=False)
            sampled = talk.sample(phase.name, operations=4)
            assert (sampled.operations, sampled.failed, sampled.first) == (3, 1, 0), (way, sampled.failure)
            assert sampled.failure is not None
            assert sampled.failure.kind == "sql"
            rows, _, _hash = talk.digest_after(workload, phase, tmp_path).partition(":")
            assert int(rows) == 1 + 3 * ROWS, way
            assert talk.sample(phase.name, operations=7, first=-1).operations == 6  # positions 4 to 10: 10 is 0 again
    finally:
        talk.close()


def test_what_does_not_exist(instances: Instances, tmp_path: Path) -> None:
    path = path_of("sqlite-jdbc")
    workload, phase = small("bulk")
    for coordinates, reason in (
        ({"bulk": "copy"}, "no bulk way copy"),
        ({"bulk": "none"}, "no bulk way none"),
        ({"clients": "2"}, "only one client"),
    ):
        talk = talk_on(AccessPath.of(path.as_dict() | coordinates), instances)
        try:
            with pytest.raises(RunnerFailure, match=reason) as raised:
                talk.make_ready(workload, phase, tmp_path)
            assert raised.value.kind == "unsupported"
        finally:
            talk.close()
    talk = talk_on(path, instances)
    try:
        larger = msgspec.structs.replace(phase, rows_per_operation=ROWS * OPERATIONS + 1)
        with pytest.raises(RunnerFailure, match="stores 501 rows, has 500"):
            talk.make_ready(workload, larger, tmp_path)
    finally:
        talk.close()
