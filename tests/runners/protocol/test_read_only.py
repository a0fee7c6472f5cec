"""Adapters that say that they open a database truly read-only: no statement changes it, a query still reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.runners import manifest
from rowpath.runners.manifest import Adapter
from tests.runners.protocol.talk import K, on_sqlite, sqlite_file, talks

ADAPTERS = {
    f"{found.language}-{found.driver}": found
    for found in manifest.every_adapter()
    if found.opens_read_only and "sqlite" in found.engines and "execute" in found.phases
}


@pytest.mark.parametrize("found", ADAPTERS.values(), ids=ADAPTERS)
def test_sqlite_is_read_and_never_written(found: Adapter, tmp_path: Path) -> None:
    there = manifest.availability(found, found.versions[0])
    if not there.ok:
        pytest.skip(there.reason)
    file = sqlite_file(tmp_path)
    before = file.read_bytes()
    runners = talks(found.language)
    talk = next(runners)(found.driver, on_sqlite(file, read_only="yes"))
    for sql in ("DELETE FROM t", "CREATE TABLE u (k INTEGER)"):
        error = talk.ask("run", statements=[sql])["error"]
        assert (error["kind"], "read" in error["text"].lower()) == ("sql", True), error
    phase = {"name": "x", "kind": "query", "sql": "SELECT k FROM t", "columns": [K]}
    assert "error" not in talk.ask("prepare", phase=phase, parameters=None)
    assert talk.ask("verify", phase="x", first=0, count=1)["rows"] == 10
    next(runners, None)
    assert file.read_bytes() == before
