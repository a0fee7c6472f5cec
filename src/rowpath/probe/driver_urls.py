"""URLs that only a driver understands, JDBC's and ODBC's: the login taken out, everything secret masked."""

from __future__ import annotations

import re
import urllib.parse
from dataclasses import dataclass, field

_USER = r"user|username|user\ name|uid|user\ id"
_PASSWORD = r"password|passwd|pwd"
_SECRET = re.compile(r"(password|passwd|pwd|secret|token|passphrase|apikey|api_key|accesskey|credential)s?$", re.I)
_JDBC_PAIR = re.compile(r"(?P<before>[?&;:,(])(?P<key>[\w .-]+)=(?P<value>\{(?:[^}]|\}\})*\}|[^&;)]*)")
_ODBC_PAIR = re.compile(r"\s*(?P<key>[^=;{}]+?)\s*=\s*(?P<value>\{(?:[^}]|\}\})*\}|[^;]*)(?:;|$)")
_AUTHORITY = re.compile(r"^(jdbc:[\w:+.-]+?:)//([^/?;@]*)@", re.I)
_ORACLE = re.compile(r"^(jdbc:oracle:\w+:)([^/@]*)/(\"[^\"]*\"|[^@]*)@", re.I)


@dataclass(frozen=True)
class DriverUrl:
    """A driver's own URL apart from its login; `option` is what the adapter calls the rest."""

    option: str
    user: str
    password: str = field(repr=False)
    rest: str = field(repr=False)
    shown: str


def is_secret(key: str) -> bool:
    """Whether an option of that name holds something that must not be seen."""
    return _SECRET.search(key.strip()) is not None


def secrets_in(text: str) -> list[str]:
    """The values of all options in a driver's URL or connection string that must not be seen."""
    found = [*_JDBC_PAIR.finditer(text), *_ODBC_PAIR.finditer(text)]
    return sorted({_plain(match["value"]) for match in found if is_secret(match["key"]) and match["value"]})


def read_jdbc(text: str) -> DriverUrl:
    """The parts of a `jdbc:` URL, wherever drivers put user and password: before the host, or among the options."""
    user = password = ""
    for form in (_ORACLE, _AUTHORITY):
        found = form.match(text)
        if found is None:
            continue
        if form is _ORACLE:
            user, password = found[2], found[3].strip('"')
            text = found[1] + "@" + text[found.end() :]
        else:
            user, _, password = map(urllib.parse.unquote, found[2].partition(":"))
            text = f"{found[1]}//{text[found.end() :]}"
    kept, end = [], 0
    for found in _JDBC_PAIR.finditer(text):
        named_user = re.fullmatch(_USER, found["key"].strip(), re.I)
        if not named_user and not re.fullmatch(_PASSWORD, found["key"].strip(), re.I):
            continue
        value = _plain(found["value"])
        value = urllib.parse.unquote_plus(value) if found["before"] in "?&" else value
        user, password = (value, password) if named_user else (user, value)
        begins = found["before"] if found["before"] in "?:" else ""  # the options: Db2's follow a colon
        kept.append(text[end : found.start()] + begins)
        end = found.end()
    rest = "".join(kept) + text[end:]
    if kept:
        rest = re.sub(r"([?:])[&;]+", r"\1", rest).rstrip("?:&;")
    return DriverUrl("url", user, password, rest, _masked(rest, _JDBC_PAIR))


def read_odbc(text: str) -> DriverUrl:
    """The parts of an ODBC connection string after `odbc:`: what the driver gets beside DRIVER, UID and PWD."""
    text = text.partition(":")[2]
    user = password = ""
    kept = []
    for found in _ODBC_PAIR.finditer(text):
        key = found["key"].strip()
        if re.fullmatch(_USER, key, re.I):
            user = _plain(found["value"])
        elif re.fullmatch(_PASSWORD, key, re.I):
            password = _plain(found["value"])
        elif key.lower() != "driver":  # it is named by its file
            kept.append(f"{key}={found['value']};")
    rest = "".join(kept)
    return DriverUrl("connection", user, password, rest, f"odbc:{_masked(rest, _ODBC_PAIR)}")


def _plain(value: str) -> str:
    """The value without the braces that ODBC and SQL Server put around one with signs of their own."""
    return value[1:-1].replace("}}", "}") if value.startswith("{") and value.endswith("}") else value


def _masked(text: str, pair: re.Pattern[str]) -> str:
    kept, end = [], 0
    for found in pair.finditer(text):
        if is_secret(found["key"]) and found["value"]:
            kept += [text[end : found.start("value")], "***"]
            end = found.end("value")
    return "".join(kept) + text[end:]


READERS = {"jdbc": read_jdbc, "odbc": read_odbc}  # scheme → its URLs read
