"""The suite's engines, started once, and the runner of the path that is being tested."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import House, reason_against

from rowpath.invocation import Invocation
from rowpath.plan import PlannedPath


@pytest.fixture(scope="session")
def house() -> Iterator[House]:
    """Everything is stopped and removed at the end."""
    directory = Path(tempfile.mkdtemp(prefix="rowpath-"))
    directory.chmod(0o711)  # as root a server runs as another user
    suite = House(directory)
    try:
        yield suite
    finally:
        suite.end()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def planned(request: pytest.FixtureRequest) -> PlannedPath:
    """The path, by indirect parameter; skipped where it cannot run here."""
    path: PlannedPath = request.param
    if reason := reason_against(path):
        pytest.skip(reason)
    return path


@pytest.fixture
def living(planned: PlannedPath, house: House) -> Invocation:
    """A connected runner on the path, the same one for all tests of it that follow one another."""
    return house.living(planned)
