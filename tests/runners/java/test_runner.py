"""What the Java runner alone does: its threads, its reading of files, and what it fetches or misses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.machine import jvm, maven
from rowpath.model.workload import ColumnSpec
from rowpath.runners.manifest import toolchain
from rowpath.workloads.generators import delimited_value
from tests.runners.java.insides import java_artefacts, java_classes
from tests.runners.protocol.codec_vectors import VECTORS, natural
from tests.runners.protocol.talk import K, Start, adapter, talks

java: Any = toolchain("java")
pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")


@pytest.fixture
def start() -> Iterator[Start]:
    yield from talks("java")


def test_the_loop_thread_has_its_name(start: Start) -> None:
    reply = start("null").hello()
    comm = Path(f"/proc/{reply['pid']}/task/{reply['loop_tid']}/comm").read_text()
    assert comm.strip() == "rowpath-loop"


INFINITE = ("inf", "-inf")


def nested(vector: dict[str, Any]) -> bool:
    """An array of more than one dimension."""
    return vector["type"] == "array" and any(isinstance(one, list) for one in vector["value"] or ())


def file_vectors() -> list[dict[str, Any]]:
    return [
        vector
        for vector in VECTORS["values"]
        if vector.get("parameter", True)
        and not (vector["type"] in ("date", "timestamp", "timestamptz", "interval") and vector["value"] in INFINITE)
        and not (vector["type"] == "interval" and vector["value"] and vector["value"][2] % 1000)
        and not nested(vector)
    ]


def test_every_vector_from_a_file(start: Start, tmp_path: Path) -> None:
    talk = start("file", {"path": str(tmp_path), "delimiter": "|"})
    for vector in file_vectors():
        column = {"name": "value", "type": vector["type"], **vector.get("column", {})}
        value = natural(vector["value"], msgspec.convert(column, ColumnSpec))
        text = delimited_value(value)
        (tmp_path / "t.tbl").write_bytes(f"{text}\n".encode())
        phase = {"name": "x", "kind": "query", "table": "t", "scan": True, "columns": [column]}
        talk.ask("prepare", phase=phase, parameters=None)
        verified = talk.ask("verify", phase="x", first=0, count=1)
        assert verified.get("digest") == f"1:{vector['hash']}", (vector, verified)
        if vector["type"] != "char":
            assert verified["touch"] == vector.get("touch_utf16", vector["touch"])


@pytest.mark.parametrize(("content", "text"), [(b"1|2\n", "more than 1"), (b"\xff\n", "")])
def test_a_file_that_does_not_fit(start: Start, tmp_path: Path, content: bytes, text: str) -> None:
    error = verified(start, tmp_path, content)["error"]
    assert error["kind"] == "verify"
    assert text in error["text"]


@pytest.mark.parametrize(("content", "foreign"), [(b"x\n", 1), (b"\\N\n", 0), (b"9223372036854775808\n", 0)])
def test_a_value_that_does_not_fit_is_delivered(start: Start, tmp_path: Path, content: bytes, foreign: int) -> None:
    reply = verified(start, tmp_path, content)
    assert (reply["rows"], reply["columns"][0].get("foreign", 0)) == (1, foreign)


def verified(start: Start, folder: Path, content: bytes) -> Any:
    """What a file with a column of integers is verified as."""
    (folder / "t.tbl").write_bytes(content)
    talk = start("file", {"path": str(folder)})
    phase = {"name": "x", "kind": "query", "table": "t", "scan": True, "columns": [K]}
    talk.ask("prepare", phase=phase, parameters=None)
    return talk.ask("verify", phase="x", first=0, count=1)


def classes(driver: str) -> list[Path]:
    found = adapter("java", driver)
    maven.fetch(java_artefacts(found, found.versions[0]))
    return java_classes(found, found.versions[0])


def test_a_family_is_compiled_once_for_all_its_adapters() -> None:
    derby, h2 = classes("derby"), classes("h2")
    names = [folder.name.rpartition("-")[0] for folder in derby]
    assert names == ["core", "family-jdbc", "family-db2", "adapter-derby"]
    assert h2[:-1] == derby[:2]


def test_an_unknown_family_is_named() -> None:
    found = adapter("java", "null")
    changed = msgspec.structs.replace(found, build={**found.build, "families": ["nowhere"]})
    with pytest.raises(UsageError, match="no sources in runners/java/families/nowhere"):
        java.build([(changed, "bundled")])


def test_what_is_fetched_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    one = "org.ow2.asm:asm:9.11.1"
    maven.jar(one).parent.mkdir(parents=True)
    maven.jar(one).write_bytes(b"something else")
    with pytest.raises(EnvironmentMissing, match="does not match the pin"):
        maven.fetch([one])
    with pytest.raises(UsageError, match="invalid Maven coordinates"):
        maven.fetch(["a:b:1</version>"])
    with pytest.raises(UsageError, match="no artefact 'colour' is pinned"):
        jvm.class_path(["colour"])
    own = "org.example:own:1.0"
    maven.jar(own).write_bytes(b"first")
    maven.fetch([own])
    maven.jar(own).write_bytes(b"second")
    with pytest.raises(EnvironmentMissing, match="does not match the pin"):
        maven.fetch([own])


def test_without_maven_or_a_jdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.setattr(maven.shutil, "which", lambda _name: None)
    lacking = java.availability(adapter("java", "pgjdbc"), "42.7.14")
    assert (lacking.ok, lacking.remedy) == (False, "apt-get install maven")
    monkeypatch.setattr(jvm, "_home", lambda: None)
    lacking = java.availability(adapter("java", "null"), "bundled")
    assert (lacking.ok, lacking.remedy) == (False, jvm.INSTALL)
    with pytest.raises(EnvironmentMissing, match="no JDK"):
        java.build([])
