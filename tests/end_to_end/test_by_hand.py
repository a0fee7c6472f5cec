"""The programs by hand that rival our loops: each is built as the figure builds it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bench.hand_written_program import command
from bench.hand_written_rivals import RIVALS, Rival

from rowpath.checks.selftest.bench import Bench
from rowpath.planning.availability import unavailable


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: f"{rival.language}_{rival.driver}_{rival.name}")
def test_program_is_built(rival: Rival, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    try:
        ours = bench.path(rival.language, rival.driver, "", rival.name, **rival.coordinates)
        if reason := unavailable(ours.adapter, ours.path)[0]:
            pytest.skip(reason)
        bench.build(ours)
        assert os.access(command(tmp_path, rival, ours).arguments[0], os.X_OK) or rival.language in ("node", "java")
    finally:
        bench.close()
