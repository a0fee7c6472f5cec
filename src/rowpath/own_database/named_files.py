"""Databases and files by their names: which file a text or a URL names, and of which engine it is."""

from __future__ import annotations

import re
import shlex
import urllib.parse
from pathlib import Path

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import FileLayout
from rowpath.errors import UsageError

FILE = "file"  # the scheme of single files, whichever engine reads them
FORM = "scheme://[user[:password]@]host[:port]/database, or a file: own.db, orders.parquet, sqlite:///PATH"


def named_file(text: str) -> Path | None:
    """The file or directory that a text names, if there is one."""
    try:
        named = Path(text).expanduser().absolute()
        return named if "://" not in text and named.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long for a name, or ~nobody
        return None


def with_scheme(text: str) -> str:
    """A database's URL, from the name of its file or directory; every other text as it is."""
    place, mark, query = text.partition("?")
    named = named_file(text) or named_file(place)
    if named is None:
        return text
    if mark and named_file(text) is None:
        return with_scheme(str(named)) + mark + query
    for engine in ENGINES.values():
        if named.suffix.lower() in engine.probe.files and named.is_file():
            return f"{FILE}://{named}"
        if engine.probe.layout is not None and engine.probe.schemes and _is_database(named, engine.probe.layout):
            return f"{engine.probe.schemes[0]}://{str(named).removesuffix(engine.probe.layout.suffixes[0])}"
    raise UsageError(f"{named}: not a database or file of an engine that Rowpath knows", FORM)


def _is_database(named: Path, layout: FileLayout) -> bool:
    offset, signature = layout.signature
    if layout.directory_mark:
        return (named / layout.directory_mark).is_file()
    if not signature:
        return bool(layout.suffixes[0]) and named.name.endswith(layout.suffixes[0])
    if not named.is_file():
        return False
    try:
        with named.open("rb") as file:
            file.seek(offset)
            return file.read(len(signature)) == signature
    except OSError as error:
        raise UsageError(f"cannot read {named}: {error.strerror}", f"ls -l {shlex.quote(str(named))}") from error


def existing(scheme: str, suffix: str, rest: str) -> tuple[Path, dict[str, str]]:
    """The file that a URL names, percent-encoded or plain, and its options; `suffix`: what the name may leave out."""
    place, options = split_options(rest)
    for given, chosen in ((rest, {}), (urllib.parse.unquote(rest), {}), (place, options)):
        for path in (given, urllib.parse.unquote(given)):
            if bare := _bare(path, suffix):
                return bare, dict(chosen)
    name = urllib.parse.unquote(place)
    here = named_file(name.lstrip("/"))
    hint = f"{scheme}://{here}" if here else f"{scheme}:///PATH with an absolute path"
    plain = re.fullmatch(r"[\w./~ +-]+", name)  # else it may hold a password
    raise UsageError(f"no file {name}" if plain else "the URL names no file that exists", hint)


def _bare(path: str, suffix: str) -> Path | None:
    """The name of a file that exists, without the suffix; None where there is none or the name can be of none."""
    try:
        file = Path(path.replace("/~/", "~/", 1) if path.startswith("/~/") else path).expanduser()
        bare = file.with_name(file.name.removesuffix(suffix))
        return bare if file.is_absolute() and bare.with_name(bare.name + suffix).exists() else None
    except (OSError, RuntimeError, ValueError):  # too long for a name, no name, or ~nobody
        return None


def split_options(rest: str) -> tuple[str, dict[str, str]]:
    """What stands before the options, and the options; a plus is a plus."""
    place, _, query = rest.partition("?")
    return place, dict(urllib.parse.parse_qsl(query.replace("+", "%2B"), keep_blank_values=True))
