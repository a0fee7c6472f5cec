"""Lines of code in a source file: neither blank nor comment."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path
from typing import Any

import msgspec

from rowpath.runners.manifest import Adapter, family_folders, language, source_file

# What begins first wins: a comment's mark inside a string is none, nor a quote inside a comment.
_STRINGS = r'"""[\s\S]*?"""|@"(?:[^"]|"")*"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_BRACES = re.compile(rf"(?P<kept>{_STRINGS})|//[^\n]*|/\*[\s\S]*?\*/")
_COBOL = re.compile(r"(?P<kept>\"[^\"\n]*\")|\*>[^\n]*")
_COMMENTS = dict.fromkeys((".c", ".h", ".pgc", ".java", ".cs", ".go"), _BRACES) | {".cob": _COBOL, ".cpy": _COBOL}
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def count(text: str, suffix: str, comment_marks: tuple[str, ...] = ()) -> int:
    """Lines that hold code; a Python docstring is a comment, any other text of several lines is code.

    Of a language that is not known here: lines that do not begin with a mark of a comment.
    """
    if suffix == ".py":
        return _count_python(text)
    if suffix not in _COMMENTS:
        return sum(1 for line in map(str.strip, text.splitlines()) if line and not line.startswith(comment_marks))
    return sum(1 for line in without_comments(text, suffix).splitlines() if line.strip())


def without_comments(text: str, suffix: str) -> str:
    """The text of a file of that suffix, with as many lines."""
    return _COMMENTS[suffix].sub(lambda match: match["kept"] or "\n" * match[0].count("\n"), text)


def _count_python(text: str) -> int:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, documented))
    docstrings = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in nodes
        if ast.get_docstring(node, clean=False) is not None
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE and not (token.type == tokenize.STRING and token.start in docstrings):
            lines |= set(range(token.start[0], token.end[0] + 1))
    blank = {number for number, line in enumerate(text.splitlines(), 1) if not line.strip()}
    return len(lines - blank)


def own_source(adapter: Adapter, engine: str) -> Path | None:
    """The adapter's own file, with the build of that engine where there is one for each; None for an external one."""
    if "command" in adapter.build:
        return None
    return source_file(adapter, _build_for(adapter, engine).get("source", ""))


def _build_for(adapter: Adapter, engine: str) -> dict[str, Any]:
    own: dict[str, Any] = adapter.build.get("engine", {}).get(engine, {})
    return adapter.build | own


def lines_of_code(adapter: Adapter, engine: str) -> tuple[int, int]:
    """Lines of the adapter's own file, and those with everything it rests on outside the core; 0 for an external one.

    With the build of that engine, where there is one for each.
    """
    own = own_source(adapter, engine)
    if own is None:
        return 0, 0
    build = _build_for(adapter, engine)
    folders = family_folders(msgspec.structs.replace(adapter, build=build))
    header = language(adapter.language)
    suffixes = {header.source_suffix, ".py", *_COMMENTS}
    rest = {file for folder in folders for file in folder.rglob("*") if file.suffix in suffixes}
    rest |= {source_file(adapter, name) for name in build.get("more_sources", ())}
    counts = {file: count(file.read_text(encoding="utf-8"), file.suffix, header.comment_marks) for file in {own, *rest}}
    return counts[own], sum(counts.values())
