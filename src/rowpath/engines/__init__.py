"""The engines by name: those of this package, and those that a program joins to them.

In flow the coordinates of a path (engine, deployment, durability, version, storage), a `Place` to work in and tables;
out come a running instance, what `open` gets to reach it, statements in the engine's dialect, and facts. `base` says
what an engine and an instance must offer, `sql_dialect` how those with SQL spell a table.

- An instance is a private server (`server`), a database in the client's process (`embedded`), a folder of files
  (`table_files`, `record_files`), a server of others (`external_server`), or a tape (`taped`).
- Who cannot load a table by itself does so through a driver: `load_through_runner`. `backup` keeps and restores it.
- Each kind is the `ENGINE` of a module or package, or one of a module's `FAMILY`: `sqlite`, `duckdb`, `derby`, `h2` and
  `hsqldb` (with `jvm_engine`), `postgresql`, `mariadb` and `mysql`, `external_engines`, `ibmi_stand_in`, and `null`.
- `probe_facts` is for databases that are not Rowpath's, `by_hand` for servers that a user starts to look at.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Engine, Fetchable
from rowpath.errors import UsageError

_joined: dict[str, Engine] = {}


def join(engine: Engine) -> None:
    """Take one more engine beside ours, for as long as this process lives. UsageError when its name is taken."""
    if engine.name in ENGINES:
        raise UsageError(f"the engine '{engine.name}' exists already", "give it another name")
    _joined[engine.name] = engine


def stand_in(engine: Engine) -> None:
    """Take an engine instead of Rowpath's of the same name, for as long as this process lives."""
    _joined[engine.name] = engine


def join_file(file: Path) -> None:
    """Take the `ENGINE` of a Python file, which runs as the user. Errors: UsageError."""
    if not file.is_file():
        raise UsageError(f"there is no engine file {file}", "name it in engine_files, relative to the manifest")
    spec = importlib.util.spec_from_file_location(f"rowpath_engine_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not hasattr(module, "ENGINE"):
        raise UsageError(f"{file} has no ENGINE", "ENGINE = MyEngine() at its end")
    join(module.ENGINE)


def leave(name: str) -> None:
    """Take back a `join`."""
    del _joined[name]


@functools.cache
def _ours() -> dict[str, Engine]:
    """The `ENGINE` of every module and package here, and the engines of its `FAMILY`, by name."""
    engines: list[Engine] = []
    for part in pkgutil.iter_modules(__path__, f"{__name__}."):
        module: Any = importlib.import_module(part.name)
        engines += [*getattr(module, "FAMILY", ()), *([module.ENGINE] if hasattr(module, "ENGINE") else [])]
    return {engine.name: engine for engine in engines}


class _Engines(Mapping[str, Engine]):
    """The engines in the order of `Engine.order`; KeyError for an unknown name."""

    @override
    def __getitem__(self, name: str) -> Engine:
        return _joined[name] if name in _joined else _ours()[name]

    @override
    def __iter__(self) -> Iterator[str]:
        engines = (_ours() | _joined).values()
        return (engine.name for engine in sorted(engines, key=lambda engine: (engine.order, engine.name)))

    @override
    def __len__(self) -> int:
        return len(_ours() | _joined)


ENGINES: Mapping[str, Engine] = _Engines()


def optional_downloads() -> dict[str, Fetchable]:
    """What is fetched on request only, by name: engines that are themselves fetched, `downloads` of every engine."""
    downloads: dict[str, Fetchable] = {}
    for name, engine in ENGINES.items():
        downloads |= {name: engine, **engine.downloads} if isinstance(engine, Fetchable) else engine.downloads
    return downloads
