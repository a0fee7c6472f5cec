"""What `rowpath verify` prints: per path, which phases delivered the right rows, which did not, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowpath.text import clean


def render(samples: Path, console: Console, *, verbose: bool = False) -> int:
    """Print the table from the journal; returns how many path-phases were wrong or failed."""
    names: dict[str, str] = {}
    right: dict[str, int] = {}
    troubles: list[dict[str, Any]] = []
    dropped: list[dict[str, Any]] = []
    checked: list[dict[str, Any]] = []
    with samples.open("rb") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            kind = record["record"]
            if kind == "path":
                names[record["path_id"]] = record["name"]
            elif kind == "verify":
                right[record["path_id"]] = right.get(record["path_id"], 0) + bool(record["ok"])
                checked.append(record)
            elif kind == "failure":
                troubles.append(record)
            elif kind == "dropped":
                dropped.append(record)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("path", overflow="fold")
    table.add_column("phases right", justify="right")
    table.add_column("not right", overflow="fold")
    bad = 0
    for path_id, name in names.items():
        mine = [trouble for trouble in troubles if trouble["path_id"] == path_id]
        wrong = [trouble for trouble in mine if trouble["status"] in ("wrong", "failed")]
        bad += len(wrong)
        words = [f"{t['workload']}.{t['phase']} {t['status']}: {t['text']}".lstrip(". ") for t in wrong]
        table.add_row(Text(clean(name)), str(right.get(path_id, 0)), Text(clean("; ".join(words))))
    console.print(table)
    for record in checked if verbose else []:
        mark = "right" if record["ok"] else "WRONG"
        where = f"{names.get(record['path_id'], record['path_id'])} {record['workload']}.{record['phase']}"
        digests = f"{record['digest']} (expected {record['expected']})"
        console.print(Text(clean(f"{mark}  {where}: {digests}")), soft_wrap=True)
    for record in dropped:
        remedy = f"; enable it with: {record['remedy']}" if record["remedy"] else ""
        console.print(Text(clean(f"not run: {record['name']}: {record['reason']}{remedy}")))
    summary = f"{sum(right.values())} digests right over {len(names)} paths; {bad} wrong or failed"
    console.print(Text(summary, style="red" if bad else "green"))
    return bad
