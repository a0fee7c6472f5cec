"""Where the clients of MySQL and MariaDB find a server and a password: variables, ~/.my.cnf, the default socket."""

from __future__ import annotations

import getpass
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rowpath.engines.probe_facts import LOCAL, Login, home, is_socket, port_of, private_text

PORT = 3306
SOCKETS = (Path("/run/mysqld/mysqld.sock"), Path("/var/lib/mysql/mysql.sock"), Path("/tmp/mysql.sock"))
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}  # of .my.cnf
TLS_SWITCHES = ("ssl", "ssl_verify_server_cert")
TLS_FILES = ("ssl_ca", "ssl_cert", "ssl_key")


def complete(groups: tuple[str, ...], given: Login, environment: Mapping[str, str]) -> Login:
    """The login with what the URL left open, from these groups of ~/.my.cnf and the environment.

    `localhost` without a port means the socket, where there is one, as with MySQL's clients; MariaDB's take a port that
    is given as TCP, and so does each driver.
    """
    settings, notes = _option_file(home(environment) / ".my.cnf", groups)
    host, socket, port = given.host, given.socket, given.port
    by_tcp = bool(port)
    if not host and not socket:
        host, port = settings.get("host", environment.get("MYSQL_HOST", "")), port or port_of(settings.get("port", ""))
    if host in LOCAL and not socket and not by_tcp:
        named = settings.get("socket", "") or environment.get("MYSQL_UNIX_PORT", "")
        socket = named or next((str(path) for path in SOCKETS if is_socket(path)), "")
    host = "" if socket and host in LOCAL else host or "localhost"
    user = given.user or settings.get("user", "") or getpass.getuser()
    own = settings.get("password") if settings.get("user", user) == user else None
    known = (given.password, environment.get("MYSQL_PWD"), own)
    return replace(
        given,
        host=host,
        socket=socket if not host else "",
        port=port or port_of(environment.get("MYSQL_TCP_PORT", "")) or PORT,
        user=user,
        password=next((password for password in known if password is not None), None),
    ).noting(*notes)


def saved_tls(groups: tuple[str, ...], environment: Mapping[str, str]) -> dict[str, str]:
    """What these groups of ~/.my.cnf ask of encryption, as options of a URL with a mode, or none.

    As with the clients, authorities without a mode ask for a check of the chain, and a certificate for encryption.
    """
    said, _notes = _option_file(home(environment) / ".my.cnf", groups)
    said = {key.removeprefix("loose_"): value for key, value in said.items()}
    switched = {word: said[word].lower() not in ("0", "off", "false") for word in TLS_SWITCHES if word in said}
    switched |= {word: False for word in TLS_SWITCHES if {f"skip_{word}", f"disable_{word}"} & set(said)}
    files = {key: said[key] for key in TLS_FILES if said.get(key)}
    if said.get("ssl_mode"):
        mode = said["ssl_mode"]
    elif not switched.get("ssl", True):
        mode = "DISABLED"
    elif switched.get("ssl_verify_server_cert"):
        mode = "VERIFY_IDENTITY"
    elif "ssl_ca" in files:
        mode = "VERIFY_CA"
    elif "ssl" in switched or files:
        mode = "REQUIRED"
    else:
        return {}
    return {"ssl_mode": mode, **files}


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
    return re.sub(r"\\(.?)", lambda escape: ESCAPES.get(escape[1], escape[0]), text)
