"""The table that `--table` names: what an engine would fold, or read as a word of its SQL, is quoted."""

from __future__ import annotations

import itertools
import re

from rowpath.engines.probe_facts import Syntax
from rowpath.errors import UsageError

WHOLE = "SELECT * FROM "  # the query for a table
_PART = re.compile(r'"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^."`]+')


def queries_of(name: str, syntax: Syntax) -> tuple[str, ...]:
    """The query for the table of exactly that name, then with its parts as the engine folds them, one after another.

    Parts of the name are between points; a part with a point in it stands in quotes. Where the dialect is unknown, only
    plain names are taken, as they are. Errors: UsageError.
    """
    parts = _PART.findall(name)
    if not parts or ".".join(parts) != name:
        hint = "quote a part that has a point or a quote in it: --table 'shop.\"weird.name\"'"
        raise UsageError(f"--table {name}: not the name of a table", hint)
    plain = [bool(re.fullmatch(r"[^\W\d][\w$]*", part)) for part in parts]
    if syntax.unknown:
        if not all(known or part[0] in '"`' for known, part in zip(plain, parts, strict=True)):
            raise UsageError(f"--table {name}: not a plain name", "quote it as your database does, or use --query")
        return (f"{WHOLE}{name}",)
    meant = [
        dict.fromkeys((part, syntax.fold(part)) if known else (_inside(part),))
        for known, part in zip(plain, parts, strict=True)
    ]
    every = (".".join(_quoted(part, syntax.name_quote) for part in names) for names in itertools.product(*meant))
    return tuple(f"{WHOLE}{each}" for each in every)


def parts_of(name: str) -> list[str]:
    """The parts of a quoted name, without their quotes."""
    return [_inside(part) for part in _PART.findall(name)]


def _inside(part: str) -> str:
    """A part without its quotes, if it has them."""
    quote = part[0]
    return part[1:-1].replace(2 * quote, quote) if quote in '"`' else part


def _quoted(part: str, quote: str) -> str:
    return f"{quote}{part.replace(quote, 2 * quote)}{quote}"
