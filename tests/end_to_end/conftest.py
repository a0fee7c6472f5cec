"""The tests' own packages, also when pytest is not started as `python -m pytest`; a browser for a module's pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.end_to_end.chromium import Chromium
from tests.end_to_end.command import ROOT

if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started
