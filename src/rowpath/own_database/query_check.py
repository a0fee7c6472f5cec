"""Whether a statement is plainly a query, by its words only: advice, not protection, which only a role can be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import Syntax
from rowpath.errors import UsageError

ADVICE = "docs/probe.md has the SQL of a read-only role, the safest protection"
ELSEWHERE = "a probe changes nothing; experiments measure writes, on their own tables: rowpath list experiments"
QUOTES = '"`'  # of names
BEGINNINGS = ("SELECT", "WITH", "VALUES", "TABLE")
CHANGES = ("INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE")
# Pairs of words with which a query takes locks.
LOCKS = {("FOR", "UPDATE"), ("FOR", "SHARE"), ("FOR", "NO"), ("FOR", "KEY"), ("LOCK", "IN"), ("USE", "AND")}
SET_OPERATIONS = ("UNION", "EXCEPT", "INTERSECT")
AFTER_A_KEY = ("ASC", "DESC", "NULLS", "LIMIT", "OFFSET", "FETCH", "COLLATE", "USING")
LOCK_HINTS = ("UPDLOCK", "XLOCK", "TABLOCK", "TABLOCKX")
WRITING = re.compile(
    r"setval|nextval|set_config|pg_notify|txid_current|pg_current_xact_id|pg_reload_conf|pg_rotate_logfile|pg_promote"
    r"|pg_(terminate|cancel)_backend|pg_(try_)?advisory_\w+|pg_(create|drop|switch|export|import|file|log)_\w+"
    r"|pg_(logical|replication|wal_replay|stat_reset|sync|copy)\w*|pg_stat_statements_reset|lo_\w+|lowrite|dblink\w*"
    r"|(query|table|schema|database|cursor)_to_xml\w*"
    r"|get_lock|release_lock|release_all_locks|load_file|sys_exec|sys_eval"
    r"|load_extension|writefile|edit|fts\w*_optimize"
    r"|csvwrite|file_write|link_schema|lock_mode|syscs_\w+",
    re.IGNORECASE,
)  # functions that write, wait for others, undo the session's settings or reach elsewhere
_TOKEN = re.compile(
    r"(?P<space>\s+)"
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


def check_query(sql: str, engine: str) -> None:
    """Returns when the statement plainly reads and does nothing else. Errors: UsageError."""
    syntax = ENGINES[engine].probe.syntax
    if syntax is None:
        raise UsageError("a file has no query language", "remove --query: the whole file is read")
    tokens = [token for token, _place in placed_tokens(sql, syntax)]
    while tokens and tokens[-1] == ";":
        tokens.pop()
    if not tokens:
        raise UsageError("the query is empty", "--query 'SELECT …'")
    if ";" in tokens:
        raise _refused("several statements")
    first = next((token for token in tokens if token != "("), "")
    if first.upper() not in (*BEGINNINGS, *syntax.first_words):
        hint = ELSEWHERE if first.upper() in (*CHANGES, "CALL") else ADVICE
        raise _refused(f"the query begins with {first[:40]}, not with {', '.join(BEGINNINGS)}", hint)
    if first.upper() == "WITH" and (main := _main_word(tokens)) in CHANGES:
        raise _refused(f"its WITH ends in {main}", ELSEWHERE)
    words = [token.upper() for token in tokens]
    for before, word, token, after in zip(["", *words], words, tokens, [*words[1:], ""], strict=False):
        if after == "(" and WRITING.fullmatch(token.lstrip(QUOTES)):
            raise _refused(f"the function {token.lstrip(QUOTES)} does more than read")
        if before == ".":
            continue
        if word == "INTO":
            raise _refused("INTO stores the rows")
        if word in CHANGES and before in ("(", ")") and after != "(":
            raise _refused(f"the query contains {word}", ELSEWHERE)
        if (word, after) in LOCKS:
            raise _refused(f"{word} {after} takes locks")
        if word in LOCK_HINTS:
            raise _refused(f"{word} takes locks")
        if (before, word, after) == ("NEXT", "VALUE", "FOR"):
            raise _refused("NEXT VALUE FOR moves a sequence")


def _main_word(tokens: list[str]) -> str:
    """The word with which the statement after a WITH's queries begins."""
    depth = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if depth == 0 and token.upper() in (*BEGINNINGS[:1], *BEGINNINGS[2:], *CHANGES, "FROM"):
            return token.upper()
    return ""


def leading_key(sql: str, syntax: Syntax) -> str | None:
    """By what the whole statement sorts first: a column's name or number, "" for an expression; None: it does not."""
    depth, sorting = 0, False
    key: list[str] = []
    tokens = [token for token, _place in placed_tokens(sql, syntax)]
    for before, token in zip(["", *tokens], tokens, strict=False):
        depth += (token == "(") - (token == ")")
        words = before.upper(), token.upper()
        if depth == 0 and words == ("ORDER", "BY"):
            sorting, key = True, []
        elif depth == 0 and words[1] in SET_OPERATIONS:
            sorting = False
        elif sorting and depth == 0 and (token == "," or words[1] in AFTER_A_KEY):
            break
        elif sorting:
            key.append(token)
    if not sorting:
        return None
    return key[-1].lstrip(QUOTES + "[") if len(key) == 1 or (len(key) == 3 and key[1] == ".") else ""


def placed_tokens(sql: str, syntax: Syntax) -> Iterator[tuple[str, int]]:
    """Words, signs and numbers with their places; strings and names behind the sign that quotes them; no comments."""
    position = 0
    while position < len(sql):
        match = _TOKEN.match(sql, position)
        assert match is not None
        kind, text, begin = match.lastgroup, match[0], position
        if kind == "line" and syntax.backslashes and not re.match(r"--(\s|$)", text):
            kind, text = "sign", "-"  # two minuses
        if text == "#" and syntax.backslashes:
            end = sql.find("\n", begin)
            position = len(sql) if end < 0 else end
        elif kind == "block":
            position = _after_comment(sql, begin, syntax)
        elif kind == "string":
            position = _after_string(sql, begin, text, syntax)
            yield text[-1] + sql[begin + len(text) : position - 1], begin
        elif kind == "dollar" and syntax.dollar_quotes:
            end = sql.find(text, match.end())
            if end < 0:
                raise _refused(f"{text} is never closed")
            position = end + len(text)
            yield "'", begin
        elif text == "[" and syntax.brackets:
            end = sql.find("]", begin)
            position = len(sql) if end < 0 else end + 1
            yield "[", begin
        else:
            position += len(text)
            if kind not in ("space", "line"):
                yield text[:-1] if kind == "name" else text, begin


def _after_comment(sql: str, position: int, syntax: Syntax) -> int:
    if sql[position + 2 : position + 3] == "!" or sql[position + 2 : position + 4] == "M!":
        raise _refused("some servers execute comments of the form /*! … */")
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(sql, position):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
        if depth > 1 and not syntax.nested_comments:
            raise _refused("servers disagree about the end of a nested comment")
    raise _refused("a comment is never closed")


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
            raise _refused("a backslash before a quote ends a string at some servers and not at others")
        elif sign == quote and sql[position + 1 : position + 2] == quote:
            position += 2
        elif sign == quote:
            return position + 1
        else:
            position += 1
    raise _refused(f"a {quote} is never closed")


def _refused(why: str, hint: str = ADVICE) -> UsageError:
    return UsageError(f"only a single SELECT can be probed: {why}", hint)
