"""docs/capabilities.md is what the manifests say and what the suite has just seen. (Named to run last.)"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest
from house import House, cases, phase_name, planned_paths

SCRIPT = Path(__file__).parents[2] / "scripts" / "capabilities.py"


def capabilities() -> Any:
    spec = importlib.util.spec_from_file_location("capabilities", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(house: House) -> None:
    expected = {
        (path.name, case.name) for path in planned_paths() for case in cases() if phase_name(case) in path.phases
    }
    seen = {(path, case) for path, notes in house.observed.items() for case in notes}
    missing = expected - seen
    if missing:
        pytest.skip(f"not every case was run: {min(missing)}")
    module = capabilities()
    observed = json.loads(json.dumps(house.observed))
    if wanted := os.environ.get(module.VARIABLE):
        Path(wanted).write_text(json.dumps(observed))
        return
    assert module.PAGE.read_text() == module.page(observed), "run scripts/capabilities.py"
