"""Lines of code in a source file: neither blank nor comment."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

# What begins first wins: a comment's mark inside a string is none, nor a quote inside a comment.
_STRINGS = r'"""[\s\S]*?"""|@"(?:[^"]|"")*"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_BRACES = re.compile(rf"(?P<kept>{_STRINGS})|//[^\n]*|/\*[\s\S]*?\*/")
_COBOL = re.compile(r"(?P<kept>\"[^\"\n]*\")|\*>[^\n]*")
_COMMENTS = dict.fromkeys((".c", ".h", ".pgc", ".java", ".cs", ".go"), _BRACES) | {".cob": _COBOL, ".cpy": _COBOL}
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def is_source(file: Path) -> bool:
    """Whether it is source of a language that is known here."""
    return file.suffix == ".py" or file.suffix in _COMMENTS


def count(text: str, suffix: str, comment_marks: tuple[str, ...] = ()) -> int:
    """Lines that hold code; a Python docstring is a comment, any other text of several lines is code.

    Of a language that is not known here: lines that do not begin with a mark of a comment.
    """
    if suffix == ".py":
        return _count_python(text)
    if suffix not in _COMMENTS:
        return sum(1 for line in map(str.strip, text.splitlines()) if line and not line.startswith(comment_marks))
    without = _COMMENTS[suffix].sub(lambda found: found["kept"] or "\n" * found[0].count("\n"), text)
    return sum(1 for line in without.splitlines() if line.strip())


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
