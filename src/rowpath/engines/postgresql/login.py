"""Where PostgreSQL's own clients find a server and a password: variables, service files, sockets, .pgpass."""

from __future__ import annotations

import configparser
import getpass
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rowpath.engines.probe_facts import Login, home, is_socket, private_text, shown
from rowpath.errors import UsageError

PORT = 5432
SOCKET_FOLDERS = (Path("/var/run/postgresql"), Path("/tmp"))  # Debian's and the project's own default
SERVICE_FOLDERS = ("/etc/postgresql-common", "/etc", "/usr/local/etc", "/usr/local/pgsql/etc")
VARIABLES = {
    "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER",
    "password": "PGPASSWORD", "passfile": "PGPASSFILE", "options": "PGOPTIONS",
    "target_session_attrs": "PGTARGETSESSIONATTRS", "load_balance_hosts": "PGLOADBALANCEHOSTS",
    "datestyle": "PGDATESTYLE", "timezone": "PGTZ", "client_encoding": "PGCLIENTENCODING",
}  # fmt: skip


def with_defaults(options: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The options of a connection string with what it leaves open: from its service, then from the environment.

    Errors: UsageError where the service is not found.
    """
    given = dict(options)
    name = given.pop("service", "") or environment.get("PGSERVICE", "")
    own_host = "host" in given or "hostaddr" in given
    for key, value in (_service(name, environment) if name else {}).items():
        if key not in given and not (own_host and key in ("host", "hostaddr")):
            given[key] = value
    own_host = own_host or "host" in given or "hostaddr" in given
    for key, variable in VARIABLES.items():
        if key not in given and environment.get(variable) and not (own_host and key in ("host", "hostaddr")):
            given[key] = environment[variable]
    return given


def _service(name: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of a service, from the first file that has it."""
    own = environment.get("PGSERVICEFILE") or str(home(environment) / ".pg_service.conf")
    folders = (environment["PGSYSCONFDIR"],) if environment.get("PGSYSCONFDIR") else SERVICE_FOLDERS
    files = [Path(own), *(Path(folder) / "pg_service.conf" for folder in folders)]
    for file in files:
        parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",), strict=False)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        try:
            parser.read_string(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, configparser.Error) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no list of [service] and key=value"
            raise UsageError(f"cannot read {file}: {why}", "one [service], then key=value on each line") from None
        if parser.has_section(name):
            return dict(parser.items(name))
    looked = ", ".join(str(file) for file in files[:2])
    raise UsageError(f"service {shown(name)} is not in {looked}", f"add it to {own}, or set PGSERVICEFILE")


def complete(given: Login, environment: Mapping[str, str]) -> Login:
    """The login with what is still open, by libpq's rules: the default socket, the user's name, then .pgpass.

    `passfile` of the environment is the file of passwords. Errors: UsageError where there is no socket.
    """
    port = given.port or PORT
    if not given.host and not given.socket:
        folder = next((folder for folder in SOCKET_FOLDERS if is_socket(folder / f".s.PGSQL.{port}")), None)
        if folder is None:
            looked = " or ".join(map(str, SOCKET_FOLDERS))
            raise UsageError(f"no host in the URL, no socket of port {port} in {looked}", "name the host: localhost")
        given = replace(given, socket=str(folder))
    user = given.user or getpass.getuser()
    login = replace(given, port=port, user=user, database=given.database or user)
    return login if login.password is not None else _with_saved_password(login, environment)


def _with_saved_password(login: Login, environment: Mapping[str, str]) -> Login:
    file = environment.get("PGPASSFILE") or home(environment) / ".pgpass"
    text, notes = private_text(Path(file), 0o077)
    at_default = login.socket in map(str, SOCKET_FOLDERS)
    hosts = {login.host, login.socket, "" if login.host and not at_default else "localhost"}
    for line in text.splitlines():
        fields = _fields(line)
        if line.startswith("#") or len(fields) != 5:
            continue
        wanted = (str(login.port), login.database, login.user)
        matches = [pattern in ("*", is_there) for pattern, is_there in zip(fields[1:], wanted, strict=False)]
        if all(matches) and (fields[0] == "*" or (fields[0] and fields[0] in hosts)):
            return replace(login, password=fields[4]).noting(*notes)
    return login.noting(*notes)


def _fields(line: str) -> list[str]:
    """The fields of a line of .pgpass: between colons, where a backslash takes a colon or backslash as it is."""
    fields, escaped = [""], False
    for sign in line:
        if escaped or sign not in ":\\":
            fields[-1] += sign
            escaped = False
        elif sign == "\\":
            escaped = True
        else:
            fields.append("")
    return fields
