"""The ladder from a made journal: the floor that a layer is held against, and what the layer adds."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters import ladder
from rowpath.analysis.chapters.ladder import Ladder
from tests.unit import journal_factory
from tests.unit.journal_factory import path

ABOVE = "postgresql server python psycopg transport=tcp profile=tuned"
STATEMENTS = {"queries": 4, "server": 1, "lazy": 34, "none": 4}


def ladders(tmp_path: Path, layers: dict[str, float], statements: int = 4, above: str = ABOVE) -> tuple[Ladder, ...]:
    by_hand = {"queries": 100e3, "server": 80e3, "lazy": 300e3}
    paths = [
        *(path(f"by {how}", f"{above} layer=none technique={how}", {"films.film": ns}) for how, ns in by_hand.items()),
        *(path(name, f"{above} layer={name} technique=none", {"films.film": ns}) for name, ns in layers.items()),
    ]
    made = journal_factory.records(journal_factory.Run(paths=paths, regimes=("steady",), disturbed_share=0))
    made[0] |= {"workloads": {"films": {"phases": [{"name": "film", "kind": "objects", "expected": "objects"}]}}}
    for record in made:
        if record["record"] == "path" and record["coordinates"]["layer"] == "core":
            record |= {"user_lines": {"films.film": [3, 60]}}
        if record["record"] == "counted":
            technique = record["path_id"].partition("technique=")[2].partition(",")[0]
            each = statements if technique == "none" else STATEMENTS[technique]
            record |= {"statements": each * record["operations"], "sql": ["SELECT"] * each}
    found: tuple[Ladder, ...] = ladder.CHAPTER.of(analyse(journal_factory.write(tmp_path, made)))
    return found


def test_the_floor_has_the_technique_of_the_fastest_layer(tmp_path: Path) -> None:
    (found,) = ladders(tmp_path, {"orm": 180e3, "core": 120e3})
    assert found.floor.technique == "queries"
    assert [rung.technique for rung in found.techniques] == ["server", "lazy"]
    assert [rung.name for rung in found.layers] == ["core", "orm"]
    core = found.layers[0].to_floor
    assert core is not None and core.ratio == pytest.approx(1.2, rel=0.03)
    assert core.low is not None and core.low < core.ratio
    (sentence,) = ladder.CHAPTER.sentences((found,))
    assert sentence.text.startswith("films.film: python psycopg ")
    assert sentence.text.count("· ") == 2 and sentence.text.count(" ± ") == 2 and "core +" in sentence.text


def test_a_layer_of_one_statement_is_held_against_one_statement(tmp_path: Path) -> None:
    (found,) = ladders(tmp_path, {"core": 70e3}, statements=1)
    assert found.floor.technique == "server"
    (sentence,) = ladder.CHAPTER.sentences((found,))
    assert "core −" in sentence.text


def test_without_a_layer_there_is_no_ladder(tmp_path: Path) -> None:
    assert ladders(tmp_path, {}) == ()


def test_lines_of_the_user_stand_beside_the_layer_that_has_them(tmp_path: Path) -> None:
    (found,) = ladders(tmp_path, {"orm": 180e3, "core": 120e3})
    core, orm = found.layers
    assert (core.user_lines, core.mapping_lines, orm.user_lines) == (3, 60, None)
    assert {"lines", "of mapping"} <= {column.title for column in ladder.grid(found).columns}


def test_a_sentence_names_the_link(tmp_path: Path) -> None:
    (found,) = ladders(tmp_path, {"core": 120e3}, above=f"{ABOVE} link=0.5ms")
    (sentence,) = ladder.CHAPTER.sentences((found,))
    assert sentence.text.startswith("films.film: python psycopg link=0.5ms ")
