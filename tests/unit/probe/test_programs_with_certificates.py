"""Programs of a probe hold the files of certificates beside the settings that the URL gives a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.model.path import CHECKED
from rowpath.model.probe import TriedPath
from rowpath.model.workload import ColumnSpec
from rowpath.own_database.target import read_target
from rowpath.probe.layer_programs import program
from rowpath.probe.snippets import snippet
from rowpath.runners.manifest import Adapter, Layer, every_adapter, language

CHECKING = {
    f"{adapter.language} {adapter.driver}": adapter
    for adapter in every_adapter()
    if "postgresql" in adapter.engines and set(CHECKED) & set(adapter.certificates)
}


@pytest.mark.parametrize("adapter", CHECKING.values(), ids=CHECKING)
def test_a_program_has_the_authorities_and_the_schema_of_the_url(adapter: Adapter, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    mode = adapter.certificates[0]
    url = f"postgresql://u@h/d?sslmode={mode}&sslrootcert={tmp_path}/ca.pem&options=-csearch_path%3Dtenant1"
    target = read_target(url, {"HOME": str(tmp_path)})
    shared = {"engine": "postgresql", "language": adapter.language, "driver": adapter.driver, "tls": mode}
    for through in adapter.coordinates.get("through", ("none",)):
        path = {key: values[0] for key, values in adapter.coordinates.items()} | shared | {"through": through}
        program = snippet("x", path, target, "SELECT 1", [ColumnSpec("id", "integer")])
        assert program is not None
        if through != "sqlite3":
            assert "ca.pem" in program.text, program.text
            assert "tenant1" in program.text, program.text


ABOVE = [
    (adapter, layer)
    for adapter in CHECKING.values()
    if adapter.driver in language(adapter.language).snippets.layer_checks
    for layer in adapter.layers
    if layer.own_query
]


@pytest.mark.parametrize(("adapter", "layer"), ABOVE, ids=[f"{layer.name} {above.driver}" for above, layer in ABOVE])
def test_a_program_with_a_layer_has_them_too(adapter: Adapter, layer: Layer, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    url = f"postgresql://u@h/d?sslmode=verify-full&sslrootcert={tmp_path}/ca.pem&options=-csearch_path%3Dtenant1"
    target = read_target(url, {"HOME": str(tmp_path)})
    shared = {"engine": "postgresql", "language": adapter.language, "driver": adapter.driver, "tls": "verify-full"}
    path = {key: values[0] for key, values in adapter.coordinates.items()} | shared
    tried = TriedPath("x", path | {"layer": layer.name, "technique": "raw"}, "sets")
    made = program(tried, target, "SELECT 1 AS id", [ColumnSpec("id", "integer")], None)
    assert made is not None
    assert "verify-full" in made.text and "ca.pem" in made.text and "tenant1" in made.text, made.text
