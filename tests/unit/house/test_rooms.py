"""Rooms of src/rowpath import only what the table of docs/architecture.md allows."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "rowpath"
ALL = "all above"


def table() -> dict[str, set[str]]:
    """The rooms that each room may import, from the page; the top modules and `model` are in every row."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (`.*?) \| .*? \| (.*?) \|$", page.partition("## Rooms")[2].partition("\n## ")[0], re.MULTILINE
    )
    allowed: dict[str, set[str]] = {}
    everybody = {"__version__"}
    for names, words in rows:
        rooms = re.findall(r"`(\w+)`", names)
        named = set(re.findall(r"`(\w+)`", words))
        known = (set(allowed) - named) if words.startswith(ALL) else named
        for room in rooms:
            allowed[room] = known | everybody | set(rooms)
        if len(allowed) <= 5:
            everybody |= set(rooms)
    return allowed


def called(function: ast.expr) -> str:
    """The last name of what is called."""
    return getattr(function, "attr", "") or getattr(function, "id", "")


@functools.cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Every node of a tree, kept: to walk through all modules takes longer than to parse them."""
    return tuple(ast.walk(tree))


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every module of ours that is imported, deferred and by-name imports included."""
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            dotted = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and called(node.func) == "import_module":
            dotted = [ast.unparse(node.args[0]).lstrip("f").strip("'\"")]
        else:
            continue
        yield from ((node.lineno, name) for name in dotted if name.startswith("rowpath."))


@functools.cache
def trees() -> dict[Path, ast.Module]:
    """Every module, parsed."""
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in SOURCE.rglob("*.py")}


@functools.cache
def arrows() -> list[tuple[str, str, str]]:
    """(room, imported room, where) of every import between rooms."""
    found = []
    for file, tree in trees().items():
        if "cheats" in file.parts:
            continue
        room = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        for line, name in imported(tree):
            if name.split(".")[1] != room:
                found.append((room, name.split(".")[1], f"{file.relative_to(ROOT)}:{line} imports {name}"))
    return found


def test_every_room_is_in_the_table() -> None:
    rooms = {file.relative_to(SOURCE).parts[0].removesuffix(".py") for file in SOURCE.rglob("*.py")}
    assert rooms - {"__init__", "__main__"} == set(table())


def test_no_room_imports_what_the_table_does_not_name() -> None:
    allowed = table() | {"__main__": {"cli"}, "__init__": {"api"}}
    assert len(arrows()) > 100
    assert not [where for room, other, where in arrows() if other not in allowed[room]]


def test_every_room_says_what_flows_through_it() -> None:
    rooms = sorted(folder for folder in SOURCE.iterdir() if (folder / "__init__.py").is_file())
    assert len(rooms) > 15
    texts = {room.name: ast.get_docstring(trees()[room / "__init__.py"]) or "" for room in rooms}
    assert {
        name: len(text.splitlines()) for name, text in texts.items() if not 10 <= len(text.splitlines()) <= 50
    } == {}


def test_execution_and_analysis_do_not_know_each_other() -> None:
    assert not {("execution", "analysis"), ("analysis", "execution")} & {(room, other) for room, other, _ in arrows()}


def module_imports(tree: ast.AST, modules: set[str]) -> Iterator[str]:
    """Every module of ours that the code imports, wherever the import stands."""
    for _line, name in imported(tree):
        module = name if name in modules else name.rpartition(".")[0]
        if module in modules:
            yield module


def type_checking_imports(tree: ast.AST, modules: set[str]) -> Iterator[str]:
    """Every module of ours that is imported only for annotations."""
    for node in nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from module_imports(node, modules)


def reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    """The modules that a module imports, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_no_import_for_annotations_hides_a_cycle() -> None:
    named = {
        ".".join(("rowpath", *file.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): tree
        for file, tree in trees().items()
    }
    modules = set(named)
    graph = {name: set(module_imports(tree, modules)) for name, tree in named.items()}
    assert not [
        f"{name} imports {other}, which imports it"
        for name, tree in named.items()
        for other in type_checking_imports(tree, modules)
        if name in reached(other, graph)
    ]
