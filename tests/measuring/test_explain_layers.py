"""Known answers of `rowpath explain` on a path with a layer: what a package was made to burn is that package's part."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from rowpath.checks.selftest.bench import Bench
from rowpath.errors import EnvironmentMissing
from rowpath.explain import py_spy
from rowpath.explain.explain import explain
from rowpath.machine import processes
from rowpath.model.explanation import Explanation
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import Layer

OWN, BELOW = 9000, 3000  # steps of equal work
PHASE = "films.search"
PACKAGE = """
import random

def deliver(steps, below):
    random.Random(7).choices((1, 2), k=steps)  # the work of a standard library that it calls
    return below()
"""
LAYER = """
import sys
sys.path.insert(0, {packages!r})

import burning_driver
import burning_layer

from core.layer import LayerAdapter

class Adapter(LayerAdapter):
    def open(self):
        pass

    def search(self, title):
        return burning_layer.deliver({own}, lambda: burning_driver.deliver({below}, list))

    def version(self):
        return {{}}
"""


@pytest.fixture(name="bench")
def bench_fixture(tmp_path: Path) -> Iterator[Bench]:
    tmp_path.chmod(0o711)
    bench = Bench(tmp_path)
    yield bench
    bench.close()
    processes.stop_all()


def burning(bench: Bench) -> PlannedPath:
    """A path whose layer takes OWN steps and calls a driver that takes BELOW, each in a package of its own."""
    packages = bench.directory / "site-packages"
    packages.mkdir()
    for name in ("burning_layer", "burning_driver"):
        (packages / f"{name}.py").write_text(PACKAGE)
    source = bench.directory / "burning.py"
    source.write_text(LAYER.format(packages=str(packages), own=OWN, below=BELOW))
    bare = bench.path("python", "sqlite3", PHASE, layer="burning")
    over = {"sqlite3": ("sqlite",)}
    layer = Layer("burning", str(source), over, "query layer", modules=("burning_layer",))
    adapter = msgspec.structs.replace(bare.adapter, layers=(layer,), modules=("burning_driver",))
    return PlannedPath(bare.path, adapter, (PHASE,), "burning")


def part(found: Explanation, name: str) -> float:
    return sum(part.ns for part in found.parts if (part.side, part.name) == ("client", name))


def burnt(bench: Bench, pairs: int) -> Explanation:
    planned = burning(bench)
    bench.build(planned)
    instance = bench.instance("sqlite", "embedded", durability="full")
    instance.load({})
    instance.own_copy(planned.path)
    return explain(planned, instance, bench.work(PHASE, "sqlite"), bench.directory, 60.0, print, pairs=pairs)


def test_a_layer_and_a_driver_that_burn(bench: Bench) -> None:
    found = burnt(bench, pairs=4)
    assert not found.not_profiled, found
    layer, driver = part(found, "burning_layer"), part(found, "burning_driver")
    assert layer / (layer + driver) == pytest.approx(OWN / (OWN + BELOW), abs=0.05), found
    assert layer + driver > 0.9 * sum(part.ns for part in found.parts if part.side == "client"), found
    assert found.adds_up, found


def test_without_its_profiler_the_layer_s_part_is_unknown(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def sampling(*_arguments: object) -> Iterator[None]:
        raise EnvironmentMissing("py-spy is missing", "rowpath doctor")
        yield

    monkeypatch.setattr(py_spy, "sampling", sampling)
    found = burnt(bench, pairs=1)
    assert found.not_profiled == "the layer's part is unknown: py-spy is missing (rowpath doctor)"
    assert not part(found, "burning_layer")
    assert part(found, "Python interpreter") > 0
