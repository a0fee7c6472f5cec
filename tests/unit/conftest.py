"""What is pure starts no runner and builds none."""

from __future__ import annotations

from typing import Any

import pytest

from rowpath.runners import manifest
from rowpath.runners.process import Runner


def _refused(*_arguments: Any, **_more: Any) -> None:
    raise AssertionError("a pure test starts no runner: it belongs into tests/runners")


@pytest.fixture(autouse=True)
def _pure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runner, "start", _refused)
    monkeypatch.setattr(manifest, "build", _refused)
