"""A language that only a folder outside src/ describes is a language like ours."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from rowpath.cli import doctor
from rowpath.cli import list as listing
from rowpath.errors import UsageError
from rowpath.explain import flames, py_spy
from rowpath.explain.parts import LOOP, UNKNOWN, part_of
from rowpath.explain.perf import counted
from rowpath.journal.records import PathRecord
from rowpath.model.experiment import Experiment, Selection
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.target import Target
from rowpath.planning.client_groups import only_alone
from rowpath.planning.experiment_file import load_workloads
from rowpath.planning.make_plan import make_plan
from rowpath.probe.snippets import snippet
from rowpath.runners import driver_facts, manifest, source_lines
from rowpath.site.contents import Site
from rowpath.site.read import examine_all
from tests import fakes
from tests.script import script
from tests.unit import journal_factory, site_factory
from tests.unit.insides import forget_manifests

RUNNERS = Path(__file__).parents[3] / "runners"
PARTS = ("core", "families", "adapters", "snippets", "templates")  # of a language of ours


@pytest.fixture
def toy() -> Iterator[manifest.Adapter]:
    """The toy language's adapter, as long as the test lasts."""
    manifest.add_external(fakes.TOY_LANGUAGE)
    yield manifest.adapter_of("toy", "toy-sqlite")
    forget_manifests()


def test_ours_are_the_folders_with_a_header() -> None:
    folders = {folder.name for folder in RUNNERS.iterdir() if folder.is_dir()} - {"example"}
    assert len(folders) > 5
    assert manifest.languages() == tuple(sorted(folders))
    for name in manifest.languages():
        header = manifest.language(name)
        assert [part for part in PARTS if not (RUNNERS / name / part).is_dir()] == []
        assert Path(inspect.getfile(cast("ModuleType", manifest.toolchain(name)))) == RUNNERS / name / "toolchain.py"
        assert (header.name, Path(header.folder).name) == (name, name)
        assert header.title
        assert header.source_suffix
        assert header.shortest_operation_ns
        assert header.null_operation_ns
        manifest.adapter_of(name, header.selftest_driver)
        templates = [
            f"{driver.template or key}{header.source_suffix}.j2" for key, driver in header.snippets.drivers.items()
        ]
        files = {file.name for file in (Path(header.folder) / "snippets").iterdir() if file.is_file()}
        assert {name for name in files if not name.startswith("_")} == set(templates)  # the others are parts of these


def test_an_unknown_language_has_defaults() -> None:
    header = manifest.language("zig")
    assert (header.name, header.warm_least_s, header.shortest_operation_ns) == ("zig", (0.2, 0.1), 0)
    assert header.lead_in_ns(1) == 1
    assert header.title == "Zig"
    assert part_of("f", "/cache/zig-driver", "zig") == LOOP
    assert part_of("f", "[JIT] tid 1", "zig") == UNKNOWN


def test_it_is_listed(toy: manifest.Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = list(listing.paths({"language": ("toy",)}))
    assert lines
    assert all("driver=toy-sqlite" in line and "not here" not in line for line in lines)
    monkeypatch.setattr(driver_facts, "every_adapter", lambda: iter([toy]))
    assert any(line.startswith("toy toy-sqlite ") for line in listing.drivers())


def test_the_doctor_looks_at_it(toy: manifest.Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "every_adapter", lambda: iter([toy]))
    found = [check for check in doctor.diagnose() if "toy" in check.what]
    assert [(check.what, check.state) for check in found] == [("sqlite embedded · toy · toy-sqlite", "ok")]


def test_its_lines_are_counted(toy: manifest.Adapter) -> None:
    assert source_lines.lines_of_code(toy, "sqlite") == (6, 6)


def test_it_is_planned(toy: manifest.Adapter) -> None:
    experiment = Experiment(1, "toys", "Toys", ("scan.read",), (Selection(select={"language": "toy"}),))
    plan = make_plan(experiment, load_workloads(experiment), {}, seed=1)
    assert [(planned.name, planned.phases) for planned in plan.paths] == [("sqlite toy toy-sqlite", ("scan.read",))]


def test_its_header_keeps_it_out_of_client_groups(toy: manifest.Adapter) -> None:
    from rowpath.planning.experiment_file import load_experiment

    groups = load_experiment("reads-writes-backup").experiment
    assert only_alone(toy, AccessPath.of({}), groups) == "the runner of Toy does not support client groups"


@pytest.mark.usefixtures("toy")
def test_a_probe_tries_it_and_shows_its_program() -> None:
    phase = Phase("query", "query", "SELECT 1")
    found = candidates(Wanted("sqlite", "embedded", phase, languages=("toy",), read_only=True))
    assert [planned.adapter.driver for planned in found.paths] == ["toy-sqlite"]
    target = Target("sqlite", "embedded", path=Path("/data/it.db"))
    made = snippet("sqlite toy", found.paths[0].path.as_dict(), target, "SELECT 1", [])
    assert made is not None
    assert (made.language, made.file, made.run) == ("toy", "fastest-toy.toy", "toy fastest-toy.toy --with sqlite")
    assert made.text == f'open "{target.path}" and show `SELECT 1`\n'


PERF = """\
   4242     7f12ab execute (/opt/toy/bin/toy)
   4242     7f12ac grow (/opt/toy/lib/libtoy-2.so)
   4242     7f12ad [unknown] (/tmp/perf-4242.map)
   4242     7f12ae PQgetvalue (/usr/lib/libpq.so.5.18)
"""


@pytest.mark.usefixtures("toy")
def test_explain_names_its_parts_of_the_time() -> None:
    found = counted(PERF.splitlines(), {4242: "toy"})
    assert found == {4242: Counter({"Toy interpreter": 2, "Toy code (compiled)": 1, "libpq": 1})}


def test_explain_samples_its_call_stacks_by_what_its_header_names(toy: manifest.Adapter) -> None:
    path = AccessPath.of({"language": toy.language})
    worker: Any = SimpleNamespace(planned=SimpleNamespace(path=path))
    assert flames.sampler_of(worker, "client", 0) == py_spy.HOW
    assert flames.sampler_of(worker, "server", 0) == flames.HOW["perf"]


def test_the_site_calls_a_language_as_its_runs_do(tmp_path: Path) -> None:
    records = site_factory.records(site_factory.MadeRun("2026-01-15"))
    for each in records:
        if each["record"] == "path" and each["coordinates"]["language"] == "python":
            each["language_title"] = "Toy"
    (found,) = examine_all([journal_factory.write(tmp_path, records)], None)
    assert found.run is not None
    site = Site([found.run])
    assert site.languages == {"c": "C", "java": "Java", "python": "Toy"}
    links = [site.driver_link(driver).text for driver in site.drivers if driver[0] == "python"]
    assert links == ["psycopg (Toy)", "sqlite3 (Toy)"]


def test_records_without_a_title_have_the_one_of_their_time() -> None:
    known = [PathRecord("p", "a path", {"language": each}) for each in ("c", "csharp", "go", "node")]
    assert [record.language_as_written for record in known] == ["C", "C#", "Go", "Node"]
    assert [record.in_baseline for record in known] == [True, False, False, False]


@pytest.mark.usefixtures("toy")
def test_it_is_in_the_docs_tables() -> None:
    tables = script("docs_tables")
    shown = tables.BLOCKS["capability-coordinates"](manifest.every_adapter(), {})
    assert "| toy toy-sqlite | sqlite | embedded | query | statement: prepared |" in shown


def test_a_language_that_is_there_is_not_added_again(tmp_path: Path) -> None:
    file = tmp_path / "adapters.toml"
    file.write_text(fakes.TOY_LANGUAGE.read_text().replace('name = "toy"', 'name = "java"'))
    with pytest.raises(UsageError, match="language 'java' already exists"):
        manifest.add_external(file)
