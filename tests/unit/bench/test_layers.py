"""The bench `layers`: every layer stands beside a program of its own, which knows nothing of the runner."""

from __future__ import annotations

import re

import pytest
from bench import layers
from bench.hand_written_program import SOURCES

from rowpath.errors import UsageError
from rowpath.model.path import BY_HAND
from rowpath.runners.manifest import every_adapter


def test_every_layer_has_a_program() -> None:
    above = {(each.language, layer.name) for each in every_adapter() for layer in each.layers if layer.name != BY_HAND}
    assert set(layers.PROGRAMS) == above


@pytest.mark.parametrize("source", [source for _driver, source in layers.PROGRAMS.values()])
def test_a_program_uses_nothing_of_the_runner(source: str) -> None:
    text = (SOURCES / "layers" / source).read_text(encoding="utf-8")
    assert not re.search(
        r"^(?:from|import) (?:static )?(?:core|families|layers|adapters|rowpath)\b", text, re.MULTILINE
    )


def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "CHOSEN", ("java", "hybernate"))
    with pytest.raises(UsageError, match="unknown layer 'hybernate'"):
        next(layers.measure(None))  # type: ignore[arg-type]
