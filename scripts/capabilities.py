"""What each adapter can do, as the conformance suite saw it: kept in docs/capabilities.json, shown in capabilities.md.

`.venv/bin/python scripts/capabilities.py` runs the suite and keeps what it saw of every adapter that it met whole;
words after it go to pytest (`-k pgjdbc`). `make docs` makes the page's tables of what is kept, and
tests/unit/house/test_docs_tables.py compares them. The suite fails where it sees otherwise than what is kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs" / "capabilities.json"
VARIABLE = "ROWPATH_OBSERVED"  # the file into which the suite writes what it saw
SECTIONS = {
    "checks": "Cases of the suite",
    "behaviours": "Behaviours of drivers",
    "types": "Types, as the driver hands them over",
    "syncs": "Syncs in 20 commits",
}
Observed = dict[str, dict[str, Any]]  # by path of the suite: what each case came to
Seen = dict[str, dict[str, dict[str, list[str]]]]  # by adapter and section: what stands in a row's columns


def summary(observed: Observed) -> Seen:
    """By adapter (language, driver, deployment; its engine where it has several) what its paths came to."""
    found: dict[str, dict[str, dict[str, set[str]]]] = {}
    for path in observed.values():
        adapter = found.setdefault(path["adapter"], {section: {} for section in SECTIONS})
        for section in SECTIONS:
            for column, words in _row(section, path[section]).items():
                adapter[section].setdefault(column, set()).update(words)
    return {
        name: {section: {column: sorted(words) for column, words in row.items()} for section, row in sections.items()}
        for name, sections in sorted(found.items())
    }


def _row(section: str, part: dict[str, Any]) -> dict[str, list[str]]:
    """What one path came to in one section, by column; text that the adapter converts is in italics."""
    if section == "types" and part:
        handed = {column: text or "no name" for column, text in part["delivered"]}
        return {column: [f"*{text}*" if column in part["converted"] else text] for column, text in handed.items()}
    if section == "syncs":
        # The exact number is the engine's business.
        return {durability: ["at least one each" if made >= 20 else str(made)] for durability, made in part.items()}
    return {column: [str(word)] for column, word in part.items()}


def kept() -> dict[str, Any]:
    """What is kept of the last runs: `adapters` (Seen) and `facts` (rows of drivers' own packages)."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def kept_of(language: str, driver: str) -> Seen:
    """What is kept of one driver's adapters."""
    return {name: seen for name, seen in kept()["adapters"].items() if name.split()[:2] == [language, driver]}


def differences(known: Seen, seen: Seen, whole: Iterable[str]) -> dict[str, list[str]]:
    """By adapter what the suite saw otherwise than what is kept; of those met `whole` also what it did not see.

    What was left out is not compared: its key covers what is kept of it.
    """
    found: dict[str, list[str]] = {}
    for adapter, sections in seen.items():
        lines = []
        for section, row in sections.items():
            documented = known.get(adapter, {}).get(section, {})
            for column in sorted({*row, *(documented if adapter in whole and row else ())}):
                here, there = set(row.get(column, ())), set(documented.get(column, ()))
                where = f"{SECTIONS[section]}, {adapter}, {column}"
                lines += [f"{where}: {word} was seen" for word in sorted(here - there)]
                if adapter in whole:
                    lines += [f"{where}: {word} was not seen" for word in sorted(there - here)]
        if lines:
            found[adapter] = lines
    return found


def coordinates(adapters: Iterable[Any], _engines: object) -> str:
    """Every adapter's row; the first value of a coordinate is its default."""
    rows = []
    for adapter in adapters:
        own = "; ".join(
            f"{key}: {', '.join(values)}" for key, values in adapter.coordinates.items() if values != ("0",)
        )
        versions = (
            "" if adapter.versions in (("bundled",), ("system",)) else f"version: {', '.join(adapter.versions)}; "
        )
        served = ", ".join(adapter.phases)
        places = ", ".join(adapter.engines), ", ".join(adapter.deployments)
        rows.append([f"{adapter.language} {adapter.driver}", *places, served, f"{versions}{own}" or "–"])
    return table(["adapter", "engine", "deployment", "serves", "coordinates"], rows)


def missing(adapters: Iterable[Any], _engines: object) -> str:
    """The points of the adapters' lattices that do not exist, with the reason."""
    rows = [
        [f"{adapter.language} {adapter.driver}", ", ".join(f"{key}={at}" for key, at in rule.when.items()), rule.reason]
        for adapter in adapters
        for rule in adapter.unsupported
    ]
    return table(["adapter", "point", "reason"], rows)


def cases(_adapters: object, _engines: object) -> str:
    """Adapters down, cases across; reasons of those that do not apply below."""
    adapters: Seen = kept()["adapters"]
    names = sorted({name for seen in adapters.values() for name in seen["checks"]})
    reasons: dict[str, int] = {}
    rows = []
    for adapter, seen in adapters.items():
        row = ["; ".join(_noted(word, reasons) for word in seen["checks"].get(name, ["–"])) for name in names]
        if set(row) != {"–"}:
            rows.append([adapter, *row])
    notes = "".join(f"{number}. {reason}\n" for reason, number in reasons.items())
    return table(["adapter", *names], rows) + f"\nNot served by some paths, in the adapter's words:\n\n{notes}"


def _noted(word: str, reasons: dict[str, int]) -> str:
    return word if word in ("yes", "–") else f"({reasons.setdefault(word, len(reasons) + 1)})"


def facts(_adapters: object, _engines: object) -> str:
    """One row per driver and version, as it was found where the suite ran."""
    return table(["driver", "version", "licence", "released", "bytes", "own dependencies"], kept()["facts"])


def behaviours(_adapters: object, _engines: object) -> str:
    """Adapters without a server down, behaviours across; `rowpath faults` observes the others."""
    return _section("behaviours", {"unsupported": "–"}, deployment="embedded")


def types(_adapters: object, _engines: object) -> str:
    """Adapters down, columns of the workload `types` across."""
    return _section("types", {})


def syncs(_adapters: object, _engines: object) -> str:
    """Whether commits reach the disk, by durability."""
    rows = [
        [adapter, *("; ".join(seen["syncs"].get(durability, ["–"])) for durability in ("full", "none"))]
        for adapter, seen in kept()["adapters"].items()
        if seen["syncs"]
    ]
    return table(["adapter", "durability=full", "durability=none"], rows)


def _section(section: str, shown: dict[str, str], deployment: str = "") -> str:
    adapters = {
        adapter: seen[section]
        for adapter, seen in kept()["adapters"].items()
        if seen[section] and adapter.endswith(deployment)
    }
    fullest = sorted(adapters.values(), key=len, reverse=True)  # its order is that of the suite or the workload
    columns = list(dict.fromkeys(column for row in fullest for column in row))
    rows = [
        [adapter, *(" / ".join(shown.get(word, word) for word in row.get(column, ["–"])) for column in columns)]
        for adapter, row in adapters.items()
    ]
    return table(["adapter", *columns], rows)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (heads, ["---"] * len(heads), *rows))


BLOCKS = {
    "capability-coordinates": coordinates,
    "capability-missing": missing,
    "capability-cases": cases,
    "capability-facts": facts,
    "capability-behaviours": behaviours,
    "capability-types": types,
    "capability-syncs": syncs,
}


def found_facts() -> list[list[str]]:
    """One row per driver and version, from what is installed here."""
    sys.path.insert(0, str(ROOT / "src"))
    from rowpath.runners.driver_facts import drivers, facts_of

    rows = []
    for adapter, version in drivers():
        found = facts_of(adapter, version)
        size = "–" if found.size_bytes is None else f"{found.size_bytes:,}"
        needs = "–" if found.dependencies is None else ", ".join(found.dependencies) or "none"
        name = f"{adapter.language} {adapter.driver}"
        rows.append([name, found.version or version, found.licence or "–", found.released or "–", size, needs])
    return rows


def keep(seen: Seen, there_are: Iterable[str], facts_found: list[list[str]]) -> None:
    """Replace what is kept of the adapters seen; drop adapters that are no longer there."""
    adapters = (kept()["adapters"] if KEPT.exists() else {}) | seen
    adapters = {name: adapters[name] for name in sorted(adapters) if name in set(there_are)}
    parts = (f'"adapters": {{\n{_lines(adapters)}\n}}', f'"facts": [\n{_lines(facts_found)}\n]')
    KEPT.write_text(f"{{{', '.join(parts)}}}\n", encoding="utf-8")


def _lines(values: dict[str, Any] | list[list[str]]) -> str:
    """As JSON, one line a value: a difference between two versions is a line."""
    keys = [f"{json.dumps(key)}: " for key in values] if isinstance(values, dict) else [""] * len(values)
    each = values.values() if isinstance(values, dict) else values
    return ",\n".join(key + json.dumps(value, ensure_ascii=False) for key, value in zip(keys, each, strict=True))


def main() -> int:
    """Run the suite, keep what it saw."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "observed.json"
        command = [sys.executable, "-m", "pytest", "tests/conformance", "-q", "--full", *sys.argv[1:]]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": "src", VARIABLE: str(file)}, check=False)
        if not file.exists():
            hint = ".venv/bin/python -m pytest tests/conformance --full"
            print(f"error: the suite did not end\n\nhint: {hint}", file=sys.stderr)
            return 1
        written = json.loads(file.read_text(encoding="utf-8"))
    keep(written["seen"], written["adapters"], found_facts())
    print(f"{len(written['seen'])} adapters: {', '.join(written['seen'])}\nnow: make docs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
