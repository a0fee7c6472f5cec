"""What the full matrix of an adapter on an engine, or a file of tests, rests on, as one hash; and which have passed.

The key of an adapter covers everything that could change an answer: the adapter's manifest entry and sources, its
language's core, families, build files and lock files, every module that conformance and the engine import, the cases
and their workloads, what docs/capabilities.json keeps of it, the Python version, and the versions of the packages in
packages.txt. That of a file of tests:
every module that it imports, directly or not, every engine and workload, the runners, and the same surroundings. An
unknown key is never skipped.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import cast

import msgspec

from rowpath.checks import conformance
from rowpath.engines import ENGINES
from rowpath.machine.directories import cache_dir
from rowpath.runners import manifest
from rowpath.runners.manifest import Adapter
from tests.script import script

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
FOLDER = "test-passed"
SEVENTHS = 7
PLACES = {"rowpath": SOURCES, "tests": ROOT}  # of our packages
HOSTS = ROOT / "tests" / "hosts"
KEYED = (ROOT / "tests" / "engines", ROOT / "tests" / "runners", HOSTS)  # what their files rest on is known
PACKAGE = "rowpath"
IMPORTS = re.compile(r"\b(?:from|import) ((?:rowpath|tests)[\w.]*)(?: import (\w+))?")
capabilities = script("capabilities")
COMPILED = {"__pycache__", "target", "bin", "obj"}


def unit(adapter: Adapter, engine: str) -> str:
    """How an adapter on an engine is named."""
    return f"{adapter.language} {adapter.driver} {engine}"


def passed(key: str) -> bool:
    """Whether this key is in the cache."""
    return _file(key).is_file()


def record(key: str, name: str) -> None:
    """Keep a key that passed; its file names the unit."""
    file = _file(key)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{name}\n", encoding="utf-8")


def forget(key: str) -> None:
    """Meet it again, for it failed."""
    _file(key).unlink(missing_ok=True)


def is_met_again(name: str, number: int) -> bool:
    """Whether a unit that passed is in the seventh of this number: every unit is in one of seven in a row."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % SEVENTHS == number % SEVENTHS


def is_met_in_full(adapter: str, *, full: bool, again: int | None) -> bool:
    """Whether each path of an adapter meets every case: with `--full`, or in the seventh that `--again` names."""
    return full or (again is not None and is_met_again(adapter, again))


def _file(key: str) -> Path:
    return cache_dir() / FOLDER / key


def key_of(adapter: Adapter, engine: str) -> str:
    """The hash of everything that the adapter's answers on the engine rest on."""
    folders = (Path(conformance.__file__).parent, ROOT / "tests" / "conformance", ROOT / "workloads")
    shared = [file for folder in folders for file in _under(folder)]
    modules = {name for file in shared if file.suffix == ".py" for name in imports_of(file)}
    modules |= {type(ENGINES[engine]).__module__, *imports_of(_toolchain(adapter.language))}
    files = {*sources_of(adapter), *shared, *(file for name in modules for file in imported(name))}
    found = hashlib.sha256()
    kept = json.dumps(capabilities.kept_of(adapter.language, adapter.driver))
    for text in (unit(adapter, engine), msgspec.json.encode(portable(adapter)).decode(), kept, surroundings()):
        found.update(f"{text}\0".encode())
    for file in sorted(files, key=_parts):
        found.update(f"{_name_of(file)}\0{hash_of(file)}\0".encode())
    return found.hexdigest()


def file_of_tests(file: Path) -> str:
    """How a file of tests that has a key is named; empty for one that has none, for it may rest on anything."""
    return str(file.relative_to(ROOT)) if any(folder in file.parents for folder in KEYED) else ""


def key_of_tests(name: str) -> str:
    """The hash of everything that a file of tests rests on; `name`: that of `file_of_tests`."""
    file = ROOT / name
    found = hashlib.sha256(f"{name}\0{surroundings()}\0".encode())
    for each in sorted(_rests_on(file), key=_parts):
        found.update(f"{_name_of(each)}\0{hash_of(each)}\0".encode())
    return found.hexdigest()


def _rests_on(file: Path) -> set[Path]:
    modules = imported(".".join(file.relative_to(ROOT).with_suffix("").parts))
    folders = {
        SOURCES / PACKAGE / "engines",
        SOURCES / PACKAGE / "runners",
        ROOT / "workloads",
        ROOT / "tests" / "tapes",
    }
    folders |= {file.parent, ROOT / "tests" / "fakes"}
    language = file.parent.name
    one = (ROOT / "runners" / language / "adapters.toml").is_file()
    # Engines have helpers in C, whatever the language of a path.
    folders |= {ROOT / "runners" / language, ROOT / "runners" / "c"} if one else {ROOT / "runners"}
    if file.parent == HOSTS or any(_name_of(each).startswith("tests/end_to_end/") for each in modules):
        # it starts `rowpath`, and some use the bench's programs
        folders |= {SOURCES, ROOT / "experiments", ROOT / "claims", ROOT / "bench"}
    about = set((ROOT / "runners").glob("*/adapters.toml"))
    for toolchain in (ROOT / "runners").glob("*/toolchain.py"):
        about |= {toolchain, *(module for name in imports_of(toolchain) for module in imported(name))}
    about |= {*(ROOT / "tests").glob("*.py"), *ROOT.glob("*.lock"), ROOT / "pyproject.toml", ROOT / "packages.txt"}
    return modules.union(about, *map(_under, folders))


def portable(adapter: Adapter) -> Adapter:
    """The manifest entry without the place of the clone."""
    return msgspec.structs.replace(adapter, folder="")


def _toolchain(language: str) -> Path:
    """The file of a language's toolchain, which is loaded by its path: no import names it."""
    return Path(inspect.getfile(cast("ModuleType", manifest.toolchain(language))))


def sources_of(adapter: Adapter) -> set[Path]:
    """All files of the adapter's language but the sources and the manifest entries of other adapters.

    Another adapter's source that its own sources name is in as well.
    """
    folder = ROOT / "runners" / adapter.language
    every = {manifest.source_file(each) for each in manifest.load_manifest(adapter.language).adapter}
    found = {manifest.source_file(adapter)}
    others = {file.stem: file for file in every}
    waiting = list(found)
    while waiting:
        words = set(re.findall(r"\w+", waiting.pop().read_text(encoding="utf-8")))
        named = {file for stem, file in others.items() if stem in words} - found
        found |= named
        waiting += named
    left_out = {*every, folder / "adapters.toml"} - found
    return found | {file for file in _under(folder) if file not in left_out}


@functools.cache
def _under(folder: Path) -> frozenset[Path]:
    return frozenset(file for file in folder.rglob("*") if file.is_file() and not COMPILED.intersection(file.parts))


@functools.cache
def imported(start: str) -> frozenset[Path]:
    """The files of a module of ours and of all modules of ours that it imports, directly or not."""
    found: set[Path] = set()
    waiting = [start]
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        file = module_file(name)
        if file is None:
            continue
        found.add(file)
        for imports in (*imports_of(file), *_parents(name)):
            if imports not in seen:
                seen.add(imports)
                waiting.append(imports)
    return frozenset(found)


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


@functools.cache
def module_file(name: str) -> Path | None:
    """Where a module of ours is; None for what is no module (a name that a module defines)."""
    place = PLACES.get(name.partition(".")[0], SOURCES).joinpath(*name.split("."))
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file():
            return file
    return None


@functools.cache
def imports_of(file: Path) -> frozenset[str]:
    """The modules of ours that a file imports anywhere in it, and the names that it imports from them.

    A program within a string, for another process, counts as well.
    """
    text = file.read_text(encoding="utf-8")
    found = {name for module, what in IMPORTS.findall(text) for name in (module, f"{module}.{what}")}
    for node in _statements(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(name for name in found if name.partition(".")[0] in PLACES)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """It and every statement in it: imports are nowhere else, and most nodes are of expressions."""
    yield node
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        inner = getattr(node, name, ())
        for each in inner if isinstance(inner, list) else ():
            yield from _statements(each)


@functools.cache
def hash_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@functools.cache
def _parts(file: Path) -> tuple[str, ...]:
    """What files are sorted by; a Path would split its name at every comparison."""
    return file.parts


@functools.cache
def _name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


@functools.cache
def surroundings() -> str:
    """Python, the machine, and the versions of the packages that packages.txt names."""
    lines = (ROOT / "packages.txt").read_text(encoding="utf-8").splitlines()
    names = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    versions = ""
    if shutil.which("dpkg-query"):
        asked = ["dpkg-query", "-W", "-f=${Package} ${Version}\n", *names]
        versions = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return f"{sys.version}\n{platform.machine()}\n{versions}"
