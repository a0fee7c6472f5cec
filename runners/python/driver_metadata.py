"""Run by a driver's own Python: `driver_metadata.py REQUIREMENT` prints what its package says of itself.

A name that is no installed package but a module of Python's own is described by Python itself.
"""

import importlib.metadata
import importlib.util
import json
import platform
import re
import sys
from pathlib import Path


def main() -> None:
    """Print `version`, `licence`, `released`, `size_bytes`, `dependencies`."""
    name, _, extras = sys.argv[1].partition("[")
    try:
        facts = of_package(name, extras.rstrip("]").split(","))
    except importlib.metadata.PackageNotFoundError:
        facts = of_module(name)
    print(json.dumps(facts))


def of_package(name: str, extras: list[str]) -> dict[str, object]:
    """An installed package. Of the dependencies that it declares, those that are there; it names no release date."""
    package = importlib.metadata.distribution(name)
    needs = [dependency(text, extras) for text in package.requires or ()]
    sizes = [Path(str(package.locate_file(file))) for file in package.files or ()]
    return {
        "version": package.version,
        "licence": licence(package.metadata),
        "released": "",
        "size_bytes": sum(file.stat().st_size for file in sizes if file.is_file()),
        "dependencies": list(dict.fromkeys(filter(None, needs))),
    }


def licence(metadata: importlib.metadata.PackageMetadata) -> str:
    """The licence's expression, else its short name, else what the package is classified as."""
    texts = [metadata[key] for key in ("License-Expression", "License") if key in metadata]
    short = texts[0] if texts else ""
    if 0 < len(short) <= 40 and not short.startswith("Copyright"):
        return short
    classified = [text for text in metadata.get_all("Classifier") or () if text.startswith("License ::")]
    return str(classified[0].rpartition(" :: ")[2]) if classified else ""


def dependency(requirement: str, extras: list[str]) -> str:
    """The name of a dependency that applies here: of an extra that was asked for or of none, and installed."""
    name, _, marker = requirement.partition(";")
    wanted = re.findall(r"""extra\s*==\s*["']([^"']+)["']""", marker)
    if wanted and not set(wanted) & set(extras):
        return ""
    plain = re.match(r"[A-Za-z0-9._-]+", name.strip())
    try:
        return str(importlib.metadata.distribution(plain.group()).metadata["Name"]) if plain else ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def of_module(name: str) -> dict[str, object]:
    """A module that comes with Python: its own files and those of the extension beneath it."""
    files = []
    for module in (name, f"_{name}"):
        spec = importlib.util.find_spec(module)
        if spec is not None and spec.origin not in (None, "built-in"):
            origin = Path(str(spec.origin))
            files += list(origin.parent.glob("*.py")) if spec.submodule_search_locations else [origin]
    if not files:
        sys.exit(f"{name} is neither an installed package nor a module of Python")
    return {
        "version": platform.python_version(),
        "licence": "Python's own",
        "released": "",
        "size_bytes": sum(file.stat().st_size for file in files),
        "dependencies": [],
    }


main()
