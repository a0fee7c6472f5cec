"""The exports of a run; a file is opened before the run begins, so that a bad path fails in its first second."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO

from rowpath.analysis.model import Analysis
from rowpath.errors import UsageError
from rowpath.report.json import write_json
from rowpath.report.long_table import check_package, write_csv, write_parquet, write_timeline
from rowpath.report.markdown import write_markdown
from rowpath.report.tracked import left_out, write_bencher, write_github_benchmark

WRITERS: dict[str, Callable[[Analysis, Any], None]] = {
    "json": write_json,
    "csv": write_csv,
    "parquet": write_parquet,
    "markdown": write_markdown,
    "timeline": write_timeline,
    "bencher": write_bencher,
    "github_benchmark": write_github_benchmark,
}
BINARY = ("parquet",)
TRACKED = {"bencher", "github_benchmark"}  # forms that hold only the figures that count


def open_exports(paths: dict[str, str]) -> dict[str, IO[Any]]:
    """Each form's file, opened to be written: form → path; UsageError or EnvironmentMissing where one can't be."""
    if "parquet" in paths:
        check_package("the Parquet export")
    return {form: open_binary(path) if form in BINARY else open_export(path) for form, path in paths.items()}


def write_exports(analysis: Analysis, files: dict[str, IO[Any]]) -> None:
    """Writes and closes what `open_exports` opened; says on stderr which figures some forms do not hold."""
    for form, file in files.items():
        WRITERS[form](analysis, file)
        if file in (sys.stdout, sys.stdout.buffer):
            file.flush()
        else:
            file.close()
    for line in left_out(analysis) if files.keys() & TRACKED else ():
        print(line, file=sys.stderr)


def open_export(path: str) -> TextIO:
    """The file to export to, made again in UTF-8 whatever the locale; `-` is stdout, which no one may close.

    Raises UsageError when it can't be written.
    """
    if path == "-":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        return sys.stdout
    with _named(path):
        return Path(path).open("w", encoding="utf-8", newline="")


def open_binary(path: str) -> BinaryIO:
    """As `open_export`, for bytes."""
    if path == "-":
        return sys.stdout.buffer
    with _named(path):
        return Path(path).open("wb")


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"can't write the export {path!r}: {error.strerror or error}",
            "name a file in a directory that exists and is writable, or `-` for stdout",
        ) from error
