"""`rowpath explain` of a path with a layer, in Python and in Java, and of its floor by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.command import rowpath, write_experiment

OF_SQLITE = 'engine = "sqlite", language = "python", driver = "sqlite3"'
OF_PGJDBC = 'engine = "postgresql", language = "java", driver = "pgjdbc", tls = "off", transport = "tcp"'
NAMELESS = ("CPU", "Python interpreter", "Java code (compiled)")  # samples whose callers are not known
BY_HAND = 'layer = "none", technique = "queries"'


@pytest.mark.parametrize(
    ("driver", "layer", "part", "below"),
    [(OF_SQLITE, "peewee", "peewee", "libsqlite3"), (OF_PGJDBC, "jooq", "org.jooq", "org.postgresql")],
)
def test_a_layer_has_a_part_of_its_own(driver: str, layer: str, part: str, below: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    paths = [f"{driver}, {BY_HAND}", f'{driver}, layer = "{layer}"']
    experiment = write_experiment(tmp_path, paths, phases=["films.search"])
    done = rowpath("explain", experiment, "-q", "-b", "1", "--how", "--no-hops", "-o", run)
    assert done.returncode == 0, done.stderr
    explained = json.loads((run / "explanation.json").read_text(encoding="utf-8"))
    parts = {
        one["path"]["layer"]: {each["name"]: each["ns"] for each in one["parts"] if each["side"] == "client"}
        for one in explained
    }
    assert parts[layer][part] > 0, done.stdout
    assert part not in parts["none"]
    for of_client in parts.values():
        assert of_client[below] > 0, done.stdout
        nameless = sum(ns for name, ns in of_client.items() if name in NAMELESS)
        assert nameless < 0.2 * sum(of_client.values()), done.stdout
    flames = [file.read_text(encoding="utf-8") for file in run.glob("flame-*.html")]
    assert len(flames) == len(paths) and any(part in flame for flame in flames)
