"""docs/capabilities.md is what the manifests say and what the suite has just seen. (Named to run last.)"""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from rowpath.checks.conformance.cases import cases
from rowpath.checks.conformance.checks import serves
from rowpath.checks.conformance.paths import of_the_project
from rowpath.runners.driver_facts import drivers


def test_the_page_is_current(observed: dict[str, dict[str, Any]], capabilities: Any) -> None:
    expected = {(path.name, case.name) for path in of_the_project() for case in cases() if serves(case, path)}
    missing = expected - {(path, case) for path, seen in observed.items() for case in seen["checks"]}
    if missing:
        pytest.skip(f"not every case was run: {min(missing)}")
    plain = json.loads(json.dumps(observed))
    if wanted := os.environ.get(capabilities.VARIABLE):
        Path(wanted).write_text(json.dumps(plain))
        return
    # What packages say of themselves differs from machine to machine; that each driver has its line does not.
    page = capabilities.PAGE.read_text()
    says, saw = (capabilities.without_facts(text).splitlines() for text in (page, capabilities.page(plain)))
    differing = list(difflib.unified_diff(says, saw, "the page", "seen", lineterm="", n=0))
    assert not differing, "run scripts/capabilities.py:\n" + "\n".join(differing)
    for adapter, _version in drivers():
        assert f"\n| {adapter.language} {adapter.driver} |" in page.partition(f"## {capabilities.FACTS}")[2]
