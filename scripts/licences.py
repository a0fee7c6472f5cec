"""Writes docs/licences.md: every package that a lock file or a pin of the project names, with its licence.

`.venv/bin/python scripts/licences.py [FOLDER]` reads what the packages say of themselves, where they were fetched on
this machine (`CARGO_HOME` and `GOMODCACHE` name other places, FOLDER has wheels); a package that is not here keeps its
line. tests/unit/house/test_licences.py compares the page with the locks.
"""

from __future__ import annotations

import email
import functools
import itertools
import json
import os
import re
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from scripts.build_wheel import ZIG  # noqa: E402

from rowpath.explain import py_spy  # noqa: E402
from rowpath.machine import jvm, maven, postgresql_programs  # noqa: E402
from rowpath.machine.directories import cache_dir  # noqa: E402
from rowpath.runners.manifest import toolchain  # noqa: E402

Package = tuple[str, str]  # name, version
_c: Any = toolchain("c")
_java: Any = toolchain("java")
_node: Any = toolchain("node")
HEAD = """# Licences

Rowpath itself is Apache-2.0 and contains none of these packages, but for what `NOTICE` names of its wheel, and its
completions for shells, in `share/`: they hold text of shtab's, and are MPL-2.0. Rowpath fetches packages for the paths
that need them, each pinned by a hash in a lock file; some only on
[request](engines.md#engines-by-hand-rowpath-engine). Debian's packages carry their licences in `/usr/share/doc`.
`scripts/licences.py` writes this page of what each package says of itself.
"""
# How the text of a licence begins or what only it says, most particular first.
TEXTS = {
    "Apache-2.0": r"Apache License,?\s+Version 2\.0",
    "MPL-2.0": r"Mozilla Public License,? (Version|v\.?) ?2\.0",
    "LGPL-2.1": r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1",
    "LGPL-3.0": r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3",
    "GPL-2.0": r"GNU GENERAL PUBLIC LICENSE\s+Version 2",
    "EPL-2.0": r"Eclipse Public License - v ?2\.0",
    "PSF-2.0": r"PYTHON SOFTWARE FOUNDATION LICENSE",
    "BSD-3-Clause": r"Redistribution and use in source and binary forms[\s\S]*(Neither the names?|endorse or promote)",
    "BSD-2-Clause": r"Redistribution and use in source and binary forms",
    "MIT": r"Permission is hereby granted, free of charge, to any person",
    "ISC": r"Permission to use, copy, modify, and(/or)? distribute this software",
}


def python_packages() -> Iterator[Package]:
    """Of every lock of Python, and the wheels that bring programs."""
    for file in PYTHON_LOCKS:
        for name, version in re.findall(r"^([A-Za-z0-9._-]+)(?:\[.*?\])?==([^\s;\\]+)", _read(file), re.MULTILINE):
            yield _normal(name), version
    for wheel in (postgresql_programs.WHEEL, jvm.WHEEL, py_spy.WHEEL, _node.WHEEL, _c.ADBC, ZIG):
        yield wheel.name, wheel.version


def java_packages() -> Iterator[Package]:
    """Of Maven, without classifiers: every pin."""
    for coordinates in maven.pinned():
        group, artifact, version, *_ = coordinates.split(":")
        yield f"{group}:{artifact}", version


def node_packages() -> Iterator[Package]:
    """Of npm."""
    return ((name, version) for name, version, _ in _locked_by_npm())


def go_packages() -> Iterator[Package]:
    """The modules that a build takes: go.mod names all of them."""
    for file in GO_LOCKS:
        yield from re.findall(r"^(?:require )?\s+(\S+) (v\S+)(?: //.*)?$", _read(file), re.MULTILINE)


def rust_packages() -> Iterator[Package]:
    """The crates of both locks that are not ours."""
    for file in RUST_LOCKS:
        for crate in tomllib.loads(_read(file))["package"]:
            if "source" in crate:
                yield crate["name"], crate["version"]


def python_licence(name: str, version: str) -> str:
    """What the metadata say; else which known licence the text in the package is."""
    metadata, texts = _distributions().get((name, version), ("", ()))
    told = email.message_from_string(metadata)
    if short := told.get("License-Expression"):
        return str(short)
    classified = [text for text in told.get_all("Classifier") or () if text.startswith("License ::")]
    named = [text.rpartition(" :: ")[2] for text in classified if text.count(" :: ") > 1]
    if named and named != ["BSD License"]:
        return " or ".join(named)
    short = " ".join((told.get("License") or "").split())
    return short if 0 < len(short) <= 40 else _known(texts) or " or ".join(named) or _known([short])


def java_licence(name: str, version: str) -> str:
    """What the POM, its parents' or the archive say."""
    pinned = next(each for each in maven.pinned() if each.startswith(f"{name}:{version}"))
    if maven.missing([pinned]):
        return ""
    said: str = _java.licence(pinned)
    if said:
        return said
    with zipfile.ZipFile(maven.jar(pinned)) as archive:
        texts = [entry for entry in archive.namelist() if re.search(r"(?i)(^|/)(licen[cs]e|copying)[^/]*$", entry)]
        return _known(archive.read(entry).decode(errors="replace") for entry in texts if not entry.endswith("/"))


def node_licence(name: str, version: str) -> str:
    """What the lock says."""
    return next(licence for *package, licence in _locked_by_npm() if package == [name, version])


def go_licence(name: str, version: str) -> str:
    """Which known licence the file in the module's folder is; empty for a text that is not known."""
    escaped = re.sub("[A-Z]", lambda letter: f"!{letter[0].lower()}", f"{name}@{version}")
    cache = os.environ.get("GOMODCACHE") or Path.home() / "go" / "pkg" / "mod"
    files = sorted(Path(cache, escaped).glob("[LC][IiOo][CcPp]*"))
    return _known(file.read_text(errors="replace") for file in files if file.is_file())


def rust_licence(name: str, version: str) -> str:
    """What the crate's manifest says."""
    home = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    for manifest in Path(home, "registry", "src").glob(f"*/{name}-{version}/Cargo.toml"):
        said: str = tomllib.loads(manifest.read_text())["package"].get("license", "")
        return said.replace("/", " OR ") if " " not in said else said
    return ""


PYTHON_LOCKS = (
    "requirements.lock",
    "dev-requirements.lock",
    "docs-requirements.lock",
    "apart-requirements.lock",
    "runners/python/requirements.lock",
    "runners/python/compiled.lock",
    "runners/python/duckdb-1.5.lock",
    "src/rowpath/hosts/requirements.lock",
)
NODE_LOCKS = ("runners/node/package-lock.json", "web/package-lock.json")
RUST_LOCKS = ("runners/rust/Cargo.lock", "runners/rust/sqlx/Cargo.lock")
GO_LOCKS = ("runners/go/go.mod", ".ci/actionlint/go.mod")
LOCKS = (*PYTHON_LOCKS, *NODE_LOCKS, *RUST_LOCKS, *GO_LOCKS, "runners/java/checksums.toml")
SOURCES: dict[str, tuple[Callable[[], Iterator[Package]], Callable[[str, str], str]]] = {
    "Python": (python_packages, python_licence),
    "Java": (java_packages, java_licence),
    "Node": (node_packages, node_licence),
    "Go": (go_packages, go_licence),
    "Rust": (rust_packages, rust_licence),
}


def locked() -> dict[str, list[Package]]:
    """By section of the page: every package that the locks name."""
    return {section: sorted(set(packages())) for section, (packages, _) in SOURCES.items()}


def listed() -> dict[str, dict[Package, str]]:
    """What stands in the page: by section, the packages with their licences."""
    found: dict[str, dict[Package, str]] = {}
    for section, lines in re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        rows = re.findall(r"^\| `(.+)` \| (\S+) \| (.*) \|$", lines, re.MULTILINE)
        found[section] = {(name, version): licence for name, version, licence in rows}
    return found


def page(before: dict[str, dict[Package, str]]) -> str:
    """The page, from what is on this machine, else from what it said before."""
    text = HEAD
    for section, packages in locked().items():
        text += f"\n## {section}\n| package | version | licence |\n| --- | --- | --- |\n"
        for package in packages:
            licence = SOURCES[section][1](*package) or before.get(section, {}).get(package, "")
            text += f"| `{package[0]}` | {package[1]} | {' '.join(licence.replace('|', 'or').split())} |\n"
    return text


def _known(texts: Iterable[str]) -> str:
    found = (next((name for name, words in TEXTS.items() if re.search(words, text)), "") for text in texts)
    return " and ".join(dict.fromkeys(filter(None, found)))


@functools.cache
def _locked_by_npm() -> list[tuple[str, str, str]]:
    packages = itertools.chain(*(json.loads(_read(file))["packages"].items() for file in NODE_LOCKS))
    return [
        (place.rpartition("node_modules/")[2], each["version"], each["license"]) for place, each in packages if place
    ]


@functools.cache
def _distributions() -> dict[Package, tuple[str, list[str]]]:
    """By name and version: the metadata of every installed package and wheel, and the texts of its licences."""
    places = [Path(sys.prefix), cache_dir() / "build" / "python", cache_dir() / "hosts"]
    found = {}
    for folder in (folder for place in places for folder in place.rglob("*.dist-info")):
        files = [
            file for file in folder.rglob("*") if re.search(r"(?i)licen[cs]e|copying", file.name) and file.is_file()
        ]
        if (folder / "METADATA").is_file():
            texts = [file.read_text(errors="replace") for file in files]
            found[_of(folder.name)] = (folder / "METADATA").read_text(errors="replace"), texts
    for file in Path(sys.argv[1] if len(sys.argv) > 1 else os.devnull).glob("*.whl"):
        with zipfile.ZipFile(file) as wheel:
            names = [name for name in wheel.namelist() if ".dist-info/" in name]
            texts = [wheel.read(name).decode(errors="replace") for name in names if re.search(r"(?i)licen[cs]e", name)]
            metadata = next(name for name in names if name.endswith("/METADATA"))
            found[_of(metadata.split("/")[0])] = wheel.read(metadata).decode(), texts
    return found


def _of(folder: str) -> Package:
    name, _, version = folder.removesuffix(".dist-info").rpartition("-")
    return _normal(name), version


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def main() -> int:
    """Write the page; name the packages without a licence."""
    PAGE.write_text(page(listed() if PAGE.exists() else {}), encoding="utf-8")
    lacking = [f"{section}: {name} {version}" for section, rows in listed().items()
               for (name, version), licence in rows.items() if not licence]  # fmt: skip
    print("\n".join(lacking) or f"{PAGE.relative_to(ROOT)}: {sum(map(len, listed().values()))} packages")
    return bool(lacking)


if __name__ == "__main__":
    sys.exit(main())
