"""What docs/faults.md tells of arrow-go's driver is so: its program loses the server's error."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rowpath.runners.manifest import toolchain

go: Any = toolchain("go")
PAGE = Path(__file__).parents[3] / "docs" / "faults.md"
TIMEOUT_S = 600  # it may have to compile arrow-go


@pytest.mark.skipif(shutil.which("go") is None, reason="no Go")
def test_the_program_of_the_page_reads_two_rows_and_no_error(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```go\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    source, program = tmp_path / "cut.go", tmp_path / "cut"
    source.write_text(text, encoding="utf-8")
    words = go.build_words(program, source)
    subprocess.run(words, env=os.environ | go.BUILDING, check=True, timeout=TIMEOUT_S)
    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    assert done.stdout.split() == ["1", "2", "<nil>", "<nil>"]
