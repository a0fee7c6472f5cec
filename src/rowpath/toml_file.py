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
_PART = r"[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'"
_KEY = re.compile(rf"^\s*((?:{_PART})(?:\s*\.\s*(?:{_PART}))*)\s*=")

Location = tuple[str | int, ...]

_type_info = functools.cache(msgspec.inspect.type_info)


def key_lines(text: str) -> dict[Location, int]:
    """Line (from 1) of every table header and of every key at a line's start, by its location in the document."""
    lines: dict[Location, int] = {}
    counts: dict[Location, int] = {}
    prefix: Location = ()
    pending = ""  # a value that spans lines: until it parses, its lines hold no keys
    for number, line in enumerate(text.splitlines(), 1):
        if pending:
            pending += "\n" + line
            pending = "" if _complete(pending) else pending
            continue
        if header := _HEADER.match(line):
            prefix = ()
            for part in _parts(header[2]):
                # A header below an array of tables belongs to the array's last element.
                prefix = (*prefix, counts[prefix], part) if prefix in counts else (*prefix, part)
            if header[1] == "[[":
                counts[prefix] = counts.get(prefix, -1) + 1
                prefix = (*prefix, counts[prefix])
            lines.setdefault(prefix, number)
        elif key := _KEY.match(line):
            lines.setdefault((*prefix, *_parts(key[1])), number)
            pending = "" if _complete(line) else line
    return lines


def _parts(text: str) -> Location:
    return tuple(part.strip("\"'") for part in re.findall(_PART, text))


def _complete(assignment: str) -> bool:
    try:
        tomllib.loads(assignment)
    except tomllib.TOMLDecodeError as error:
        # A repeated or otherwise wrong key is complete; only an open string or bracket goes on.
        goes_on = r"Unclosed|Unterminated|end of document|Illegal character '\\n'|Expected '.*' after"
        return not re.search(goes_on, str(error))
    return True


def line_of(text: str, location: Location) -> int | None:
    """The line of the location in a document, or of the nearest thing that encloses it."""
    lines = key_lines(text)
    enclosing = (location[:length] for length in range(len(location), 0, -1))
    return next((lines[place] for place in enclosing if place in lines), None)


def nearest(word: str, right: list[str] | tuple[str, ...]) -> str:
    """The right word most like `word`, empty when none is."""
    return next(iter(difflib.get_close_matches(word, right, n=1, cutoff=0.5)), "")


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
    if mistakes := unknown_keys(document, into, ()):
        lines = []
        for location, key, right in mistakes:
            near = nearest(key, right)
            nearest_right = f"; the nearest right one is '{near}'" if near else ""
            lines.append(f"{_where(file, text, location)}: unknown key '{key}'{nearest_right}")
        _, key, right = mistakes[0]
        near = nearest(key, right)
        hint = f"write '{near}' instead of '{key}'" if near else f"the keys here are: {', '.join(sorted(right))}"
        raise UsageError("\n       ".join(lines), hint)
    try:
        return msgspec.convert(document, into), text
    except msgspec.ValidationError as error:
        where = _where(file, text, _location(str(error)))
        raise UsageError(f"{where}: {_plain(str(error))}", "see docs/experiments.md for what each key takes") from error


def unknown_keys(value: Any, into: Any, location: Location) -> list[tuple[Location, str, tuple[str, ...]]]:
    """Every key of the document that its type does not have: (location, key, the right keys)."""
    info = _type_info(into) if not isinstance(into, msgspec.inspect.Type) else into
    mistakes: list[tuple[Location, str, tuple[str, ...]]] = []
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


def _where(file: Path, text: str, location: Location) -> str:
    line = line_of(text, location)
    return f"{file}:{line}" if line else str(file)


def _location(message: str) -> Location:
    """The location in msgspec's words: `… - at `$.measure.sets``."""
    match = re.search(r"at `\$(.*?)`$", message)
    if not match:
        return ()
    parts = re.findall(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]", match.group(1))
    return tuple(name or int(index) for name, index in parts if index != "...")


def _plain(message: str) -> str:
    text = re.sub(r" - at `\$\.?(.*?)`$", r" (key \1)", message)
    return text.replace("Expected", "expected").replace("Object missing required field", "missing key")
