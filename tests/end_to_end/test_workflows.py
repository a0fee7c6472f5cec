"""actionlint finds nothing in the workflows; its version and checksums are in .ci/actionlint."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from tests.end_to_end.command import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def linted(*words: object) -> subprocess.CompletedProcess[str]:
    """What actionlint says."""
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        raise EnvironmentMissing("no Go, which builds actionlint", "install Go 1.26")
    command = [go, "-C", ROOT / ".ci" / "actionlint", "tool", "actionlint", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_nothing_is_wrong() -> None:
    done = linted(*WORKFLOWS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(WORKFLOWS) == 3


def test_a_mistake_is_found(tmp_path: Path) -> None:
    file = tmp_path / "broken.yml"
    file.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace("runs-on", "run-on"), encoding="utf-8")
    done = linted(file)
    assert done.returncode == 1 and "run-on" in done.stdout
