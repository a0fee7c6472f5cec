"""The exports of a run; a file is opened before the run begins, so that a bad path fails in its first second."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TextIO

from rowpath.errors import UsageError
from rowpath.report.csv import write_csv, write_timeline
from rowpath.report.json import write_json
from rowpath.report.markdown import write_markdown

__all__ = ["open_export", "write_csv", "write_json", "write_markdown", "write_timeline"]


def open_export(path: str) -> TextIO:
    """The file to export to, made again in UTF-8 whatever the locale; `-` is stdout, which no one may close.

    Raises UsageError when it can't be written.
    """
    if path == "-":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        return sys.stdout
    try:
        return Path(path).open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(
            f"can't write the export {path!r}: {error.strerror or error}",
            "name a file in a directory that exists and is writable, or `-` for stdout",
        ) from error
