"""Numbers of a manifest's header that make no sense are refused, with the file and the field."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.runners.language import Language
from rowpath.runners.manifest import read_manifest

PAIRS = ("warm_least_s", "compiling_s", "probe_warm_s")
NUMBERS = (
    "memory_mib",
    "start_s",
    "row_s",
    "shortest_operation_ns",
    "null_operation_ns",
    "most_clients",
    "lead_in_least_ns",
)


def header(folder: Path, line: str) -> Language:
    file = folder / "adapters.toml"
    file.write_text(f'schema_version = 1\nadapter = []\n[language]\nname = "zig"\n{line}\n')
    found = read_manifest(file).language
    assert isinstance(found, Language)
    return found


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, "-1") for field in NUMBERS),
        *((field, "[0.1, -0.1]") for field in PAIRS),
        ("memory_mib", "0"),
        ("start_s", "nan"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused(tmp_path: Path, field: str, value: str) -> None:
    with pytest.raises(UsageError, match=rf"adapters\.toml: Expected .* >=? 0.*\$\.language\.{field}") as refused:
        header(tmp_path, f"{field} = {value}")
    assert refused.value.hint == "see runners/PROTOCOL.md, section adapters.toml"


def test_the_least_number_of_each_kind_is_taken(tmp_path: Path) -> None:
    lines = [f"{field} = 0" for field in NUMBERS[1:]] + [f"{field} = [0, 0]" for field in PAIRS]
    assert header(tmp_path, "\n".join(["memory_mib = 0.5", *lines])).memory_mib == 0.5


def test_every_number_of_the_header_is_among_these() -> None:
    kinds = re.compile(r"\b(float|int|AboveZero|NotNegative)\b")
    assert {name for name, kind in Language.__annotations__.items() if kinds.search(str(kind))} == {*NUMBERS, *PAIRS}
