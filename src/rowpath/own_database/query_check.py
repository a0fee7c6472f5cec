"""Whether a statement is plainly a query, by its words only: advice, not protection, which only a role can be."""

from __future__ import annotations

import re

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import Syntax
from rowpath.errors import UsageError
from rowpath.own_database.tokens import ADVICE, refused, tokens_of

ELSEWHERE = "a probe changes nothing; experiments measure writes, on their own tables: rowpath list experiments"
QUOTES = '"`'  # of names
BEGINNINGS = ("SELECT", "WITH", "VALUES", "TABLE")
CHANGES = ("INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE")
# Statements that an engine takes in the place of a query, as DuckDB does.
INSTEAD = (*CHANGES, "TRUNCATE", "DROP", "CREATE", "ALTER", "COPY", "ATTACH", "DETACH", "INSTALL", "EXPORT", "IMPORT")
# Words after which an opening parenthesis may hold a statement that changes rows; elsewhere it is a column's name.
BEFORE_CHANGES = ("AS", "MATERIALIZED", "TABLE")
# Words with which a query takes locks.
LOCKS: tuple[tuple[str, ...], ...] = (
    *(("FOR", *kind.split()) for kind in ("UPDATE", "SHARE", "NO KEY", "KEY SHARE")),
    ("LOCK", "IN", "SHARE"),
    *(("USE", "AND", "KEEP", kind) for kind in ("SHARE", "UPDATE", "EXCLUSIVE")),
)
SET_OPERATIONS = ("UNION", "EXCEPT", "INTERSECT")
AFTER_A_KEY = ("ASC", "DESC", "NULLS", "LIMIT", "OFFSET", "FETCH", "COLLATE", "USING")
OBJECT = re.compile(r"[\w\"`\[]")  # how a word or name begins, which such a statement has next
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


def check_query(sql: str, engine: str) -> None:
    """Returns when the statement plainly reads and does nothing else. Errors: UsageError."""
    syntax = ENGINES[engine].probe.syntax
    if syntax is None:
        raise UsageError("a file has no query language", "remove --query: the whole file is read")
    tokens = [piece.token for piece in tokens_of(sql, syntax)]
    while tokens and tokens[-1] == ";":
        tokens.pop()
    if not tokens:
        raise UsageError("the query is empty", "--query 'SELECT …'")
    if ";" in tokens:
        raise refused("several statements")
    first = next((token for token in tokens if token != "("), "")
    if first.upper() not in (*BEGINNINGS, *syntax.first_words):
        hint = ELSEWHERE if first.upper() in (*CHANGES, "CALL") else ADVICE
        raise refused(f"the query begins with {first[:40]}, not with {', '.join(BEGINNINGS)}", hint)
    if first.upper() == "WITH" and (main := _main_word(tokens)) in CHANGES:
        raise refused(f"its WITH ends in {main}", ELSEWHERE)
    words = ["", *(token.upper() for token in tokens), "", ""]
    for at, token in enumerate(tokens, 1):
        before, word, after = words[at - 1 : at + 2]
        if after == "(" and WRITING.fullmatch(token.lstrip(QUOTES)):
            raise refused(f"the function {token.lstrip(QUOTES)} does more than read")
        if before == ".":
            continue
        if word == "INTO":
            raise refused("INTO stores the rows")
        if before == "(" and (words[at - 2] in BEFORE_CHANGES or syntax.unknown) and OBJECT.match(after):
            change = _main_word(tokens[at - 1 :]) if word == "WITH" else word
            if change in INSTEAD:
                raise refused(f"the query contains {change}", ELSEWHERE)
        if any(tuple(words[at : at + len(lock)]) == lock for lock in LOCKS):
            raise refused(f"{word} {after} takes locks")
        if word in LOCK_HINTS:
            raise refused(f"{word} takes locks")
        if (before, word, after) == ("NEXT", "VALUE", "FOR"):
            raise refused("NEXT VALUE FOR moves a sequence")


def _main_word(tokens: list[str]) -> str:
    """The word with which the statement after a WITH's queries begins, up to the parenthesis that ends it."""
    depth, before = 0, ""
    for token in tokens:
        depth += (token == "(") - (token == ")")
        word = token.upper()
        named = before in ("WITH", "RECURSIVE", ",")  # the name of one of these queries
        if depth == 0 and not named and word in (*BEGINNINGS[:1], *BEGINNINGS[2:], *CHANGES, "FROM"):
            return word
        if depth < 0:
            break
        before = word
    return ""


def leading_key(sql: str, syntax: Syntax) -> str | None:
    """By what the whole statement sorts first: a column's name or number, "" for an expression; None: it does not."""
    depth, sorting = 0, False
    key: list[str] = []
    tokens = [piece.token for piece in tokens_of(sql, syntax)]
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
