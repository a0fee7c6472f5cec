"""TOML files decoded into types: every mistake with its line, and the nearest right key."""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from rowpath.errors import UsageError

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


def line_of(text: str, location: Location) -> int | None:
    """The line of the location in a document, or of the nearest thing that encloses it."""
    lines = key_lines(text)
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


def decode_file(file: Path, into: type[Any]) -> Any:
    """Decode a TOML file into a type of the model; UsageError naming every mistake's line."""
    return decode_with_text(file, into)[0]


def decode_with_text(file: Path, into: type[Any]) -> tuple[Any, str]:
    """As `decode_file`; also the text, for the lines of mistakes that its type cannot tell."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"no file {file}", "rowpath list experiments") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {error}", "give a UTF-8 TOML file") from error
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: {error}", "fix the TOML syntax on that line") from error
    mistakes = unknown_keys(document, into, ())
    if mistakes:
        raise UsageError(
            "\n       ".join(_describe(file, text, mistake) for mistake in mistakes), _first_hint(mistakes)
        )
    try:
        return msgspec.convert(document, into), text
    except msgspec.ValidationError as error:
        line = line_of(text, _location(str(error)))
        where = f"{file}:{line}" if line else str(file)
        raise UsageError(f"{where}: {_plain(str(error))}", "see docs/experiments.md for what each key takes") from error


Mistake = tuple[Location, str, tuple[str, ...]]


def unknown_keys(value: Any, into: Any, location: Location) -> list[Mistake]:
    """Every key of the document that its type does not have: (location, key, the right keys)."""
    info = _type_info(into) if not isinstance(into, msgspec.inspect.Type) else into
    mistakes: list[Mistake] = []
    if isinstance(info, msgspec.inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in info.fields}
        for key, inner in value.items():
            if key in fields:
                mistakes += unknown_keys(inner, fields[key], (*location, key))
            else:
                mistakes.append(((*location, key), key, tuple(fields)))
    elif isinstance(info, msgspec.inspect.VarTupleType | msgspec.inspect.ListType) and isinstance(value, list):
        for position, inner in enumerate(value):
            mistakes += unknown_keys(inner, info.item_type, (*location, position))
    elif isinstance(info, msgspec.inspect.DictType) and isinstance(value, dict):
        for key, inner in value.items():
            mistakes += unknown_keys(inner, info.value_type, (*location, key))
    elif isinstance(info, msgspec.inspect.UnionType):
        for choice in info.types:
            if isinstance(choice, msgspec.inspect.StructType) and isinstance(value, dict):
                mistakes += unknown_keys(value, choice, location)
    return mistakes


@functools.cache
def _type_info(into: Any) -> msgspec.inspect.Type:
    return msgspec.inspect.type_info(into)


def _describe(file: Path, text: str, mistake: Mistake) -> str:
    location, key, right = mistake
    line = line_of(text, location)
    near = nearest(key, right)
    where = f"{file}:{line}" if line else str(file)
    return f"{where}: unknown key '{key}'" + (f"; the nearest right one is '{near}'" if near else "")


def _first_hint(mistakes: list[Mistake]) -> str:
    _, key, right = mistakes[0]
    near = nearest(key, right)
    return f"write '{near}' instead of '{key}'" if near else f"the keys here are: {', '.join(sorted(right))}"


def _location(message: str) -> Location:
    """The location in msgspec's words: `… - at `$.measure.sets``."""
    found = re.search(r"at `\$(.*?)`$", message)
    if not found:
        return ()
    parts: list[str | int] = []
    for name, index in re.findall(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]", found.group(1)):
        if name:
            parts.append(name)
        elif index != "...":
            parts.append(int(index))
    return tuple(parts)


def _plain(message: str) -> str:
    text = re.sub(r" - at `\$\.?(.*?)`$", r" (key \1)", message)
    return text.replace("Expected", "expected").replace("Object missing required field", "missing key")
