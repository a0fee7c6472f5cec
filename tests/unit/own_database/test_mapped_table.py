"""What the columns of a table are called in a layer's class, and which layers an option names."""

from __future__ import annotations

import msgspec
import pytest

from rowpath.errors import UsageError
from rowpath.own_database import layers
from rowpath.own_database.layers import named
from rowpath.own_database.mapped_table import attributes_of


def test_names_that_a_class_cannot_have_are_numbered() -> None:
    names = ["id", "Two words", "class", "a__b", "end_", "_begin", "same", "Same", "é", "column_1", "save", "Kept"]
    numbered = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
    found = attributes_of(names, {"class", "save"})
    assert found == [f"column_{at}" if at in numbered else name for at, name in enumerate(names, 1)]
    assert len(set(found)) == len(names)


def test_a_package_names_all_of_its_layers() -> None:
    layers = [(adapter.driver, layer.name) for adapter, layer in named(["sqlalchemy", "django"], "postgresql")]
    assert layers == [("psycopg", "sqlalchemy-core"), ("psycopg", "sqlalchemy-orm"), ("psycopg", "django")]


def test_a_layer_without_a_file_for_such_queries_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = named(["peewee", "django"], "postgresql")
    bare = msgspec.structs.replace(first[1], own_query="")
    adapter = msgspec.structs.replace(first[0], layers=(bare, *(layer for _adapter, layer in others)))
    monkeypatch.setattr(layers, "every_adapter", lambda: [adapter])
    with pytest.raises(UsageError, match="Rowpath runs no query of yours through it yet") as refused:
        named(["peewee"], "postgresql")
    assert refused.value.hint == "one of: django"


@pytest.mark.parametrize("name", ["none", "sqlalchemist", ""])
def test_an_unknown_layer_is_named_with_those_that_there_are(name: str) -> None:
    with pytest.raises(UsageError, match=f"unknown layer '{name}'") as refused:
        named([name], "postgresql")
    assert "sqlalchemy" in refused.value.hint
