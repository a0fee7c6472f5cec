"""Row classes, tasks of psycopg, and event loops: the same rows, read as a program reads them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.postgresql import Postgresql
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import workload_file
from tests.runners.python.engines import postgresql_fixture  # noqa: F401
from tests.runners.python.talk import ADAPTERS, Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401
from tests.runners.python.test_adapters import EVERY_WORKLOAD, check_every_phase

sys.path.append(str(Path(__file__).parents[3] / "runners" / "python"))
from core.codec import Column
from core.operation import Operation
from core.sampler import Sampler

NAMED = tuple(name for name in EVERY_WORKLOAD if name != "aggregate")  # its columns have no names of ours
CLASSES = [
    (driver, rows) for driver in ("psycopg", "psycopg2", "asyncpg") for rows in ADAPTERS[driver].coordinates["rows"]
]


@pytest.mark.parametrize(("driver", "rows"), CLASSES)
def test_every_class_has_the_same_rows(
    kept: Callable[..., Talk], postgresql: dict[str, Any], driver: str, rows: str
) -> None:
    talk = kept(driver)
    first = {key: values[0] for key, values in ADAPTERS[driver].coordinates.items() if key in ("statement", "format")}
    talk.open(**postgresql, **first, transport="unix", tls="off", rows=rows)
    check_every_phase(talk, Postgresql(), NAMED)


@pytest.mark.parametrize("result", ["cursor:1000", "whole"])
@pytest.mark.parametrize(("driver", "rows"), [("psycopg", "object"), ("psycopg2", "dict"), ("asyncpg", "dict")])
def test_cursors_and_blocks_hand_over_the_class_too(
    kept: Callable[..., Talk], postgresql: dict[str, Any], driver: str, rows: str, result: str
) -> None:
    talk = kept(driver)
    fetch = "block:100" if result == "whole" else "row"
    statement = "text" if driver == "psycopg2" else "bound"
    talk.open(**postgresql, statement=statement, result=result, fetch=fetch, transport="unix", tls="off", rows=rows)
    check_every_phase(talk, Postgresql(), ("scan", "keyed"))


class Asked(dict[str, int]):
    """A row that notes which values are read, and has no others."""

    def __init__(self, **values: int) -> None:
        super().__init__(values)
        self.read: list[str] = []

    def __getitem__(self, key: str) -> int:
        self.read.append(key)
        return super().__getitem__(key)

    def __iter__(self) -> Any:
        raise AssertionError("no row is read in order")


def test_each_value_of_a_row_is_read_by_its_name_in_the_clock() -> None:
    row = Asked(b=20, a=1)
    operation = Operation(lambda _argument: [row])
    operation.reads = ["['a']", "['b']"]
    columns = [Column({"name": name, "type": "integer"}) for name in ("a", "b")]
    sampler = Sampler("query", columns, operation)
    assert sampler.by_count(0, 0, 3)[3:5] == (3, 63)
    assert row.read == ["a", "b"] * 3
    assert (sampler.verify(0, 1, 10)["rows"], row.read[6:]) == (1, ["a", "b"])


def test_two_columns_of_one_name_are_refused(kept: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    talk = kept("psycopg")
    talk.open(**postgresql, statement="prepared", transport="unix", tls="off", rows="dict")
    keyed = workload_file.load_workload("keyed")
    columns = [{"name": "KEY1", "type": "char", "length": 10}] * 2
    with pytest.raises(RunnerFailure, match="two columns have one name") as caught:
        talk.prepare(keyed, keyed.phase("read"), columns=columns)
    assert caught.value.kind == "unsupported"


@pytest.mark.parametrize(
    "coordinates",
    ["prepared row text tuned", "bound block:100 binary tuned", "text row text tuned", "prepared row text shipped"],
)
def test_psycopg_by_tasks(kept: Callable[..., Talk], postgresql: dict[str, Any], coordinates: str) -> None:
    names = ("statement", "fetch", "format", "profile")
    chosen = dict(zip(names, coordinates.split(), strict=True))
    talk = kept("psycopg")
    reply = talk.open(**postgresql, **chosen, transport="unix", tls="off", concurrency="tasks", rows="dict")
    assert Path(f"/proc/{reply.server_pid}").exists()
    check_every_phase(talk, Postgresql(), NAMED)
    settings = talk.facts().settings
    assert settings["event_loop"] == "_UnixSelectorEventLoop"
    assert settings["autocommit"] == ("off" if chosen["profile"] == "shipped" else "on")


@pytest.mark.parametrize("clients", [1, 8])
@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
def test_the_loop_is_uvloop_where_it_is_named(
    start: Callable[..., Talk], postgresql: dict[str, Any], driver: str, clients: int
) -> None:
    """Its library is mapped into the process, and without it the loop is asyncio's."""
    talk = start(driver, loop="uvloop")
    options = {**postgresql, "statement": "prepared", "transport": "unix", "tls": "off", "concurrency": "tasks"}
    for loop, expected in (({}, "_UnixSelectorEventLoop"), ({"loop": "asyncio"}, "_UnixSelectorEventLoop")):
        talk.open(**options, **loop)
        assert talk.facts().settings["event_loop"] == expected
    maps = Path(f"/proc/{talk.runner.pid}/maps")
    assert "uvloop" not in maps.read_text()
    talk.open(**options, loop="uvloop", clients=str(clients))
    assert talk.facts().settings["event_loop"] == "uvloop.Loop"
    assert "uvloop" in maps.read_text()
    check_every_phase(talk, Postgresql(), ("keyed",))
