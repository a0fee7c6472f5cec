"""An engine that a file outside src/ holds is an engine like ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath import engines
from rowpath.cli import doctor
from rowpath.cli import list as listing
from rowpath.engines import ENGINES, taped
from rowpath.engines.base import Wire
from rowpath.errors import UsageError
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.query_check import check_query
from rowpath.own_database.question import limited
from rowpath.own_database.target import read_target
from rowpath.runners import manifest
from rowpath.tape.format import Header, Tape, TapeRecords
from tests import fakes
from tests.unit.insides import forget_manifests


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Path]:
    """The toy's manifest, joined as `--adapters` joins it."""
    file = fakes.write_toy_engine(tmp_path)
    for engine in manifest.engine_files(file):
        engines.join_file(engine)
    manifest.add_external(file)
    yield file
    engines.leave("toy")
    forget_manifests()


def test_ours_are_what_the_package_holds() -> None:
    assert len(ENGINES) == len(set(ENGINES)) == 24
    assert "toy" not in ENGINES
    assert all(engine.name == name and engine.deployments for name, engine in ENGINES.items())


def test_it_is_listed_in_its_place(toy: Path) -> None:
    assert [*ENGINES][5:7] == ["duckdb", "toy"]
    assert "toy          embedded          Toy 1" in listing.engines()
    lines = list(listing.paths({"engine": ("toy",)}))
    assert lines
    assert all("driver=fake-honest" in line and "not here" not in line for line in lines)


def test_the_doctor_looks_at_it(toy: Path) -> None:
    found = {check.what: check.found for check in doctor.diagnose() if "toy" in check.what}
    assert found == {"toy": "Toy 1", "toy embedded · fake · fake-honest": "/usr/bin/env"}


def test_a_url_can_name_it_and_a_probe_has_paths_to_it(toy: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.toy"
    file.touch()
    target = read_target(f"toy://{file}", {})
    assert (target.engine, target.deployment, target.path) == ("toy", "embedded", file)
    found = candidates(Wanted(target.engine, target.deployment, Phase("query", "query", "SELECT 1")))
    assert [planned.adapter.driver for planned in found.paths] == ["fake-honest"]
    check_query("SELECT 1", "toy")
    assert limited("SELECT 1", "toy", 5).endswith("LIMIT 5")


def test_a_tape_holds_it_where_it_names_the_protocol(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ENGINES["toy"]
    tape = Tape(Path("a.tape"), Header("toy", "1", "now"), TapeRecords("mysql").content())
    with pytest.raises(UsageError, match="its header names toy, its records follow another protocol"):
        taped.put_in(tape)
    wire = Wire("mysql", socket_name="toy.{port}", socket_folder=True)
    monkeypatch.setattr(engine, "wire", wire, raising=False)
    assert taped.wire_of(engine, tape) == wire
    socket = wire.socket(Path("/run/x"), 5)
    assert socket == wire.named_socket("/run/x", 5) == Path("/run/x/toy.5")
    assert wire.socket_options(socket) == {"socket_dir": "/run/x"}


def test_a_tape_of_no_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="its header names toy"):
        taped.put_in(Tape(Path("a.tape"), Header("toy", "1", "now"), TapeRecords("mysql").content()))


def test_its_name_is_taken_once(toy: Path) -> None:
    with pytest.raises(UsageError, match="'toy' exists already"):
        engines.join_file(fakes.HERE / "toy_engine.py")
    with pytest.raises(UsageError, match="no ENGINE"):
        engines.join_file(fakes.HERE / "runner.py")


def test_it_is_gone_when_it_left(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown URL scheme 'toy'"):
        read_target(f"toy://{tmp_path}", {})
