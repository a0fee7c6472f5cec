"""The tests' own packages, also when pytest is not started as `python -m pytest`; a browser for a module's pages."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.base import Place
from rowpath.engines.postgresql import Postgresql
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from tests.end_to_end.chromium import Chromium
from tests.end_to_end.command import ROOT

if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(name="postgresql", scope="module")
def postgresql_fixture() -> Iterator[dict[str, Any]]:
    directory = Path(tempfile.mkdtemp(prefix="rowpath-"))
    directory.chmod(0o711)
    instance = Postgresql().instance("server", "none", Place(directory / "d", directory / "s", cpus.server_cpus()))
    try:
        instance.start()
        yield instance.options(AccessPath.of({"engine": "postgresql", "transport": "tcp"}))
    finally:
        instance.stop()
        shutil.rmtree(directory, ignore_errors=True)
