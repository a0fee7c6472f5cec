"""The schema of experiments: current, and what editors check every experiment with."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest

from rowpath.model.experiment import schema

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "schemas" / "experiment.schema.json"
FILES = sorted([*(ROOT / "experiments").glob("*.toml"), *(ROOT / "docs").rglob("*.toml")])


@pytest.fixture(scope="module")
def validator() -> Any:
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_the_schema_is_current() -> None:
    assert json.loads(SCHEMA.read_text()) == json.loads(msgspec.json.encode(schema()))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_experiment_names_the_schema_and_follows_it(file: Path, validator: Any) -> None:
    text = file.read_text(encoding="utf-8")
    found = re.match(r"#:schema (\S+)\n", text)
    assert found and (file.parent / found[1]).resolve() == SCHEMA
    validator.validate(tomllib.loads(text))


@pytest.mark.parametrize("wrong", ["round = 3", "[measure]\nround = 3", "[[paths]]\nselects = {}", "rounds = 'x'"])
def test_a_mistake_is_seen(wrong: str, validator: Any) -> None:
    text = 'schema_version = 1\nname = "a"\ntitle = "a"\nphases = []\npaths = []\n'
    validator.validate(tomllib.loads(text))
    text = text.replace("paths = []\n", "") if "paths" in wrong else text
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(tomllib.loads(f"{text}{wrong}\n"))
