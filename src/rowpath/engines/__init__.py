"""The engines by name; each module is imported when it is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from types import ModuleType

from typing_extensions import override

from rowpath.engines.base import Engine

MODULES = {
    "sqlite": "sqlite",
    "derby": "jvm.derby",
    "h2": "jvm.h2",
    "hsqldb": "jvm.hsqldb",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "mariadb": "mariadb",
    "mysql": "mysql",
    "oracle": "external.oracle",
    "ibmi": "external.ibmi",
    "berkeleydb": "files.berkeleydb",
    "lmdb": "files.lmdb",
    "cobol": "files.cobol",
    "parquet": "files.parquet",
    "arrow": "files.arrow",
    "spl": "files.spl",
    "file": "files.delimited",
    "jdbc": "external.jdbc",
    "odbc": "external.odbc",
    "null": "null",
}
NAMES = tuple(MODULES)


def module_of(name: str) -> ModuleType:
    """The module of an engine; KeyError for a name that is not in NAMES."""
    return importlib.import_module(f"rowpath.engines.{MODULES[name]}")


class _Engines(Mapping[str, Engine]):
    """KeyError for a name that is not in NAMES."""

    @override
    def __getitem__(self, name: str) -> Engine:
        engine: Engine = module_of(name).ENGINE
        return engine

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    @override
    def __len__(self) -> int:
        return len(NAMES)


ENGINES: Mapping[str, Engine] = _Engines()
