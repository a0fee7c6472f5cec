"""Where the words, signs and quotes of a query begin and end, as each engine reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rowpath.engines.probe_facts import Syntax
from rowpath.errors import UsageError

ADVICE = "docs/probe.md has the SQL of a read-only role, the safest protection"
BLANK, COMMENT, HINT = "blank", "comment", "hint"  # kinds of pieces that are no tokens
STRING, NAME, DOLLAR = "string", "name", "dollar"  # kinds of pieces that quote something
_PIECE = re.compile(
    r"(?P<blank>[\s\u200b\u2060\ufeff]+)"  # those without a width are blanks to some engines
    r"|(?P<line>--[^\n]*)"
    r"|(?P<block>/\*)"
    r"|(?P<string>[eE]?'|\")"
    r"|(?P<name>`(?:[^`]|``)*`)"
    r"|(?P<dollar>\$(?:[^\W\d]\w*)?\$)"
    r"|(?P<word>[^\W\d][\w$]*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
_MARK = re.compile(r"/\*|\*/")


class Piece(NamedTuple):
    """A part of a query. `token`: the word or sign; what is quoted stands behind the sign that quotes it."""

    kind: str
    begin: int
    end: int
    token: str = ""


def tokens_of(sql: str, syntax: Syntax) -> list[Piece]:
    """The query's words, signs, numbers, strings and names. Errors: UsageError where a quote or comment never ends."""
    return [piece for piece in pieces_of(sql, syntax) if piece.token]


def pieces_of(sql: str, syntax: Syntax) -> Iterator[Piece]:
    """The whole query in pieces, blanks and comments too. Errors: as `tokens_of`."""
    position = 0
    while position < len(sql):
        piece = _piece(sql, position, syntax)
        yield piece
        position = piece.end


def _piece(sql: str, begin: int, syntax: Syntax) -> Piece:
    match = _PIECE.match(sql, begin)
    assert match is not None
    kind, text, end = str(match.lastgroup), match[0], match.end()
    if kind == BLANK:
        return Piece(BLANK, begin, end)
    if kind == "line":
        if syntax.backslashes and not re.match(r"--([\x00-\x20\x7f]|$)", text):
            return Piece("sign", begin, begin + 1, "-")  # two minuses
        if "\r" in text.rstrip("\r"):
            raise refused("servers disagree whether a carriage return ends a comment", "end its lines with line feeds")
        return Piece(COMMENT, begin, end)
    if text == "#" and syntax.backslashes:
        end = sql.find("\n", begin)
        return Piece(COMMENT, begin, len(sql) if end < 0 else end)
    if kind == "block":
        return Piece(HINT if sql.startswith("/*+", begin) else COMMENT, begin, _after_comment(sql, begin, syntax))
    if kind == STRING:
        end = _after_string(sql, begin, text, syntax)
        return Piece(STRING if text[-1] == "'" else NAME, begin, end, text[-1] + sql[begin + len(text) : end - 1])
    if kind == DOLLAR and syntax.dollar_quotes:
        close = sql.find(text, end)
        if close < 0:
            raise refused(f"{text} is never closed")
        return Piece(DOLLAR, begin, close + len(text), "'")
    if text == "[" and syntax.brackets:
        close = sql.find("]", begin)
        return Piece(NAME, begin, len(sql) if close < 0 else close + 1, "[")
    return Piece(kind, begin, end, text[:-1] if kind == NAME else text)


def _after_comment(sql: str, position: int, syntax: Syntax) -> int:
    if sql[position + 2 : position + 3] == "!" or sql[position + 2 : position + 4] == "M!":
        raise refused("some servers execute comments of the form /*! … */")
    depth = 0
    for mark in _MARK.finditer(sql, position):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
        if depth > 1 and not syntax.nested_comments:
            raise refused("servers disagree about the end of a nested comment")
    raise refused("a comment is never closed")


def _after_string(sql: str, position: int, opening: str, syntax: Syntax) -> int:
    """The position after a string or quoted name; a doubled quote is part of it."""
    quote = opening[-1]
    escapes = syntax.backslashes or (len(opening) > 1 and syntax.escape_strings)
    position += len(opening)
    while position < len(sql):
        sign = sql[position]
        if sign == "\\" and escapes:
            position += 2
        elif sign == "\\" and syntax.unknown and sql[position + 1 : position + 2] == quote:
            raise refused("a backslash before a quote ends a string at some servers and not at others")
        elif sign == quote and sql[position + 1 : position + 2] == quote:
            position += 2
        elif sign == quote:
            return position + 1
        else:
            position += 1
    raise refused(f"a {quote} is never closed")


def refused(why: str, hint: str = ADVICE) -> UsageError:
    """The error for what is plainly no query, or not one only."""
    return UsageError(f"only a single SELECT can be probed: {why}", hint)
