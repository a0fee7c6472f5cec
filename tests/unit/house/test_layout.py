"""Pure tests lie as what they test does: folders of tests/unit are those of src/rowpath."""

from __future__ import annotations

from pathlib import Path

from tests.side_by_side import APART

UNIT = Path(__file__).parents[1]
SOURCE = UNIT.parents[1] / "src" / "rowpath"
BESIDE = {"house", "bench"}  # what looks at the whole tree, and what tests bench/


def test_every_folder_of_pure_tests_is_one_of_the_source() -> None:
    folders = {file.parent.relative_to(UNIT) for file in UNIT.rglob("test_*.py")}
    assert len(folders) > 20
    assert {str(folder) for folder in folders if not (SOURCE / folder).is_dir()} == BESIDE


def test_a_file_beside_the_folders_is_about_a_module_beside_the_rooms() -> None:
    beside = {file.name.removeprefix("test_") for file in UNIT.glob("test_*.py")}
    assert beside <= {file.name for file in SOURCE.glob("*.py")}


def test_no_file_of_pure_tests_lies_outside_a_package() -> None:
    assert not [str(file) for file in UNIT.rglob("test_*.py") if not (file.parent / "__init__.py").is_file()]


def test_tests_are_marked_apart_by_the_line_that_the_scheduler_reads() -> None:
    marked = {file for file in UNIT.parent.rglob("test_*.py") if "mark.apart" in file.read_text(encoding="utf-8")}
    marked.remove(Path(__file__))
    assert marked
    assert not [str(file) for file in marked if APART not in file.read_text(encoding="utf-8")]
