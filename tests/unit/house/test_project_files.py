"""What other people expect of a project: its version in one form everywhere, pinned workflows, forms, an image."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import rowpath

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(file for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if file.stem != "config")
IMAGE = ROOT / ".ci" / "Containerfile"
PAGES = [ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def loaded(file: Path) -> dict[Any, Any]:
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_version_is_the_same_everywhere() -> None:
    version = rowpath.__version__
    assert tomllib.loads(text("pyproject.toml"))["project"]["version"] == version
    assert re.findall(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[0] == version
    assert str(loaded(ROOT / "CITATION.cff")["version"]) == version


def test_a_citation_has_what_the_format_demands() -> None:
    citation = loaded(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "license", "date-released"} <= citation.keys()
    released = re.search(rf"^## {re.escape(rowpath.__version__)} \((\S+)\)", text("CHANGELOG.md"), re.MULTILINE)
    assert released and released[1] == str(citation["date-released"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_one_page_and_its_links_lead_somewhere(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    assert len(written.splitlines()) <= 80 and not [line for line in written.splitlines() if len(line) > 120]
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", written):
        assert (ROOT / link).exists(), link


def test_contributing_names_every_target_that_tests() -> None:
    page = text("CONTRIBUTING.md")
    named = {each for each in TARGETS if each.startswith("test") or each in ("check", "docs", "fuzz")}
    assert {f"make {each}" for each in named} <= set(re.findall(r"make [a-z-]+", page))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_pins_what_it_uses_and_asks_for_its_rights(file: Path) -> None:
    workflow = loaded(file)
    assert workflow["permissions"] in ({}, {"contents": "read"})
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"]
        for step in job["steps"]:
            assert "uses" not in step or re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step
            assert "${{" not in step.get("run", ""), "a script must not interpolate"


def test_workflows_run_what_the_makefile_and_the_image_have() -> None:
    runs = {file.stem: "\n".join(str(job) for job in loaded(file)["jobs"].values()) for file in WORKFLOWS}
    assert set(runs) == {"test", "nightly", "release"}
    for run in runs.values():
        assert {*re.findall(r"(?:make|\.ci/run) ([a-z-]+)", run)} <= TARGETS
        assert all((ROOT / name).is_file() for name in re.findall(r"--file (\S+)", run))
    assert ".ci/run test-all" in runs["nightly"]
    assert "-m build " in runs["release"] and "attest-build-provenance" in runs["release"]


def test_the_image_runs_what_continuous_integration_runs() -> None:
    image = IMAGE.read_text(encoding="utf-8")
    assert image.rstrip().endswith('CMD [".ci/run"]')
    assert "scripts/install-packages.sh && make setup" in image
    assert "Untested" in image
    least = dict(re.findall(r"(Go|Node|Rust) (\d+(?:\.\d+)?)", text("README.md")))
    for name, tag in re.findall(r"^FROM (\w+):([\d.]+)-bookworm", image, re.MULTILINE):
        wanted = [int(part) for part in least[{"golang": "Go"}.get(name, name.title())].split(".")]
        assert [int(part) for part in tag.split(".")] >= wanted, name


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_a_form_has_what_github_demands(file: Path) -> None:
    form = loaded(file)
    assert {"name", "description", "body"} <= form.keys()
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids)
    assert all(field["type"] in ("input", "textarea") and field["attributes"]["label"] for field in form["body"])


def test_forms_about_behaviour_ask_for_a_run_or_a_tape() -> None:
    fields = {file.stem: {field["id"]: field for field in loaded(file)["body"]} for file in FORMS}
    assert set(fields) == {"driver", "error", "figure"}
    for name in ("error", "figure"):
        evidence = fields[name]["evidence"]
        assert evidence["attributes"]["label"] == "Run directory or tape"
        assert evidence["validations"]["required"]
