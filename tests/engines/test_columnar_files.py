"""Parquet and Arrow IPC files: written once, exactly typed, in the Python drivers' own environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.errors import RowpathError
from rowpath.model.path import AccessPath
from rowpath.workloads.workload_file import for_engine, load_workload
from tests.engines.life import loaded, place

ANY_PATH = AccessPath.of({"engine": "any"})


@pytest.mark.parametrize(
    ("name", "mark", "compression"), [("parquet", b"PAR1", "snappy"), ("arrow", b"ARROW1", "none")]
)
def test_files_are_written(tmp_path: Path, name: str, mark: bytes, compression: str) -> None:
    engine = ENGINES[name]
    assert engine.availability().ok
    instance = engine.instance("file", "none", place(tmp_path))
    instance.start()
    for workload_name, lacking in (("scan", []), ("types", ["types.c_interval"])):
        workload, left_out = for_engine(load_workload(workload_name), engine.supports)
        assert list(left_out) == lacking
        instance.load(loaded(workload))
    folder = Path(instance.options(ANY_PATH)["path"])
    assert sorted(file.name for file in folder.iterdir()) == [f"hits.{name}", f"types.{name}"]
    content = (folder / f"hits.{name}").read_bytes()
    assert content.startswith(mark) and content.endswith(mark)
    # An unpacked row has more than 40 bytes.
    assert (len(content) < 6071 * 40) == (compression == "snappy")
    assert instance.size_bytes() > len(content)
    facts = instance.facts()
    assert (facts["compression"], facts["batch_rows"]) == (compression, "65536")
    assert instance.pids() == []


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_what_could_not_be_written_is_named(tmp_path: Path, name: str) -> None:
    instance = ENGINES[name].instance("file", "none", place(tmp_path))
    instance.start()
    (Path(instance.options(ANY_PATH)["path"]) / f"hits.{name}").mkdir()
    with pytest.raises(RowpathError, match=rf"hits\.{name} could not be written"):
        instance.load(loaded(load_workload("scan")))
