"""docs/capabilities.md is what the manifests say and what the suite has just seen. (Named to run last.)"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from rowpath.conformance.cases import cases
from rowpath.conformance.checks import serves
from rowpath.conformance.paths import of_the_project
from rowpath.drivers import drivers

SCRIPT = Path(__file__).parents[2] / "scripts" / "capabilities.py"


def capabilities() -> Any:
    spec = importlib.util.spec_from_file_location("capabilities", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(observed: dict[str, dict[str, Any]]) -> None:
    expected = {(path.name, case.name) for path in of_the_project() for case in cases() if serves(case, path)}
    missing = expected - {(path, case) for path, seen in observed.items() for case in seen["checks"]}
    if missing:
        pytest.skip(f"not every case was run: {min(missing)}")
    module = capabilities()
    plain = json.loads(json.dumps(observed))
    if wanted := os.environ.get(module.VARIABLE):
        Path(wanted).write_text(json.dumps(plain))
        return
    # What packages say of themselves differs from machine to machine; that each driver has its line does not.
    page = module.PAGE.read_text()
    assert module.without_facts(page) == module.without_facts(module.page(plain)), "run scripts/capabilities.py"
    for adapter, _version in drivers():
        assert f"\n| {adapter.language} {adapter.driver} |" in page.partition(f"## {module.FACTS}")[2]
