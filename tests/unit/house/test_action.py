"""The GitHub Action with a stand-in for Rowpath: its form, what it makes of inputs, what it leaves."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import composite_action
from tests.composite_action import ACTION, EXPRESSION, ROOT, Ended, definition

PAGE = ROOT / "docs" / "hold-a-driver.md"
RELEASE, DRIVER = "42.7.8", "pgjdbc"
# Records its arguments, writes the prepared files, and exits with the command's prepared code.
STAND_IN = """
import json, os, sys
told = json.load(open(os.environ["TOLD"]))
words = sys.argv[1:]
with open(os.environ["TOLD"] + ".calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
print("::set-env name=PATH::/evil")
exported = json.dumps(told["json"].get(words[0]))
for option, text in (("--export-json", exported), ("--export-markdown", told["markdown"])):
    if option in words:
        open(words[words.index(option) + 1], "w").write(text)
sys.exit(told["codes"].get(words[0], 0))
"""


def result(version: str, status: str = "ok", phase: str = "read", reason: str = "why") -> dict[str, Any]:
    path = {"driver": DRIVER, "language": "java", "version": version}
    return {"path": path, "name": "a `path`", "workload": "keyed", "phase": phase, "status": status, "reason": reason}


class Workspace:
    """A checkout with a build in it, and what the stand-in is to do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        (self.folder / "mine-1.jar").touch()
        self.build = str(self.folder / "mine-1.jar")
        program = folder / "stand_in.py"
        program.write_text(STAND_IN, encoding="utf-8")
        self.action = composite_action.repository(folder / "repository", f"'{sys.executable}' '{program}'")
        self.told = folder / "told.json"
        self.export: dict[str, Any] = {"dropped": [], "results": [result(RELEASE), result(self.build)]}
        self.codes: dict[str, int] = {}
        self.comparison: dict[str, Any] = {"rows": [{"outcome": "faster"}], "gates": [{"undecided": 0}]}

    def run(self, **given: str) -> Ended:
        json_of = {"run": self.export, "compare": self.comparison}
        told = {"json": json_of, "markdown": "**the verdict**\n", "codes": self.codes}
        self.told.write_text(json.dumps(told), encoding="utf-8")
        inputs = {"driver": DRIVER, "release": RELEASE, "build": "mine-*.jar"} | given
        return composite_action.run(self.action, self.folder, inputs, {"TOLD": str(self.told)})

    @property
    def calls(self) -> list[list[str]]:
        """The words of every command but the first, which sets up."""
        lines = Path(f"{self.told}.calls").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines][1:]


@pytest.fixture(name="workspace")
def workspace_fixture(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_it_is_a_composite_action_whose_scripts_interpolate_nothing() -> None:
    defined = definition()
    assert defined["runs"]["using"] == "composite"
    for step in defined["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]


def test_every_expression_names_something_that_exists() -> None:
    defined = definition()
    known = {f"inputs.{name}" for name in defined["inputs"]} | {"github.action_path"}
    known |= {f"steps.{step['id']}.outputs.{name}" for step in defined["runs"]["steps"] if "id" in step
              for name in ("result", "report")}  # fmt: skip
    used = set(EXPRESSION.findall((ACTION / "action.yml").read_text(encoding="utf-8")))
    assert used <= known
    assert {f"inputs.{name}" for name in defined["inputs"]} <= used, "an input that reaches no step"


def test_it_runs_the_rowpath_of_its_own_repository() -> None:
    (place,) = {step["env"]["ROWPATH"] for step in definition()["runs"]["steps"]}
    command = Path(place.replace("${{ github.action_path }}", str(ACTION)))
    assert command.resolve() == ROOT / "rowpath"
    assert os.access(command, os.X_OK)


def test_every_input_has_a_form() -> None:
    spec = importlib.util.spec_from_file_location("hold", ACTION / "hold.py")
    assert spec is not None and spec.loader is not None
    hold = importlib.util.module_from_spec(spec)
    sys.modules["hold"] = hold
    spec.loader.exec_module(hold)
    assert list(hold.FORMS) == sorted(hold.FORMS, key=list(definition()["inputs"]).index)
    assert set(hold.FORMS) == set(definition()["inputs"])


def test_both_builds_are_measured_in_one_run_and_compared_in_it(workspace: Workspace) -> None:
    ended = workspace.run(filters="engine=postgresql  transport=tcp", within="5m", threshold="3%", comment="c.md")
    assert (ended.code, ended.outputs["result"]) == (0, "passed"), ended.log
    measure, compare = workspace.calls
    report = workspace.folder / "rowpath-report"
    versions = f"--version={RELEASE},{workspace.build}"
    assert measure[:6] == ["run", "tour", "engine=postgresql", "transport=tcp", f"--driver={DRIVER}", versions]
    assert measure[measure.index("--within") + 1] == "5m"
    assert measure[measure.index("-o") + 1] == str(report / "run")
    assert compare[:3] == ["compare", str(report / "run"), versions]
    assert compare[compare.index("--fail-on") + 1] == "slower=3%" and "--confirm" in compare
    assert ended.outputs["report"] == str(report)
    assert ended.summary.startswith(f"### Rowpath: {DRIVER} {RELEASE} → mine-1.jar\n\n**the verdict**\n")
    assert (workspace.folder / "c.md").read_text(encoding="utf-8") == ended.summary
    assert "::error" not in ended.log and "::warning" not in ended.log


def test_files_are_found_from_any_directory(workspace: Workspace) -> None:
    (workspace.folder / "mine.toml").touch()
    workspace.run(experiment="mine.toml", adapters="own/adapters.toml", report="a/b")
    measure, compare = workspace.calls
    assert measure[1] == str(workspace.folder / "mine.toml")
    own = f"--adapters={workspace.folder / 'own/adapters.toml'}"
    assert own in measure and own in compare
    assert (workspace.folder / "a" / "b" / "results.json").is_file()


def test_a_slower_build_fails(workspace: Workspace) -> None:
    workspace.codes = {"compare": 1}
    ended = workspace.run()
    assert (ended.code, ended.outputs["result"]) == (1, "slower")
    assert "**the verdict**" in ended.summary
    assert f"::error title=Rowpath::mine-1.jar is slower than {DRIVER} {RELEASE} by more than 5%25\n" in ended.log


def test_a_build_that_is_too_noisy_or_not_compared_is_undecided(workspace: Workspace) -> None:
    noisy: dict[str, Any] = {"rows": [], "gates": [{"undecided": 1}]}
    refused = {"rows": [{"outcome": "not comparable"}], "gates": [{"undecided": 0}]}
    for number, comparison in enumerate((noisy, refused)):
        workspace.comparison = comparison
        ended = workspace.run(report=f"report-{number}")
        assert (ended.code, ended.outputs["result"]) == (0, "undecided")
        assert "::warning title=Rowpath::not every path excludes that mine-1.jar is slower" in ended.log


@pytest.mark.parametrize("status", ["wrong", "failed"])
def test_a_build_with_wrong_rows_fails_although_it_is_fast(workspace: Workspace, status: str) -> None:
    workspace.export["results"] += [result(workspace.build, status, "list", f"{n}") for n in range(2)]
    ended = workspace.run()
    assert (ended.code, ended.outputs["result"]) == (1, "wrong")
    assert f"- `a 'path' in keyed.list: {status}: 0`\n" in ended.summary, "its first reason, once, without markup"
    assert "keyed.list: " in ended.summary and ended.summary.count("- `") == 1


def test_what_is_wrong_in_the_release_too_does_not_fail_the_build(workspace: Workspace) -> None:
    workspace.export["results"] += [result(version, "wrong", "list") for version in (RELEASE, workspace.build)]
    assert workspace.run().outputs["result"] == "passed"


def test_a_build_that_was_dropped_because_it_failed_is_wrong(workspace: Workspace) -> None:
    path = {"driver": DRIVER, "version": workspace.build}
    workspace.export["dropped"] = [{"path": path, "status": "failed", "reason": "no class", "remedy": ""}]
    ended = workspace.run()
    assert ended.outputs["result"] == "wrong"
    assert f"- `{DRIVER} mine-1.jar in every phase: failed: no class`" in ended.summary


def test_many_wrong_phases_are_counted(workspace: Workspace) -> None:
    workspace.export["results"] += [result(workspace.build, "wrong", f"p{n}") for n in range(14)]
    summary = workspace.run().summary
    assert summary.count("- `") == 10 and "- and 4 more\n" in summary


@pytest.mark.parametrize(("command", "code"), [("run", 3), ("compare", 2), ("compare", 130)])
def test_an_error_of_rowpath_is_the_jobs(workspace: Workspace, command: str, code: int) -> None:
    workspace.codes = {command: code}
    ended = workspace.run()
    assert (ended.code, ended.outputs["result"]) == (code, "error")
    assert f"ended with {code}" in ended.log
    assert "the verdict" not in ended.summary


def test_the_steps_end_with_the_first_that_fails(workspace: Workspace) -> None:
    workspace.codes = {"--version": 3}
    ended = workspace.run()
    assert ended.code == 3 and ended.steps == ["Set up Rowpath"]
    assert ended.outputs == {"result": "", "report": ""}


def test_output_of_a_driver_is_no_command_to_the_runner(workspace: Workspace) -> None:
    log = workspace.run().log.partition("::group::")[2]
    stopped = re.findall(r"::stop-commands::(\w+)\n::set-env name=PATH::/evil\n.*?\n::(\w+)::\n", log, re.DOTALL)
    assert len(stopped) == 2 and all(begin == end and len(begin) >= 32 for begin, end in stopped)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("driver", 'x"; touch pwned; "'),
        ("driver", "--resume"),
        ("driver", ""),
        ("release", "1,2"),
        ("release", "-h"),
        ("build", "a,b"),
        ("build", "mine.jar\nresult=passed"),
        ("experiment", "--adapters=evil.toml"),
        ("filters", "engine=sqlite --adapters=evil.toml"),
        ("filters", "$(touch pwned)"),
        ("threshold", "5%; touch pwned"),
        ("threshold", ""),
        ("within", "--all"),
        ("report", "a\nresult=passed"),
        ("report", "."),
        ("build", "gone-*.jar"),
        ("build", "build/gone.jar"),
        ("build", RELEASE),
    ],
)
def test_an_input_that_cannot_be_used_runs_nothing(workspace: Workspace, name: str, value: str) -> None:
    before = sorted(workspace.folder.iterdir())
    ended = workspace.run(**{name: value})
    assert (ended.code, ended.outputs["result"]) == (2, "error")
    assert "error: " in ended.log and "\n\nhint: " in ended.log
    assert workspace.calls == [] and sorted(workspace.folder.iterdir()) == before


def test_what_a_shell_would_execute_is_a_word(workspace: Workspace) -> None:
    (workspace.folder / "x$(touch pwned).toml").touch()
    workspace.run(experiment="x$(touch pwned).toml", filters="driver_setting=`touch${IFS}pwned`")
    assert workspace.calls[0][1:3] == [
        str(workspace.folder / "x$(touch pwned).toml"), "driver_setting=`touch${IFS}pwned`"
    ]  # fmt: skip
    assert not (workspace.folder / "pwned").exists()


def test_a_pattern_that_several_files_match(workspace: Workspace) -> None:
    (workspace.folder / "mine-2.jar").touch()
    ended = workspace.run()
    assert ended.code == 2 and "2 files match mine-*.jar: mine-1.jar, mine-2.jar" in ended.log


def test_another_release_can_be_held_to_the_release(workspace: Workspace) -> None:
    workspace.run(build="42.7.14")
    assert f"--version={RELEASE},42.7.14" in workspace.calls[0]


def workflows() -> list[dict[str, Any]]:
    blocks = re.findall(r"```yaml\n(name:.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [yaml.safe_load(block) for block in blocks]


def test_the_documents_workflow_gives_inputs_that_exist() -> None:
    assert workflows()
    defined = definition()["inputs"]
    required = {name for name, each in defined.items() if each.get("required")}
    for workflow in workflows():
        assert workflow["permissions"]
        (job,) = workflow["jobs"].values()
        (given,) = (step["with"] for step in job["steps"] if "actions/rowpath" in step.get("uses", ""))
        assert required <= set(given) <= set(defined)


def test_every_input_and_output_is_documented_with_its_default() -> None:
    defined = definition()
    rows = dict(re.findall(r"^\| `([a-z]+)` \| ([^|]*) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert set(rows) == set(defined["inputs"]) | {"passed", "undecided", "slower", "wrong", "error"}
    for name, each in defined["inputs"].items():
        stated = "required" if each.get("required") else f"`{each['default']}`" if each["default"] else "none"
        assert rows[name].strip() == stated, name
