"""An error in the middle of a pipeline: what each driver makes of the statements behind it."""

from __future__ import annotations

import msgspec
import pytest
from tests.conformance.selection import project_paths

from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.checks.conformance.paths import workload_of
from rowpath.model.workload import Column, Parameters, Phase
from rowpath.planning.plan import PlannedPath

SIZE = 10
FAILING = 5  # the key that divides by zero, or leaves a BIGINT's range: keys begin at 1
# With one Sync behind the whole pipeline the server skips what follows an error; with one behind each it goes on.
SKIPPED = {"libpq", "psycopg", "pgx"}
GOES_ON = {"tokio-postgres", "postgres-js", "mariadb"}

PIPELINED = [each for each in project_paths() if each.path.get("pipeline") == str(SIZE) and "=" not in each.name]
OUT_OF_RANGE = f"SELECT id FROM awkward_items WHERE id = ? AND {2**63 - 1} + (id = {FAILING}) > 0"
MIDDLE = Phase(
    "middle",
    "query",
    f"SELECT id FROM awkward_items WHERE id = ? AND 100 / (id - {FAILING}) < 1000",
    table="awkward_items",
    dialects={"mariadb": OUT_OF_RANGE, "mysql": OUT_OF_RANGE},  # which divide by zero without an error
    columns=(Column("id", "integer"),),
    parameters=Parameters("sequence", 2 * SIZE, columns=("id",)),
)


def test_every_driver_with_pipelines_is_expected() -> None:
    assert {each.adapter.driver for each in PIPELINED} == SKIPPED | GOES_ON


@pytest.mark.parametrize("planned", PIPELINED, indirect=True, ids=lambda each: each.name)
def test_an_error_in_the_middle_of_a_pipeline(planned: PlannedPath, fixture: EngineFixture) -> None:
    worker = fixture.connected(planned)
    workload = msgspec.structs.replace(workload_of("workloads/awkward.toml"), name="failing", phases=(MIDDLE,))
    work = fixture.phase_cache.prepared_workload(workload, planned.path.engine).phases["failing.middle"]
    worker.prepare(work)
    reply = worker.sample(work, "steady", operations=2 * SIZE, first=0).reply
    lost = SIZE - (FAILING - 1) if planned.adapter.driver in SKIPPED else 1
    assert (reply.operations, reply.failed, reply.rows) == (2 * SIZE - lost, lost, 2 * SIZE - lost)
    assert reply.failure is not None
    assert reply.failure.kind == "sql"
    assert ("division by zero" if planned.path.engine == "postgresql" else "out of range") in reply.failure.text
    after = worker.sample(work, "steady", operations=SIZE, first=SIZE).reply  # the connection goes on
    assert (after.operations, after.failed) == (SIZE, 0)
