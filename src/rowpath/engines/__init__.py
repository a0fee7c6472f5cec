"""The engines by name; each module is imported when it is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from rowpath.engines.base import Engine

NAMES = (
    "sqlite",
    "derby",
    "h2",
    "hsqldb",
    "duckdb",
    "postgresql",
    "mariadb",
    "mysql",
    "oracle",
    "ibmi",
    "berkeleydb",
    "lmdb",
    "cobol",
    "parquet",
    "arrow",
    "spl",
    "file",
    "jdbc",
    "odbc",
    "null",
)


class _Engines(Mapping[str, Engine]):
    """KeyError for a name that is not in NAMES."""

    def __getitem__(self, name: str) -> Engine:
        if name not in NAMES:
            raise KeyError(name)
        engine: Engine = importlib.import_module(f"rowpath.engines.{name}").ENGINE
        return engine

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


ENGINES: Mapping[str, Engine] = _Engines()
