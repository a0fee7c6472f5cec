"""The coordinate `compression`: which paths there are, what shares an instance, and why others are refused."""

from __future__ import annotations

import dataclasses

import pytest

from rowpath.cli.plan import plan_for
from rowpath.errors import UsageError
from rowpath.model.experiment import Selection
from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.planning.selection import lattice, select, unmatched
from rowpath.recording import experiment as recording
from rowpath.runners.manifest import adapter_of, every_adapter

WITHOUT = {"pymysql", "sqlx-mysql", "connectorx"}  # PyMySQL and sqlx have none, connectorx documents none


def compressions(language: str, driver: str, **named: str) -> list[str]:
    wanted = {key: tuple(values.split()) for key, values in named.items()}
    return [path.compression for path in lattice(adapter_of(language, driver), wanted)]


def test_every_driver_that_documents_it_compresses_connections() -> None:
    over_servers = [each for each in every_adapter() if "mariadb" in each.engines and "server" in each.deployments]
    for adapter in over_servers:
        for engine in ("mariadb", "mysql"):
            wanted = {"compression": ("*",), "engine": (engine,), "deployment": ("server",)}
            found = {path.compression for path in lattice(adapter, wanted)}
            assert found == ({"none"} if adapter.driver in WITHOUT else {"none", "zlib"}), adapter.driver


def test_other_engines_of_such_a_driver_do_not() -> None:
    assert compressions("python", "pyodbc", compression="*", engine="postgresql") == ["none"]
    assert compressions("c", "drain", compression="*", engine="postgresql") == ["none"]
    assert compressions("c", "drain", compression="zlib", engine="mariadb") == ["zlib"]
    assert compressions("c", "libmariadbd", compression="*") == ["none"]
    assert not compressions("c", "libpq", compression="zlib")


def test_files_have_each_compression_that_is_written() -> None:
    assert compressions("python", "polars", compression="*", engine="parquet") == ["snappy", "zstd", "lz4"]
    assert compressions("c", "raw", compression="*", engine="arrow") == ["none", "zstd", "lz4"]
    assert compressions("python", "polars", compression="*", engine="csv") == ["none"]


def test_compressed_files_are_kept_apart_and_connections_share_a_server() -> None:
    def keys(language: str, driver: str, engine: str) -> set[object]:
        wanted = {"compression": ("*",), "engine": (engine,)}
        return {key_of(path) for path in lattice(adapter_of(language, driver), wanted)}

    assert len(keys("python", "polars", "parquet")) == 3
    assert len(keys("c", "libmariadb", "mariadb")) == 1


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ({"engine": "mariadb", "compression": "zstd"}, "MariaDB's protocol compresses with zlib only"),
        ({"engine": "mysql", "compression": "zstd"}, "MySQL's protocol has zstd since 8.0.18"),
        ({"driver": "libmariadb", "compression": "zstd"}, "MariaDB's protocol compresses with zlib only; MySQL's"),
        ({"engine": "mariadb", "compression": "lz4"}, "compression must be none or zlib"),
        ({"engine": "parquet", "compression": "zlib"}, "compression must be snappy or zstd or lz4"),
        ({"engine": "sqlite", "driver": "sqlite", "compression": "zstd"}, "these paths have no compression"),
    ],
)
def test_what_there_is_not_is_refused_in_plain_words(named: dict[str, str], why: str) -> None:
    selection = Selection(select=named)
    assert not select(selection)
    assert why in unmatched(selection).message


def test_a_filter_that_leaves_nothing_says_why() -> None:
    with pytest.raises(UsageError, match="MariaDB's protocol compresses with zlib only"):
        plan_for("bulk-retrieval", {"engine": ("mariadb",), "compression": ("zstd",)}, seed=1)


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown compression 'brotli'"):
        select(Selection(select={"engine": "parquet", "compression": "brotli"}))


def test_a_compressed_path_is_not_recorded() -> None:
    adapter = adapter_of("c", "libmariadb")
    (path,) = lattice(adapter, {"engine": ("mariadb",), "compression": ("zlib",)})
    plan = dataclasses.replace(
        plan_for("bulk-retrieval", {"engine": ("file",), "language": ("c",)}, seed=1),
        paths=(PlannedPath(path, adapter, ("keyed.read",), "p"),),
    )
    with pytest.raises(UsageError, match="cannot record p: no message can be read") as refused:
        recording.check(plan)
    assert refused.value.hint == "compression=none"


def test_no_path_has_it_unless_it_is_named() -> None:
    assert AccessPath.of({"engine": "mariadb"}).compression == "none"
    assert compressions("c", "libmariadb", engine="mariadb") == ["none"]
    (path,) = lattice(adapter_of("c", "libmariadb"), {"engine": ("mariadb",)})
    assert "compression" not in path.as_dict()
