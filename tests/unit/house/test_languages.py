"""A language is one folder of runners/: engines name none, and no toolchain stands or is chosen by name in src."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import pytest

from rowpath.runners.manifest import languages
from tests.unit.house.test_rooms import SOURCE, called, imported, nodes, trees

Find = Callable[[ast.AST], Iterator[str]]
# Our own C programs, and the pins of Java artefacts, stand in their languages' folders: engines rest on them, too.
NAME_A_FOLDER = {"machine/c_tools.py", "machine/jvm.py", "machine/maven.py", "execution/emulated_link.py"}


def toolchains(tree: ast.AST) -> Iterator[str]:
    """Where code takes the toolchain of a certain language."""
    yield from (name for _line, name in imported(tree) if "toolchain" in name.rpartition(".")[0])
    for node in nodes(tree):
        if isinstance(node, ast.Call) and called(node.func) == "toolchain" and isinstance(node.args[0], ast.Constant):
            yield ast.unparse(node)


def texts(tree: ast.AST) -> Iterator[str]:
    """The texts in code, without those that document it."""
    bare = {id(node.value) for node in nodes(tree) if isinstance(node, ast.Expr)}
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value


def text_of(node: ast.expr) -> str:
    """The text that an expression is; empty for any other."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def folders(tree: ast.AST) -> Iterator[str]:
    """Where code names the folder of a language."""
    named = [f"{text}/" for text in texts(tree) if "runners/" in text]
    yield from (name for text in named for name in languages() if f"runners/{name}/" in text)
    for node in nodes(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and text_of(node.right) in languages():
            before = node.left.right if isinstance(node.left, ast.BinOp) else node.left
            if text_of(before) == "runners":
                yield text_of(node.right)


def names(tree: ast.AST) -> Iterator[str]:
    """Where code names a language."""
    known = languages()
    yield from (text for text in texts(tree) if text in known)


def found_by(find: Find, room: str = "") -> dict[str, list[str]]:
    """What `find` yields, by file, in this room or in all."""
    files = {str(file.relative_to(SOURCE)): list(find(tree)) for file, tree in trees().items()}
    return {file: uses for file, uses in files.items() if uses and file.startswith(room)}


def test_no_module_takes_the_toolchain_of_a_certain_language() -> None:
    assert found_by(toolchains) == {}
    assert not [str(file) for file in SOURCE.rglob("*toolchain*") if file.suffix == ".py"]


def test_no_engine_names_a_language() -> None:
    assert found_by(folders, "engines/") == {}
    assert found_by(names, "engines/") == {}


def test_the_places_of_a_language_outside_its_folder_are_none() -> None:
    assert found_by(names, "runners/") == {}
    assert set(found_by(folders)) == NAME_A_FOLDER


@pytest.mark.parametrize(
    ("code", "find", "uses"),
    [
        ("def f():\n    from rowpath.runners.toolchains import java", toolchains, ["rowpath.runners.toolchains.java"]),
        ("manifest.toolchain('c').build([])", toolchains, ["manifest.toolchain('c')"]),
        ("toolchain(adapter.language).build([])", toolchains, []),
        ("data_dir() / 'runners' / 'java' / 'toolchain.py'", folders, ["java"]),
        ("Path('runners/go/core')", folders, ["go"]),
        ("'See runners/c/core.'\nfolder / 'runners' / name", folders, []),
        ("language('java').helper_threads", names, ["java"]),
    ],
)
def test_a_use_is_seen(code: str, find: Find, uses: list[str]) -> None:
    assert list(dict.fromkeys(find(ast.parse(code)))) == uses
