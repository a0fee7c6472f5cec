"""Holds a driver to a release: measures both builds in the same sets, compares them, writes a job's summary.

Reads the action's inputs from INPUT_* and the command from ROWPATH; needs only Python's standard library. Exit codes:
0 passed or undecided, 1 slower or wrong, 2 an input is invalid, else that of Rowpath.
"""

from __future__ import annotations

import glob
import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMS = {  # of inputs, so that no value is taken for an option or for two values
    "driver": (r"\w[\w.+-]*", "a driver's name"),
    "release": (r"\w[^\s,]*", "a version such as 42.7.8"),
    "build": (r"[^\n,-][^\n,]*", "a file, a folder, or a pattern that one file matches"),
    "experiment": (r"[^\s-][^\n]*", "an experiment's name or file"),
    "filters": (r"(\s*[a-z_]+=\S+)*\s*", "COORDINATE=VALUE, separated by blanks"),
    "threshold": (r"\d+(\.\d+)?%?", "a percentage such as 5%"),
    "within": (r"(\d+(\.\d+)?[a-z]*)?", "a time such as 5m"),
    "adapters": (r"[^\n]*", "a file"),
    "report": (r"[^\n]+", "a directory"),
    "comment": (r"[^\n]*", "a file"),
}
BAD = ("wrong", "failed")
MOST_LINES = 10


class Invalid(Exception):
    """An input that cannot be used: the message, and a hint."""


@dataclass(frozen=True)
class Inputs:
    """The action's inputs, checked; places are absolute."""

    driver: str
    release: str
    build: str
    experiment: str
    filters: tuple[str, ...]
    threshold: str
    within: str
    adapters: str
    report: Path
    comment: Path | None

    @property
    def versions(self) -> str:
        """Both versions as Rowpath takes them."""
        return f"{self.release},{self.build}"

    @property
    def own(self) -> list[str]:
        """The option that names adapters of one's own."""
        return [f"--adapters={self.adapters}"] if self.adapters else []


def main() -> int:
    """Measure, compare, write summary and outputs; the exit code."""
    try:
        inputs = read_inputs()
    except Invalid as error:
        print(f"error: {error.args[0]}\n\nhint: {error.args[1]}", file=sys.stderr)
        return finish("error", "", 2, str(error.args[0]))
    inputs.report.mkdir(parents=True)
    results = inputs.report / "results.json"
    code = rowpath(
        "Measure the release and the build",
        inputs.report,
        *("run", inputs.experiment, *inputs.filters, f"--driver={inputs.driver}", f"--version={inputs.versions}"),
        *(["--within", inputs.within] if inputs.within else []),
        *inputs.own,
        *("-q", "-o", str(inputs.report / "run"), "--export-json", str(results)),
    )
    if code:
        return finish("error", inputs.report, code, f"the run ended with {code}")
    worse = list(newly_bad(json.loads(results.read_text(encoding="utf-8")), inputs))
    markdown, compared_json = (inputs.report / f"comparison.{form}" for form in ("md", "json"))
    code = rowpath(
        "Compare the build with the release",
        inputs.report,
        *("compare", str(inputs.report / "run"), f"--version={inputs.versions}"),
        *("--fail-on", f"slower={inputs.threshold}", "--confirm", *inputs.own, "-q"),
        *("--export-markdown", str(markdown), "--export-json", str(compared_json)),
        *("-o", str(inputs.report / "comparison.html")),
    )
    result = "wrong" if worse else {0: "passed", 1: "slower"}.get(code, "error")
    if result == "passed" and undecided(json.loads(compared_json.read_text(encoding="utf-8"))):
        result = "undecided"
    compared = markdown.read_text(encoding="utf-8") if code in (0, 1) and markdown.is_file() else ""
    text = summary(inputs, compared, worse)
    if job_summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(job_summary).open("a", encoding="utf-8") as out:
            out.write(text)
    if inputs.comment:
        inputs.comment.write_text(text, encoding="utf-8")
    return finish(result, inputs.report, 1 if worse else code, said(result, inputs, code))


def read_inputs() -> Inputs:
    """The inputs from the environment; Invalid where one does not have its form."""
    given = {name: os.environ.get(f"INPUT_{name.upper()}", "").strip() for name in FORMS}
    for name, (form, what) in FORMS.items():
        if not re.fullmatch(form, given[name]):
            raise Invalid(f"input '{name}' is {given[name]!r}: expected {what}", f"with: {name}: …")
    report = Path(given["report"]).resolve()
    if report.exists():
        raise Invalid(f"the report's directory {report} exists already", "with: report: another directory")
    build = found(given["build"])
    if build == given["release"]:
        raise Invalid(f"release and build are both {build}", "with: build: your file")
    experiment = Path(given["experiment"])
    return Inputs(
        driver=given["driver"],
        release=given["release"],
        build=build,
        experiment=str(experiment.resolve()) if experiment.is_file() else given["experiment"],
        filters=tuple(given["filters"].split()),
        threshold=given["threshold"],
        within=given["within"],
        adapters=str(Path(given["adapters"]).resolve()) if given["adapters"] else "",
        report=report,
        comment=Path(given["comment"]).resolve() if given["comment"] else None,
    )


def found(build: str) -> str:
    """The only file or folder that the pattern matches, by its whole path; a word that names none is a release."""
    matches = sorted(glob.glob(build))  # noqa: PTH207 the pattern may be absolute
    if len(matches) > 1:
        raise Invalid(
            f"{len(matches)} files match {build}: {', '.join(matches[:3])}", "a pattern that one file matches"
        )
    if matches:
        return str(Path(matches[0]).resolve())
    if "/" in build or glob.escape(build) != build:
        raise Invalid(f"no file {build} in {Path.cwd()}", "build the driver in an earlier step, then name its file")
    return build


def rowpath(title: str, directory: Path, *words: str) -> int:
    """Runs a command of Rowpath, its output in a group of the log; the exit code."""
    print(f"::group::{title}")
    # A driver's text in the output must not be taken for a command to the runner.
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    try:
        return subprocess.run([os.environ["ROWPATH"], *words], cwd=directory, check=False).returncode
    finally:
        print(f"\n::{token}::\n::endgroup::", flush=True)


def newly_bad(export: dict[str, Any], inputs: Inputs) -> Iterator[str]:
    """Where the build failed or delivered wrong rows and the release did not, as lines."""
    bad: dict[str, dict[tuple[str, ...], str]] = {inputs.release: {}, inputs.build: {}}
    for each in (*export["dropped"], *export["results"]):
        path = dict(each["path"])
        version = path.pop("version", "")
        if each["status"] in BAD and version in bad and path.get("driver") == inputs.driver:
            phase = f"{each['workload']}.{each['phase']}" if "phase" in each else "every phase"
            place = phase, *(f"{key}={value}" for key, value in sorted(path.items()))
            named = each.get("name") or f"{inputs.driver} {Path(version).name}"
            bad[version].setdefault(place, f"{named} in {phase}: {each['status']}: {each['reason']}")
    return (what for place, what in bad[inputs.build].items() if place not in bad[inputs.release])


def undecided(comparison: dict[str, Any]) -> bool:
    """Whether a path is too noisy to exclude the slowdown, or was not compared."""
    refused = any(row["outcome"] == "not comparable" for row in comparison["rows"])
    return refused or any(gate["undecided"] for gate in comparison["gates"])


def summary(inputs: Inputs, compared: str, worse: list[str]) -> str:
    """The job's summary as Markdown."""
    title = f"### Rowpath: {inputs.driver} {inputs.release} → {Path(inputs.build).name}"
    parts = [title]
    if worse:
        lines = [f"- `{' '.join(line.replace('`', chr(39)).split())}`" for line in worse[:MOST_LINES]]
        more = [f"- and {len(worse) - MOST_LINES} more"] if len(worse) > MOST_LINES else []
        parts += ["**The build fails or delivers wrong rows where the release does not.**", "\n".join(lines + more)]
    parts.append(compared.strip() or "**The two were not compared: the log says why.**")
    how = f"`{Path(inputs.experiment).name}`, release and build in the same sets."
    return "\n\n".join([*parts, f"{how} The report has every row."]) + "\n\n"


def said(result: str, inputs: Inputs, code: int) -> str:
    """What a maintainer must know, in one line."""
    build = Path(inputs.build).name
    return {
        "passed": "",
        "slower": f"{build} is slower than {inputs.driver} {inputs.release} by more than {inputs.threshold}",
        "undecided": f"not every path excludes that {build} is slower by more than {inputs.threshold}",
        "wrong": f"{build} fails or delivers wrong rows where {inputs.release} does not",
    }.get(result, f"the comparison ended with {code}")


def finish(result: str, report: Path | str, code: int, message: str) -> int:
    """Writes the outputs, and the message as an annotation; the exit code."""
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a", encoding="utf-8") as out:
            out.write(f"result={result}\nreport={report}\n")
    if message:
        escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        print(f"::{'error' if code else 'warning'} title=Rowpath::{escaped}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
