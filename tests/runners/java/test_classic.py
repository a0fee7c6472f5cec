"""Drivers of the classic systems: jcc, on request, to an old Derby; jt400 and ojdbc, for which there is no server."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import derby
from rowpath.engines.base import Place
from rowpath.engines.derby import ENGINE, Derby
from rowpath.errors import EnvironmentMissing
from rowpath.machine import cpus, jvm
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Facts, FactsReply, Verify, VerifyReply
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import load_workload
from tests.runners.java.talk import ADAPTERS, Talk, path_of

java: Any = toolchain("java")
pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
NOT_OURS = {"user": "somebody", "password": "never-shown", "database": "NOWHERE"}
OLD = Derby(derby.OLD)


def place(folder: Path) -> Place:
    return Place(folder / "data", folder / "s", tuple(cpus.usable()), version=derby.OLD)


@pytest.fixture(scope="module")
def old_server() -> Iterator[dict[str, Any]]:
    """What `open` gets for a Derby 10.8.2.2 with the workload `types` in it."""
    folder = Path(tempfile.mkdtemp(prefix="rowpath-old-"))
    folder.chmod(0o711)  # as root a server runs as another user
    instance = ENGINE.instance("server", "none", place(folder))
    try:
        instance.start()
        instance.load(Expected(load_workload("types"), OLD.supports).workload.tables)
        yield instance.options(path_of("derby"))
    finally:
        instance.stop()
        shutil.rmtree(folder)


@pytest.mark.parametrize("driver", ["jt400", "ojdbc"])
@pytest.mark.parametrize(
    ("host", "words"), [("127.0.0.1", "(?i)refused|no listener"), ("no-such-host.invalid", "no-such-host")]
)
def test_no_server_is_a_clear_connect_error(driver: str, host: str, words: str) -> None:
    adapter = ADAPTERS[driver]
    java.build([(adapter, adapter.versions[0])])
    with pytest.raises(RunnerFailure, match=words) as failure:
        Talk(adapter, path_of(driver), NOT_OURS | {"host": host, "port": 1})
    assert failure.value.kind == "connect"
    assert NOT_OURS["password"] not in str(failure.value)


def test_nothing_on_request_is_fetched_unasked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    assert not any(found.fetched() for found in ENGINE.downloads.values())
    assert ENGINE.availability_of(ENGINE.version(), "off").ok
    old = ENGINE.availability_of(derby.OLD, "off")
    assert (old.ok, old.remedy) == (False, "rowpath engine fetch derby-10.8")
    assert "Apache-2.0" in old.reason
    with pytest.raises(EnvironmentMissing, match=r"not fetched: Derby 10\.8"):
        ENGINE.instance("server", "none", place(tmp_path))
    jcc = ADAPTERS["jcc"]
    here = java.availability(jcc, jcc.versions[0])
    assert (here.ok, here.remedy) == (False, "rowpath engine fetch jcc")
    assert "IBM's International Program License Agreement" in here.reason
    with pytest.raises(EnvironmentMissing, match="not fetched: jcc"):
        java.build([(jcc, jcc.versions[0])])
    assert not list(tmp_path.rglob("*.jar"))


@pytest.mark.skipif(
    not all(found.fetched() for found in ENGINE.downloads.values()), reason="rowpath engine fetch derby-10.8, then jcc"
)
@pytest.mark.parametrize(("driver", "version"), [("jcc", "12.1.2.0"), ("derby", "10.16.1.1"), ("derby", "10.8.2.2")])
@pytest.mark.parametrize("statement", ["prepared", "text"])
def test_every_type_that_the_old_derby_keeps(
    driver: str, version: str, statement: str, old_server: dict[str, Any], tmp_path: Path
) -> None:
    adapter = ADAPTERS[driver]
    java.build([(adapter, version)])
    coordinates = {"version": version, "deployment": "server", "engine_version": derby.OLD}
    talk = Talk(adapter, path_of(driver, statement=statement, **coordinates), old_server)
    try:
        expected = Expected(load_workload("types"), OLD.supports)
        phase = expected.workload.phase("read")
        talk.make_ready(expected.workload, phase, tmp_path)
        verified = talk.ask(Verify, VerifyReply, phase="read", first=0, count=1)
        assert verified.digest == expected.verify_digest(phase, 0, 1, 100)
        facts = talk.ask(Facts, FactsReply)
        assert derby.OLD in facts.engine_version
        assert facts.settings["schema"] == "APP"
        assert old_server["password"] not in repr(facts)
    finally:
        talk.runner.stop()
