"""The placeholders of a user's query, in the form that their driver has: found, and written as runners take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import Syntax
from rowpath.errors import UsageError
from rowpath.probe.query_check import placed_tokens

_FORMS = {
    "?1": re.compile(r"\?(\d+)"),
    "?": re.compile(r"\?()"),
    "$1": re.compile(r"\$(\d+)"),
    "%s": re.compile(r"(?<!%)%s\b()"),
    ":name": re.compile(r"(?<![:\w\])]):([^\W\d]\w*)"),
}  # a form of placeholders → one of them, with the parameter that it takes, if it says so
_QUOTED = re.compile(r"'[^']*'?|\"[^\"]*\"?")  # as runners see it


@dataclass(frozen=True)
class Placeholders:
    """A query between its placeholders. `takes`: each one's number from 1, or its name."""

    pieces: tuple[str, ...]
    takes: tuple[str, ...]

    @property
    def sql(self) -> str:
        """The query with `?` for each of them."""
        return "?".join(self.pieces)

    def filled(self, literals: Sequence[str]) -> str:
        """The query with a literal in place of each."""
        return "".join(text for pair in zip(self.pieces, (*literals, ""), strict=True) for text in pair)

    def order(self, names: Sequence[str]) -> list[int]:
        """Which of the given parameters each placeholder takes, from 0. Errors: UsageError unless all fit.

        Named ones take the parameter of their name where the parameters have names, else they count as they come.
        """
        distinct = tuple(dict.fromkeys(self.takes))
        if all(names) and set(distinct) <= set(names):
            return [names.index(each) for each in self.takes]
        numbers = [int(each) if each.isdigit() else distinct.index(each) + 1 for each in self.takes]
        needed = max(numbers, default=0)
        if needed != len(names) or 0 in numbers:
            raise UsageError(
                f"the query takes {needed} parameter{'s' * (needed != 1)}, and {len(names)} are given",
                "give one parameter for each placeholder, in order; docs/probe.md has the forms",
            )
        return [number - 1 for number in numbers]


def placeholders(sql: str, engine: str) -> Placeholders:
    """The query's placeholders in the one form that it uses: `?`, `$1`, `%s` or `:name`.

    With `%s` a `%%` stands for `%`, as in Python's drivers. Errors: UsageError for several forms, or for a query whose
    placeholders the runners could not find again.
    """
    found = _by_form(sql, engine)
    if "?1" in found:
        raise UsageError("placeholders of the form ?1 are not supported", "write $1, $2, … or ?")
    if len(found) > 1:
        raise UsageError(
            f"the query has placeholders of several forms: {' and '.join(found)}",
            "use one form; put a blank after a % or : that is an operator",
        )
    form, places = next(iter(found.items()), ("", []))
    pieces, end = [], 0
    for begin, after, _ in places:
        pieces.append(sql[end:begin])
        end = after
    pieces.append(sql[end:])
    if form == "%s":
        pieces = [piece.replace("%%", "%") for piece in pieces]
    if [len(piece) for piece in _as_runners_split("?".join(pieces))] != [len(piece) for piece in pieces]:
        raise UsageError(
            "a ? that is no placeholder, or a backslash, $$ or quote in a comment, hides where the placeholders are",
            "remove it: a literal can be a parameter too, and PostgreSQL's operator ? is jsonb_exists(…)",
        )
    return Placeholders(tuple(pieces), tuple(take for _, _, take in places))


def refuse_unbound(sql: str, engine: str) -> None:
    """UsageError for placeholders without parameters: `$1`, and where an engine takes NULL for what is not given."""
    found = _by_form(sql, engine)
    form = next((form for form in found if form == "$1" or ENGINES[engine].probe.unbound_is_null), "")
    if form:
        raise UsageError(
            f"the query has placeholders ({form}), and no parameters are given",
            "--param TYPE:VALUE for each, or --params FILE.csv, or --params-from 'SELECT …'",
        )


def _by_form(sql: str, engine: str) -> dict[str, list[tuple[int, int, str]]]:
    """The placeholders by form: begin, end, and the parameter that each takes."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    for token, place in placed_tokens(sql, ENGINES[engine].probe.syntax or Syntax()):
        for form, pattern in _FORMS.items():
            if form.startswith(token) and (match := pattern.match(sql, place)):
                places = found.setdefault(form, [])
                places.append((place, match.end(), match[1] or str(len(places) + 1)))
                break
    return found


def _as_runners_split(sql: str) -> list[str]:
    """The query between the placeholders that a runner sees: every `?` outside of quotes."""
    return _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), sql).split("?")
