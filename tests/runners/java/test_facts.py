"""What a Java runner says of its paths: runtime, driver and effective settings, its stamps in order, and nothing else.

That every path delivers the right rows is proven by tests/conformance.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine import jvm
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import Adapter
from rowpath.runners.protocol import Bye, Close, CloseReply, Facts, FactsReply, Open, OpenReply, Reply
from tests.runners.java.talk import ADAPTERS, Instances, Talk, expected_of, loaded

# Their settings: test_mysql.py, test_classic.py, test_any.py, test_spl.py.
ELSEWHERE = ("null", "mariadb", "mysql", "ibmi", "ibmi-stand-in", "oracle", "jdbc", "spl")
# Other values that pgjdbc must report, each beside the default.
VARIED = (
    {"statement": "bound"},
    {"statement": "text"},
    {"prepare_threshold": "1"},
    {"prepare_threshold": "-1"},
    {"result": "fetch-size:1000"},
    {"result": "cursor:1000"},
    {"result": "cursor:1000", "format": "binary"},
)
pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")


def paths() -> list[tuple[Adapter, AccessPath]]:
    """The default path of each adapter, version, engine and deployment."""
    found = []
    for adapter in ADAPTERS.values():
        for version, engine, deployment in itertools.product(adapter.versions, adapter.engines, adapter.deployments):
            if engine in ELSEWHERE or "engine_version" in adapter.coordinates:
                continue
            first = {key: values[0] for key, values in adapter.coordinates.items()}
            fixed = {"engine": engine, "deployment": deployment, "durability": "none", "driver": adapter.driver}
            coordinates = fixed | {"version": version} | first
            if not any(rule.when.items() <= coordinates.items() for rule in adapter.unsupported):
                found.append((adapter, AccessPath.of(coordinates)))
    return found


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    keys = sorted({(path.get("engine"), path.get("deployment")) for _, path in paths()})
    files = [key for key in keys if key[1] == "file"]
    with loaded(files, ["scan"]) as tables, loaded([key for key in keys if key not in files], ["keyed"]) as started:
        yield tables | started


@pytest.mark.parametrize(
    ("adapter", "path"), paths(), ids=lambda value: value.id if isinstance(value, AccessPath) else ""
)
def test_facts(adapter: Adapter, path: AccessPath, instances: Instances, tmp_path: Path) -> None:
    key = path.get("engine"), path.get("deployment")
    if key not in instances:
        pytest.skip(ENGINES[key[0]].availability().reason)
    instance = instances[key]
    instance.own_copy(path)
    talk = Talk(adapter, path, instance.options(path))
    try:
        check_stamps(talk, path, tmp_path)
        check_facts(talk.ask(Facts, FactsReply), path, instance)
        for changed in VARIED if adapter.driver == "pgjdbc" else ({},):
            varied = AccessPath.of(path.as_dict() | changed)
            talk.ask(Close, CloseReply)
            talk.ask(Open, OpenReply, options=varied.as_dict() | instance.options(varied))
            check_facts(talk.ask(Facts, FactsReply), varied, instance)
        talk.ask(Bye, Reply)
        assert talk.runner.process.wait(10) == 0
        assert talk.log == []
    finally:
        talk.close()


def check_stamps(talk: Talk, path: AccessPath, folder: Path) -> None:
    """Execution, first row and end of an operation come in this order."""
    workload = expected_of("scan" if path.deployment == "file" else "keyed", path.get("engine")).workload
    phase = workload.phase("read")
    talk.make_ready(workload, phase, folder)
    sampled = talk.sample(phase.name, operations=3)
    assert (sampled.operations, sampled.failed, sampled.failure) == (3, 0, None)
    assert 0 < sampled.execute_ns <= sampled.first_row_ns <= sampled.ns


def check_facts(facts: FactsReply, path: AccessPath, instance: Instance) -> None:
    assert "-Xmx256m" in facts.runtime
    assert "-XX:+UseSerialGC" in facts.runtime
    for secret in instance.secrets():
        assert secret not in repr(facts)
    settings = facts.settings
    engine = path.get("engine")
    if path.deployment != "file":
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
