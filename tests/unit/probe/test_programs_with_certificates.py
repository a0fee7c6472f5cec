"""Programs of a probe hold the files of certificates beside the settings that the URL gives a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.model.path import CHECKED
from rowpath.model.workload import ColumnSpec
from rowpath.own_database.target import read_target
from rowpath.probe.snippets import snippet
from rowpath.runners.manifest import Adapter, every_adapter

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
