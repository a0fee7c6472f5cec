"""Writes docs/capabilities.md: what each adapter can do, from the manifests and from a run of the conformance suite.

`.venv/bin/python scripts/capabilities.py` runs the suite (about two minutes), which proves that the page is current.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "capabilities.md"
VARIABLE = "ROWPATH_OBSERVED"  # the file into which the suite writes what it saw
HEAD = """# What each adapter can do

Made by `scripts/capabilities.py` from the manifests (`runners/*/adapters.toml`) and a run of the conformance suite
(`tests/conformance`), which fails when this page is not what it saw. Not written by hand.
"""
Observed = dict[str, dict[str, Any]]


def page(observed: Observed) -> str:
    """The whole page. `observed`: by path of the suite, what each case came to."""
    sys.path.insert(0, str(ROOT / "src"))
    from rowpath.languages import every_adapter

    adapters = list(every_adapter())
    parts = [HEAD, "\n## Coordinates\nThe first value is the default.\n"]
    parts.append(
        table(["adapter", "engine", "deployment", "serves", "coordinates"], [coordinates(a) for a in adapters])
    )
    parts.append("\n## Points that do not exist\n")
    parts.append(table(["adapter", "point", "reason"], [row for a in adapters for row in missing(a)]))
    parts.append("\n## Cases of the suite\nEach case on every path of the adapter; `–`: nothing the adapter serves.\n")
    parts.append(cases(observed))
    parts.append("\n## Types, as the driver hands them over\nIn italics: text that the adapter converts.\n")
    parts.append(types(observed))
    parts.append("\n## Syncs in 20 commits\n")
    parts.append(syncs(observed))
    return "".join(parts)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def coordinates(adapter: Any) -> list[str]:
    """One adapter's row."""
    own = "; ".join(f"{key}: {', '.join(values)}" for key, values in adapter.coordinates.items() if values != ("0",))
    versions = "" if adapter.versions in (("bundled",), ("system",)) else f"version: {', '.join(adapter.versions)}; "
    name = f"{adapter.language} {adapter.driver}"
    served = ", ".join(adapter.phases)
    return [name, ", ".join(adapter.engines), ", ".join(adapter.deployments), served, f"{versions}{own}" or "–"]


def missing(adapter: Any) -> list[list[str]]:
    """Its points of the lattice that do not exist."""
    name = f"{adapter.language} {adapter.driver}"
    return [
        [name, ", ".join(f"{key}={value}" for key, value in rule.when.items()), rule.reason]
        for rule in adapter.unsupported
    ]


def by_adapter(observed: Observed) -> dict[str, list[dict[str, Any]]]:
    """What was observed, by language, driver and deployment."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, notes in observed.items():
        found.setdefault(" ".join(name.split("_")[:3]), []).append(notes)
    return dict(sorted(found.items()))


def cases(observed: Observed) -> str:
    """Cases down, adapters across."""
    adapters = by_adapter(observed)
    names = sorted(
        {name for all_notes in adapters.values() for notes in all_notes for name in notes if "." not in name}
    )
    rows = []
    for name in names:
        row = [name]
        for all_notes in adapters.values():
            seen = sorted({str(notes[name]) for notes in all_notes if name in notes})
            row.append("; ".join(seen) or "–")
        rows.append(row)
    return table(["case", *adapters], rows)


def types(observed: Observed) -> str:
    """Columns of the workload `types` down, adapters across."""
    adapters = by_adapter(observed)
    handed: dict[str, dict[str, set[str]]] = {}
    for adapter, all_notes in adapters.items():
        for notes in all_notes:
            for column, delivered in notes.get("types.delivered", []):
                text = f"*{delivered}*" if column in notes["types.converted"] else delivered
                handed.setdefault(column, {}).setdefault(adapter, set()).add(text)
    rows = [
        [column, *(" / ".join(sorted(seen.get(adapter, ()))) or "–" for adapter in adapters)]
        for column, seen in handed.items()
    ]
    return table(["column", *adapters], rows)


def syncs(observed: Observed) -> str:
    """Whether commits reach the disk, by durability; the exact number is the engine's business."""
    rows = []
    for adapter, all_notes in by_adapter(observed).items():
        found = {key: notes[key] for notes in all_notes for key in ("syncs.full", "syncs.none") if key in notes}
        if found:
            full = found.get("syncs.full")
            shown = "–" if full is None else "at least one each" if full >= 20 else str(full)
            rows.append([adapter, shown, str(found.get("syncs.none", "–"))])
    return table(["adapter", "durability=full", "durability=none"], rows)


def main() -> int:
    """Run the suite, write the page."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "observed.json"
        command = [sys.executable, "-m", "pytest", "tests/conformance", "-q"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": "src", VARIABLE: str(file)}, check=False)
        if not file.exists():
            print("error: the suite did not end\n\nhint: .venv/bin/python -m pytest tests/conformance", file=sys.stderr)
            return 1
        PAGE.write_text(page(json.loads(file.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
