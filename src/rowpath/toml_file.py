"""Where a key stands in a TOML file, so that a mistake can be named with its line; and the nearest right key."""

from __future__ import annotations

import difflib
import re
import tomllib

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_PART = re.compile(r"[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'")

Location = tuple[str | int, ...]


def key_lines(text: str) -> dict[Location, int]:
    """Line (from 1) of every table header and of every key at a line's start, by its location in the document."""
    lines: dict[Location, int] = {}
    counts: dict[Location, int] = {}
    prefix: Location = ()
    pending = ""  # a value that spans lines: until it parses, its lines hold no keys
    for number, line in enumerate(text.splitlines(), 1):
        if pending:
            pending += "\n" + line
            if _complete(pending):
                pending = ""
            continue
        header = _HEADER.match(line)
        if header:
            prefix = _resolve(_parts(header.group(2)), counts)
            if header.group(1) == "[[":
                position = counts.get(prefix, -1) + 1
                counts[prefix] = position
                prefix = (*prefix, position)
            lines.setdefault(prefix, number)
            continue
        key = _KEY.match(line)
        if key:
            lines.setdefault((*prefix, *_parts(key.group(1))), number)
            if not _complete(line):
                pending = line
    return lines


def _parts(text: str) -> Location:
    return tuple(part.strip("\"'") for part in _PART.findall(text))


def _resolve(parts: Location, counts: dict[Location, int]) -> Location:
    """A header below an array of tables belongs to the array's last element."""
    resolved: Location = ()
    for position, part in enumerate(parts):
        resolved = (*resolved, part)
        if position < len(parts) - 1 and resolved in counts:
            resolved = (*resolved, counts[resolved])
    return resolved


def _complete(assignment: str) -> bool:
    try:
        tomllib.loads(assignment)
    except tomllib.TOMLDecodeError as error:
        # A repeated or otherwise wrong key is complete; only an open string or bracket goes on.
        return not re.search(
            r"Unclosed|Unterminated|end of document|Illegal character '\\n'|Expected '.*' after", str(error)
        )
    return True


def line_of(lines: dict[Location, int], location: Location) -> int | None:
    """The line of the location, or of the nearest thing that encloses it."""
    while location:
        if location in lines:
            return lines[location]
        location = location[:-1]
    return None


def nearest(word: str, right: list[str] | tuple[str, ...]) -> str:
    """The right word most like `word`, empty when none is."""
    found = difflib.get_close_matches(word, list(right), n=1, cutoff=0.5)
    return found[0] if found else ""


def suggest(word: str, right: list[str] | tuple[str, ...]) -> str:
    """A hint that names the nearest right word, or all of them."""
    near = nearest(word, right)
    return f"did you mean '{near}'?" if near else f"one of: {', '.join(right)}"
