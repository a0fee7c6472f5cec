"""The known answer `periodic-pause` on a machine that is too busy: a verdict, no crash."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.checks.selftest import latency
from rowpath.machine import processes
from tests.unit import journal_factory as factory


class Busy:
    """A bench on which other programs disturb every block."""

    def __init__(self, tmp_path: Any) -> None:
        self._directory = tmp_path

    def languages(self) -> list[str]:
        return ["c"]

    def path(self, *_how: str, name: str, **_coordinates: str) -> str:
        return name

    def run(self, names: list[str], *_phase: str, **_measure: Any) -> tuple[Any, Any]:
        paths = [
            factory.path(name, "null none c null", {"null.nothing": 20_000}, label=name)
            for name in ("pauses", "steady")
        ]
        made = factory.records(factory.Run(paths=paths, sets=2, rounds=2))
        for record in made:
            if record["record"] == "sample":
                record["disturbed"] = "other programs had the core"
        return analyse(factory.write(self._directory / "-".join(names), made)), None


def test_what_was_not_measured_is_missed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "start", lambda *_how, **_more: SimpleNamespace())
    monkeypatch.setattr(processes, "stop", lambda *_how: None)
    verdicts = {verdict.what: verdict for verdict in latency.periodic_pause(Busy(tmp_path), full=False)}  # type: ignore[arg-type]
    for figure in ("the median", "the mean", "CPU per operation"):
        assert verdicts[f"own pause: {figure}"].passed is False
        assert verdicts[f"own pause: {figure}"].figure == "not measured"
