"""The documentation is complete: everything that a user can meet has its place, and the examples work."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from rowpath.analysis.findings import RULES
from rowpath.analysis.model import Result
from rowpath.checks.selftest import TESTS
from rowpath.cli import arguments
from rowpath.cli import options as cli_options
from rowpath.errors import UsageError
from rowpath.journal.records import AnyRecord
from rowpath.model.base import Status
from rowpath.model.claims import Claim, Consistency, PublishedColumn
from rowpath.model.experiment import Experiment, Measure, Selection
from rowpath.model.metrics import METRICS
from rowpath.model.path import COORDINATES
from rowpath.model.workload import Column, Parameters, Phase, Table, Workload
from rowpath.planning import experiment_file
from rowpath.planning.experiment_file import read_experiment
from rowpath.planning.selection import coordinate_names, select
from rowpath.report.tracked import measure
from rowpath.workloads import workload_file as workloads

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "runners" / "PROTOCOL.md"])
GENERATED = ("capabilities.md", "command-line.md")  # by a run of the conformance suite, from the parsers
EXAMPLE = re.compile(r"```toml\n(# (my-[a-z]+\.toml)\n.*?)```", re.DOTALL)


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def headings(name: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", page(name), re.MULTILINE)


def in_code(name: str) -> set[str]:
    """Every word in backquotes of a page."""
    return set(re.findall(r"`([^`\n]+)`", page(name)))


@pytest.mark.parametrize("finding", RULES)
def test_every_finding_has_a_heading(finding: str) -> None:
    assert finding in headings("findings.md")


def test_every_metric_has_a_heading_with_its_unit() -> None:
    assert headings("metrics.md")[1:] == list(METRICS)
    for metric in METRICS.values():
        text = page("metrics.md").partition(f"\n## {metric.name}\n")[2]
        assert text.startswith(metric.unit), metric.name


def test_known_answer_tests_are_numbered_in_their_order_everywhere() -> None:
    found = [re.fullmatch(r"(\d+)\. (.+)", heading) for heading in headings("method.md")]
    assert [(int(match.group(1)), match.group(2)) for match in found if match] == list(enumerate(TESTS, 1))
    for number, (name, test) in enumerate(TESTS.items(), 1):
        module, _, function = test.partition(".")
        check = getattr(importlib.import_module(f"rowpath.checks.selftest.{module}"), function)
        assert check.__doc__.startswith(f"{number}: "), name


def test_every_coordinate_is_in_the_table() -> None:
    assert set(COORDINATES) | {"label"} <= in_code("experiments.md")
    own = set(coordinate_names()) - set(COORDINATES) - {"label"}
    assert own <= in_code("experiments.md"), own


@pytest.mark.parametrize("noun", [Experiment, Measure, Selection, Workload, Table, Column, Phase, Parameters])
def test_every_key_of_a_toml_file_is_in_a_table(noun: type[msgspec.Struct]) -> None:
    assert set(noun.__struct_fields__) <= in_code("experiments.md")


@pytest.mark.parametrize("noun", [Claim, Consistency, PublishedColumn])
def test_every_key_of_claims_is_shown(noun: type[msgspec.Struct]) -> None:
    for field in noun.__struct_fields__:
        assert re.search(rf"\b{field}\b", page("claims.md")), field


def test_defaults_of_measuring_are_as_documented() -> None:
    stated = dict(re.findall(r"^\| `(\w+)` \| `?([^|`]+)`? \|", page("experiments.md"), re.MULTILINE))
    for key, value in msgspec.structs.asdict(Measure()).items():
        assert json.loads(stated[key]) == (list(value) if isinstance(value, tuple) else value), key


def test_every_field_and_status_of_the_results_is_explained() -> None:
    assert set(Result.__struct_fields__) <= in_code("exports.md")
    assert set(get_args(Status)) <= in_code("glossary.md")


def test_every_export_and_every_tracked_metric_is_explained() -> None:
    options = re.findall(r"^\| `(--export-[a-z-]+) FILE` \|", page("exports.md"), re.MULTILINE)
    assert set(options) == set(cli_options.SHARED_EXPORTS)
    rows = [re.findall(r"`([a-z0-9_-]+)`", line) for line in page("exports.md").splitlines() if line.startswith("| `")]
    for metric in (name for name, record in METRICS.items() if record.tracked or record.compared):
        assert any(metric in row and measure(metric) in row for row in rows), metric


def test_every_exit_code_is_documented_where_the_command_line_says_it() -> None:
    codes = re.findall(r"^  (\d+) ", arguments.EXIT_CODES, re.MULTILINE)
    assert codes == re.findall(r"^\| (\d+) \|", page("architecture.md").partition("## Exit codes")[2], re.MULTILINE)


def test_every_workload_and_experiment_is_named() -> None:
    named = in_code("experiments.md")
    assert set(experiment_file.names()) <= named
    for name in workloads.names():
        phases = {phase.name for phase in workloads.load_workload(name).phases}
        assert {name} | phases <= named, name


def test_every_record_of_the_journal_is_documented() -> None:
    written = set(re.findall(r"^- `([a-z-]+)`:", page("journal.md"), re.MULTILINE))
    read = {record.__struct_config__.tag for record in get_args(AnyRecord)}
    assert read <= written


def test_every_variable_is_in_the_architecture() -> None:
    source = ROOT / "src" / "rowpath"
    variables = set()
    for file in [*source.rglob("*.py"), *(ROOT / "scripts").glob("*.sh")]:
        variables |= set(re.findall(r"\bROWPATH_[A-Z_]+\b", file.read_text(encoding="utf-8")))
    assert variables <= in_code("architecture.md")


def test_every_document_that_is_named_exists() -> None:
    for file in PAGES:
        for name in re.findall(r"\b((?:docs|runners|schemas|src|tests|web)/[\w/.-]+\.\w+)", file.read_text()):
            assert (ROOT / name).exists(), f"{file.name} names {name}"


def anchors(page: Path) -> set[str]:
    """What GitHub makes of a page's headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def links(page: Path) -> list[str]:
    """Every target of a link that is no URL."""
    return re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{page.name} links to {link}"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {link}"


def test_a_reader_who_begins_at_the_readme_finds_every_page() -> None:
    found, new = set[Path](), {ROOT / "README.md"}
    while new:
        found |= new
        targets = {(page.parent / link.partition("#")[0]).resolve() for page in new for link in links(page)}
        new = targets.intersection(PAGES) - found
    assert set(PAGES) == found


def test_the_site_leads_to_every_page() -> None:
    listed = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES if page.is_relative_to(DOCS)}
    assert {*pages, "index.md", "protocol.md"} == set(listed)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documents_name_each_other_by_links(page: Path) -> None:
    if page.name in GENERATED:
        return
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`|\[[^]]*\]\([^)]*\)", "", text)
    assert not re.findall(r"[\w/-]+\.md\b", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_have_at_most_120_characters(page: Path) -> None:
    if page.name in GENERATED:
        return
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^<!-- begin result.*?^<!-- end result", "", text, flags=re.MULTILINE | re.DOTALL)
    # What a program printed stands in blocks without a language; a row of a table is one line.
    text = re.sub(r"^```(\S*)\n(.*?)^```$", lambda block: block[2] if block[1] else "", text, flags=re.M | re.S)
    assert not [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")]


def test_every_option_that_is_named_exists() -> None:
    known = {"--help", "--version"}
    for parser in arguments.commands().values():
        known |= set(re.findall(r"--[a-z-]+", parser.format_help()))
    for file in PAGES:
        for words in re.findall(r"rowpath ([a-z]+[^`\n]*)", file.read_text(encoding="utf-8")):
            assert set(re.findall(r"(?<!\S)--[a-z-]+", words)) <= known, (file.name, words)


def test_no_page_leans_on_anything_outside_the_project() -> None:
    for file in PAGES:
        assert not re.search(r"\.\./shared|/work\b", file.read_text(encoding="utf-8")), file


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A directory with the files that docs/experiments.md shows."""
    for text, name in EXAMPLE.findall(page("experiments.md")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_examples_read_and_select_paths(examples: Path) -> None:
    experiment, workloads = read_experiment(examples / "my-experiment.toml")
    for selection in experiment.paths:
        assert select(selection), selection
    assert experiment.claims
    assert experiment.published
    assert set(workloads) == {"keyed", "small", "null"}


def test_the_mistake_that_is_shown_is_reported_so(examples: Path) -> None:
    file = examples / "my-experiment.toml"
    file.write_text(file.read_text().replace("rounds =", "round ="), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_experiment(file)
    shown = f"error: {caught.value.message}\n\nhint: {caught.value.hint}\n".replace(f"{examples}/", "")
    assert shown in page("experiments.md")


def test_the_codecs_table_agrees_with_the_vectors() -> None:
    vectors = json.loads((ROOT / "tests" / "conformance" / "codec_vectors.json").read_text())
    known = {vector["bytes"]: vector["hash"] for vector in vectors["values"]}
    shown = re.findall(r"\| `([0-9a-f]+)` \| `([0-9a-f]{16})` \|", page("codec.md"))
    assert len(shown) > 10
    for encoded, hashed in shown:
        assert known[encoded] == hashed
    assert {vector["bytes"][:2] for vector in vectors["values"]} - {"00"} == {
        tag.lower() for tag in re.findall(r"\| `([0-9A-F]{2})` `\w` \|", page("codec.md"))
    }
