"""Where a URL's servers are and who logs in: hosts, ports, login, completed as the engine's own clients do."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import replace

from rowpath.engines.base import Engine
from rowpath.engines.probe_facts import SOCKET_KEYS, Login, shown
from rowpath.errors import UsageError
from rowpath.own_database.url_options import PLACE, Asked


def authority(scheme: str, userinfo: str, place: str) -> dict[str, str]:
    """What stands before the options, as options: user, password, host, port, dbname."""
    where, _, database = place.partition("/")
    user, has_password, password = userinfo.partition(":")
    pairs = [_host_and_port(scheme, one, sure=bool(userinfo)) for one in where.split(",")]
    given = {"user": user, "dbname": database, "host": ",".join(host for host, _port in pairs)}
    given = {key: urllib.parse.unquote(value) for key, value in given.items() if value.strip(",")}
    given |= {"password": urllib.parse.unquote(password)} if has_password else {}
    if any(port for _host, port in pairs):
        given["port"] = ",".join(port for _host, port in pairs)
    return given


def by_usual_names(engine: Engine, query: Mapping[str, str]) -> dict[str, str]:
    """The options, those of the login by the names that they have in URLs."""
    same = engine.probe.options.same
    named = {key: same.get(key.lower(), key.lower()) for key in query}
    return {named[key] if named[key] in PLACE else key: value for key, value in query.items()}


def hosts_of(scheme: str, engine: Engine, place: Mapping[str, str]) -> list[tuple[str, int]]:
    """Each host with its port, 0 where none is named. Errors: UsageError."""
    hosts = place.get("hostaddr", place.get("host", "")).split(",")
    ports = place.get("port", "").split(",")
    if len(hosts) > 1 and not engine.probe.options.several_hosts:
        what = f"several hosts ({shown(', '.join(hosts))}): clients of {engine.name} take one"
        raise UsageError(what, f"{scheme}://host/database")
    if len(ports) not in (1, len(hosts)):
        what = f"{len(hosts)} hosts, but {len(ports)} ports: {shown(place['port'])}"
        raise UsageError(what, "one port for all hosts, or one for each")
    numbers = [_port(port) for port in ports]
    return list(zip(hosts, numbers if len(numbers) > 1 else numbers * len(hosts), strict=True))


def _port(text: str) -> int:
    """The number of a port; 0 for none. Errors: UsageError."""
    if text and not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise UsageError(f"invalid port {shown(text)}: expected 1 to 65535", "host:5432, or [::1]:5432 for IPv6")
    return int(text or 0)


def login_at(
    engine: Engine, host: str, port: int, full: Mapping[str, str], read: Asked, environment: Mapping[str, str]
) -> Login:
    """Who logs in there, completed by the rules of the engine's own client programs."""
    login = Login(
        host=host,
        port=port,
        user=read.place.get("user", ""),
        password=full.get("password"),
        database=read.place.get("dbname", ""),
        socket=next((read.options[key] for key in SOCKET_KEYS if key in read.options), ""),
    )
    if login.host.startswith("/"):  # libpq's way to name a socket
        login = login.moved_to_socket()
    if engine.probe.complete_login is None:
        return replace(login, host=login.host or "localhost", port=login.port or engine.probe.port)
    passfile = read.place.get("passfile")
    return engine.probe.complete_login(login, {**environment, **({"PGPASSFILE": passfile} if passfile else {})})


def _host_and_port(scheme: str, where: str, *, sure: bool) -> tuple[str, str]:
    """`sure`: a login stands before it, so no part of it is a password."""
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+(?:%[\w.%-]+)?\]|[^:=\[\]]*)(?::(\d*))?", where)
    if match and (not match[2] or 0 < int(match[2]) < 65536):
        return match[1].strip("[]"), match[2] or ""
    hint = "host:5432, or [::1]:5432 for IPv6; several hosts: host1:5432,host2:5432"
    known = sure or re.fullmatch(r"[\w.-]*:\d+|[0-9A-Fa-f:.]+", where)
    raise UsageError(f"invalid {scheme} URL: expected host:port{f', not {shown(where)}' if known else ''}", hint)
