"""`rowpath show DIR --row --col --table --ignore --filter --metric`: a run as matrices over chosen axes."""

from __future__ import annotations

import argparse
from pathlib import Path

from rowpath.analysis.analyse import analysis_of, gather
from rowpath.analysis.projection import Choice, measured_ratios, project
from rowpath.errors import UsageError
from rowpath.report import markdown
from rowpath.report import projection as report
from rowpath.report.console import make_console
from rowpath.report.exports import open_export

WRITERS = {"markdown": markdown.write_projection, "csv": report.write_csv}


def is_wanted(options: argparse.Namespace) -> bool:
    """Whether any option of a projection is given."""
    return any(
        (options.rows, options.columns, options.table_axes, options.ignored, options.filter_words, options.metric)
    )


def run(options: argparse.Namespace, directory: Path, filters: dict[str, tuple[str, ...]]) -> int:
    """Print or export the projection; UsageError for options that show or write something else."""
    for name in ("tables", "export_json", "export_timeline"):
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} shows the whole run, not a projection", "--export-markdown FILE or --export-csv FILE"
            )
    exported = {form: file for form in WRITERS if (file := getattr(options, f"export_{form}"))}
    evidence = gather(directory, tuple(options.together))
    choice = Choice(options.rows, options.columns, options.table_axes, options.ignored, filters, options.metric)
    projection = project(analysis_of(evidence), choice, measured_ratios(evidence))
    for form, name in exported.items():
        WRITERS[form](projection, open_export(name))
    if "-" not in exported.values():
        report.render(projection, make_console(options.color))
    return 0
