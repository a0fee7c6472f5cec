from pathlib import Path

import pytest

from rowpath.errors import UsageError
from rowpath.planning.experiment_file import load_experiment, names, read_experiment

GOOD = """\
schema_version = 1
name = "mine"
title = "Mine"
phases = ["scan.read"]

[measure]
sets = 3

[[paths]]
select = { engine = "sqlite" }
"""


def write(directory: Path, text: str) -> Path:
    file = directory / "mine.toml"
    file.write_text(text)
    return file


def test_every_experiment_that_comes_with_rowpath_reads() -> None:
    assert {"tour", "access-methods", "keyed-reads"} <= set(names())
    for name in names():
        assert load_experiment(name).experiment.name == name


def test_a_good_file_reads(tmp_path: Path) -> None:
    experiment = read_experiment(write(tmp_path, GOOD)).experiment
    assert experiment.measure.sets == 3
    assert experiment.measure.rounds == 15
    assert experiment.paths[0].select == {"engine": "sqlite"}


@pytest.mark.parametrize(
    ("wrong", "right", "line"),
    [("set = 3", "sets", 7), ("titel = 'x'", "title", 3), ("selct = { engine = 'sqlite' }", "select", 10)],
)
def test_an_unknown_key_is_named_with_line_and_nearest(tmp_path: Path, wrong: str, right: str, line: int) -> None:
    lines = GOOD.splitlines()
    lines[line - 1] = wrong
    with pytest.raises(UsageError) as caught:
        read_experiment(write(tmp_path, "\n".join(lines)))
    assert f"mine.toml:{line}" in caught.value.message
    assert f"'{right}'" in caught.value.message
    assert right in caught.value.hint


def test_every_mistake_is_named_not_only_the_first(tmp_path: Path) -> None:
    text = GOOD.replace("sets = 3", "set = 3\nround = 2").replace("title", "titel")
    with pytest.raises(UsageError) as caught:
        read_experiment(write(tmp_path, text))
    for key in ("titel", "set", "round"):
        assert f"'{key}'" in caught.value.message


def test_a_value_of_the_wrong_type_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_experiment(write(tmp_path, GOOD.replace("sets = 3", 'sets = "three"')))
    assert "mine.toml:7" in caught.value.message
    assert "measure.sets" in caught.value.message


def test_broken_toml_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_experiment(write(tmp_path, GOOD.replace("sets = 3", "sets = = 3")))
    assert "line 7" in caught.value.message


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="schema_version 2"):
        read_experiment(write(tmp_path, GOOD.replace("schema_version = 1", "schema_version = 2")))


def test_a_wrong_coordinate_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_experiment(write(tmp_path, GOOD.replace("engine =", "engin =")))
    assert "mine.toml:10" in caught.value.message
    assert "'engine'" in caught.value.message + caught.value.hint


def test_a_wrong_phase_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_experiment(write(tmp_path, GOOD.replace("scan.read", "scan.raed")))
    assert "mine.toml:4" in caught.value.message
    assert "scan.read" in caught.value.message + caught.value.hint


def test_an_unknown_experiment_suggests_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        load_experiment("tuor")
    assert "tour" in caught.value.hint


def test_a_move_out_of_a_server_is_a_mistake(tmp_path: Path) -> None:
    moves = '\n[[directory_copies]]\nsource = { deployment = "server" }\ntarget = {}\n'
    read = read_experiment(write(tmp_path, GOOD + moves.replace("server", "embedded"))).experiment
    assert read.directory_copies[0].engine == "derby"
    with pytest.raises(UsageError, match=r"mine\.toml:\d+: no database of 'sqlite' is copied as a directory"):
        read_experiment(write(tmp_path, GOOD + moves.replace("server", "embedded") + 'engine = "sqlite"\n'))
    with pytest.raises(UsageError, match=r"mine\.toml:\d+: a server's database cannot be copied"):
        read_experiment(write(tmp_path, GOOD + moves))
