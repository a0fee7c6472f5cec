"""Writes docs/capabilities.md: what each adapter can do, from the manifests and from a run of the conformance suite.

`.venv/bin/python scripts/capabilities.py` runs the suite, which proves that the page is current.
"""

from __future__ import annotations

import json
import os
import re
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
FACTS = "Facts about drivers"
FACTS_ABOUT = """As each driver's own package says (`rowpath list drivers` on your machine): `–` where it says nothing.
The size is that of the package alone, without its dependencies, on the machine where this page was made.
"""
BEHAVIOURS_ABOUT = """Observed on the real engine (`rowpath adapter test NAME` shows drivers' words): a long query is
cancelled from another thread; a statement timeout of one second ends it; the server is restarted under an open
connection, whose next operation, two seconds after its last, works, or works once it was closed and opened again.
`–`: there is no such thing.
"""
OBSERVED_SECTIONS = (
    "Cases of the suite",
    "Behaviours of drivers",
    "Types, as the driver hands them over",
    "Syncs in 20 commits",
)
Observed = dict[str, dict[str, Any]]


def page(observed: Observed, with_facts: bool = True) -> str:
    """The whole page. `observed`: by path of the suite, what each case came to."""
    sys.path.insert(0, str(ROOT / "src"))
    from rowpath.runners.manifest import every_adapter

    adapters = list(every_adapter())
    parts = [HEAD, "\n## Coordinates\nThe first value is the default.\n"]
    parts.append(
        table(["adapter", "engine", "deployment", "serves", "coordinates"], [coordinates(a) for a in adapters])
    )
    parts.append("\n## Points that do not exist\n")
    parts.append(table(["adapter", "point", "reason"], [row for a in adapters for row in missing(a)]))
    parts.append("\n## Cases of the suite\nEach case on every path of the adapter; `–`: nothing the adapter serves.\n")
    parts.append(cases(observed))
    parts.append(f"\n## {FACTS}\n{FACTS_ABOUT}")
    if with_facts:
        parts.append(facts())
    parts.append("\n## Behaviours of drivers\n" + BEHAVIOURS_ABOUT)
    parts.append(behaviours(observed))
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
    for seen in observed.values():
        found.setdefault(seen["adapter"], []).append(seen)
    return dict(sorted(found.items()))


def cases(observed: Observed) -> str:
    """Adapters down, cases across; reasons of those that do not apply below."""
    adapters = by_adapter(observed)
    names = sorted({name for group in adapters.values() for seen in group for name in seen["checks"]})
    reasons: list[str] = []
    rows = []
    for adapter, group in adapters.items():
        row = [adapter]
        for name in names:
            found = sorted({str(seen["checks"][name]) for seen in group if name in seen["checks"]})
            row.append("; ".join(word if word == "yes" else _note(word, reasons) for word in found) or "–")
        if set(row[1:]) != {"–"}:
            rows.append(row)
    notes = "".join(f"\n{number}. {reason}" for number, reason in enumerate(reasons, 1))
    return table(["adapter", *names], rows) + (
        f"\nNot served by some paths, in the adapter's words:\n{notes}\n" if notes else ""
    )


def _note(reason: str, reasons: list[str]) -> str:
    if reason not in reasons:
        reasons.append(reason)
    return f"({reasons.index(reason) + 1})"


def facts() -> str:
    """One line per driver and version, from what is installed here."""
    sys.path.insert(0, str(ROOT / "src"))
    from rowpath.runners.driver_facts import drivers, facts_of

    rows = []
    for adapter, version in drivers():
        found = facts_of(adapter, version)
        size = "–" if found.size_bytes is None else f"{found.size_bytes:,}"
        needs = "–" if found.dependencies is None else ", ".join(found.dependencies) or "none"
        name = f"{adapter.language} {adapter.driver}"
        rows.append([name, found.version or version, found.licence or "–", found.released or "–", size, needs])
    return table(["driver", "version", "licence", "released", "bytes", "own dependencies"], rows)


def without_facts(text: str) -> str:
    """The page without what differs from machine to machine."""
    before, _, rest = text.partition(f"\n## {FACTS}\n")
    return before + "\n## " + rest.partition("\n## ")[2]


def behaviours(observed: Observed) -> str:
    """Adapters down, behaviours across."""
    shown = {"yes": "yes", "no": "no", "unsupported": "–"}
    rows: list[list[str]] = []
    names: list[str] = []
    for adapter, group in by_adapter(observed).items():
        for seen in group:
            if seen["behaviours"]:
                names = list(seen["behaviours"])
                rows.append([adapter, *(shown[seen["behaviours"][name]] for name in names)])
    return table(["adapter", *names], rows)


def documented_behaviours() -> dict[str, dict[str, str]]:
    """What the page says of drivers' behaviours: by adapter, by name."""
    words = {"yes": "yes", "no": "no", "–": "unsupported"}
    found: dict[str, dict[str, str]] = {}
    for (adapter, name), values in cells(PAGE.read_text(), "Behaviours of drivers").items():
        found.setdefault(adapter, {})[name] = words[next(iter(values))]
    return found


def cells(text: str, section: str) -> dict[tuple[str, str], set[str]]:
    """What the table of a section says, by row and column; numbers of notes are replaced by the notes."""
    lines = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0].splitlines()
    notes = {f"({number})": note for number, dot, note in (line.partition(". ") for line in lines) if number.isdigit()}
    heads, _rule, *rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    return {
        (row[0], column): {notes.get(word, word) for word in re.split("; | / ", cell)}
        for row in rows
        for column, cell in zip(heads[1:], row[1:], strict=True)
    }


def contradictions(page: str, seen: str) -> list[str]:
    """What a page made of a part of the suite says otherwise than the whole page: one line each."""
    found = []
    for section in OBSERVED_SECTIONS:
        documented = cells(page, section)
        for (row, column), values in cells(seen, section).items():
            if other := values - documented.get((row, column), set()) - {"–"}:
                found.append(f"{section}, {row}, {column}: {' / '.join(sorted(other))} was seen")
    return found


def types(observed: Observed) -> str:
    """Adapters down, columns of the workload `types` across."""
    handed: dict[str, dict[str, set[str]]] = {}
    columns: dict[str, None] = {}
    for adapter, group in by_adapter(observed).items():
        for notes in (seen["types"] for seen in group if seen["types"]):
            for column, delivered in notes["delivered"]:
                text = f"*{delivered}*" if column in notes["converted"] else delivered
                handed.setdefault(adapter, {}).setdefault(column, set()).add(text)
                columns.setdefault(column)
    rows = [
        [adapter, *(" / ".join(sorted(seen.get(column, ()))) or "–" for column in columns)]
        for adapter, seen in handed.items()
    ]
    return table(["adapter", *columns], rows)


def syncs(observed: Observed) -> str:
    """Whether commits reach the disk, by durability; the exact number is the engine's business."""
    rows = []
    for adapter, group in by_adapter(observed).items():
        found = {durability: made for seen in group for durability, made in seen["syncs"].items()}
        if found:
            full = found.get("full")
            shown = "–" if full is None else "at least one each" if full >= 20 else str(full)
            rows.append([adapter, shown, str(found.get("none", "–"))])
    return table(["adapter", "durability=full", "durability=none"], rows)


def main() -> int:
    """Run the suite, write the page."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "observed.json"
        command = [sys.executable, "-m", "pytest", "tests/conformance", "-q", "--full"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": "src", VARIABLE: str(file)}, check=False)
        if not file.exists():
            print(
                "error: the suite did not end\n\nhint: .venv/bin/python -m pytest tests/conformance --full",
                file=sys.stderr,
            )
            return 1
        PAGE.write_text(page(json.loads(file.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
