"""Who logs in to a server of the MySQL family where, as its clients complete it: from .my.cnf and the environment."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rowpath.engines.login import Login, home, port_of, private_text

PORT = 3306
LOCAL = ("", "localhost")
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}


def complete(groups: tuple[str, ...], given: Login, environment: Mapping[str, str]) -> Login:
    """The login with what the URL left open, from these groups of ~/.my.cnf and the environment."""
    settings, notes = _option_file(home(environment) / ".my.cnf", groups)
    host, socket, port = given.host, given.socket, given.port
    if not host and not socket:
        host, socket = settings.get("host", environment.get("MYSQL_HOST", "")), settings.get("socket", "")
        port = port or port_of(settings.get("port", ""))
        if host in LOCAL and not socket:
            socket = environment.get("MYSQL_UNIX_PORT", "")
    # To these drivers `localhost` would mean a socket of their own choice.
    host = "" if socket and host in LOCAL else "127.0.0.1" if host in LOCAL else host
    user = given.user or settings.get("user", "") or getpass.getuser()
    password = given.password
    if password is None:
        password = environment.get("MYSQL_PWD")
    if password is None and settings.get("user", user) == user:
        password = settings.get("password")
    return replace(
        given,
        host=host,
        socket=socket if not host else "",
        port=port or port_of(environment.get("MYSQL_TCP_PORT", "")) or PORT,
        user=user,
        password=password,
        notes=given.notes + notes,
    )


def _option_file(file: Path, groups: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The settings in these groups of an option file; one that every user may write to is ignored, as by MySQL."""
    text, notes = private_text(file, 0o002)
    settings: dict[str, str] = {}
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group in groups and line and line[0] not in "#;!":
            key, _, value = line.partition("=")
            settings[key.strip().replace("-", "_")] = _value(value.strip())
    return settings, notes


def _value(text: str) -> str:
    """A value of an option file: quoted or up to a comment, with MySQL's escapes."""
    if text[:1] in ("'", '"') and text[0] in text[1:]:
        text = text[1 : text.rindex(text[0])]
    else:
        text = text.partition(" #")[0].rstrip()
    out, signs = "", iter(text)
    for sign in signs:
        if sign != "\\":
            out += sign
            continue
        following = next(signs, "")
        out += ESCAPES.get(following, "\\" + following)
    return out
