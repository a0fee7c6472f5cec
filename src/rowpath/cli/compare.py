"""`rowpath compare`: two sides of runs, what changed between them, and whether that fails a gate."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from rowpath.analysis.comparison.compare import compare
from rowpath.analysis.comparison.gate import judge, parse_gate
from rowpath.errors import UsageError
from rowpath.report import comparison_json, comparison_terminal
from rowpath.report.comparison import Outcome
from rowpath.report.exports import open_export
from rowpath.report.terminal import make_console


def run(options: argparse.Namespace) -> int:
    """Compare, export and show; 1 when a gate fails."""
    gates = [parse_gate(text) for text in options.fail_on]
    base, head = (_directories(word) for word in (options.base, options.head))
    exported = [options.export_json]
    files = {form: open_export(file) for form, file in zip(("json",), exported, strict=True) if file}
    comparison = compare(base, head, tuple(dict.fromkeys(options.despite)))
    outcome = Outcome(comparison, tuple(judge(comparison, gate) for gate in gates))
    if "json" in files:
        comparison_json.write_json(outcome, files["json"])
    if "-" not in exported:
        command = f"rowpath compare {shlex.quote(options.base)} {shlex.quote(options.head)} --all"
        comparison_terminal.render(outcome, make_console(options.color), options.all, command)
    return 1 if outcome.failed else 0


def _directories(word: str) -> list[Path]:
    """The run directories that a word names; a directory may have a comma in its name."""
    names = [word] if Path(word).is_dir() else word.split(",")
    for name in names:
        if not (Path(name) / "samples.jsonl").is_file():
            raise UsageError(
                f"{name} is not a run directory: it has no samples.jsonl",
                "rowpath compare BASE HEAD, with the directories of two runs; several runs a side: BASE1,BASE2",
            )
    return [Path(name) for name in names]
