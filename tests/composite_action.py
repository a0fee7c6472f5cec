"""Runs a composite action's steps as GitHub's runner does, here: expressions, variables, files for outputs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
ACTION = ROOT / ".github" / "actions" / "rowpath"
EXPRESSION = re.compile(r"\$\{\{\s*([^}]+?)\s*\}\}")
STEP_KEYS = {"name", "id", "shell", "env", "run"}  # all that this interpreter knows
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")  # what `shell: bash` stands for


def definition() -> dict[str, Any]:
    """What action.yml holds."""
    found: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    return found


@dataclass
class Ended:
    """What a job with only this step leaves."""

    code: int
    outputs: dict[str, str]
    summary: str
    log: str
    steps: list[str] = field(default_factory=list)  # that ran, by name


def repository(folder: Path, command: str) -> Path:
    """A stand-in for Rowpath's repository: the action in its place, and a `rowpath` that executes the command."""
    action = folder / ".github" / "actions" / "rowpath"
    shutil.copytree(ACTION, action, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "rowpath").write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    (folder / "rowpath").chmod(0o755)
    return action


def run(action: Path, workspace: Path, given: dict[str, str], variables: dict[str, str]) -> Ended:
    """All steps with these inputs, in the workspace; a step that fails is the last one."""
    defined = definition()
    unknown = given.keys() - defined["inputs"].keys()
    missing = [name for name, each in defined["inputs"].items() if each.get("required") and name not in given]
    assert not unknown and not missing, (unknown, missing)
    context = {f"inputs.{name}": str(each.get("default", "")) for name, each in defined["inputs"].items()}
    context |= {f"inputs.{name}": value for name, value in given.items()} | {"github.action_path": str(action)}
    files = Path(tempfile.mkdtemp(prefix="runner-", dir=workspace.parent))
    ended = Ended(0, {}, "", "")
    for number, step in enumerate(defined["runs"]["steps"]):
        assert set(step) <= STEP_KEYS and step["shell"] == "bash", step
        script, output, summary = (files / f"{number}-{name}" for name in ("script.sh", "output", "summary"))
        script.write_text(expanded(step["run"], context), encoding="utf-8")
        for file in (output, summary):
            file.touch()
        own = {name: expanded(value, context) for name, value in step.get("env", {}).items()}
        runner = {
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_ACTIONS": "true",
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
        }
        done = subprocess.run(
            [*BASH, str(script)],
            cwd=workspace,
            env=variables | runner | own,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        ended.steps.append(step["name"])
        ended.log += done.stdout
        ended.summary += summary.read_text(encoding="utf-8")
        for line in output.read_text(encoding="utf-8").splitlines():
            name, equals, value = line.partition("=")
            assert equals, line
            context[f"steps.{step['id']}.outputs.{name}"] = value
        if done.returncode:
            ended.code = done.returncode
            break
    ended.outputs = {name: expanded(each["value"], context) for name, each in defined["outputs"].items()}
    return ended


def expanded(text: str, context: dict[str, str]) -> str:
    """The text with the values of its expressions; an unknown output is empty, any other unknown name an error."""

    def value(found: re.Match[str]) -> str:
        return context.get(found[1], "") if found[1].startswith("steps.") else context[found[1]]

    return EXPRESSION.sub(value, text)
