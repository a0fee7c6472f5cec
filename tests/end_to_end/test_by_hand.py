"""The programs by hand that rival our loops: each is built as the figure builds it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bench.hand_written_program import command
from bench.hand_written_rivals import RIVALS, Rival

from rowpath.checks.selftest.bench import Bench
from rowpath.planning.availability import unavailable

# Of drivers that share a source only the first, for the compiler gets the same; in Go each has a file beside it.
PROGRAMS = {(each.language, each.source, each.driver * (each.language == "go")): each for each in reversed(RIVALS)}


# Rust compiles the crates of each again.
BUILT = [pytest.param(each, marks=[pytest.mark.long] * (each.language == "rust")) for each in PROGRAMS.values()]


@pytest.mark.parametrize("rival", BUILT, ids=lambda rival: f"{rival.language}_{rival.driver}_{rival.name}")
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


def test_every_rival_has_an_adapter_of_ours_with_its_coordinates(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    try:
        for rival in RIVALS:
            ours = bench.path(rival.language, rival.driver, "", rival.name, **rival.coordinates)
            known = ours.adapter.coordinates | {"engine": ours.adapter.engines}
            assert all(value in known[name] for name, value in rival.coordinates.items()), rival
    finally:
        bench.close()
