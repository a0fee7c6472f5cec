"""What is probed: a URL or a file's name, with what the environment and the user's files add to it."""

from __future__ import annotations

import re
import shlex
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rowpath.engines import ENGINES
from rowpath.engines.base import Engine
from rowpath.engines.probe_facts import SOCKET_KEYS, FileLayout, Login
from rowpath.errors import UsageError
from rowpath.own_database import delimited
from rowpath.own_database.tls import Tls, is_tls_option, read_tls
from rowpath.toml_file import suggest

PASSWORD_VARIABLE = "ROWPATH_PROBE_PASSWORD"
FILE = "file"  # the scheme of single files, whichever engine reads them
FOREIGN_DIALECT = {"quote", "header", "null"}  # options of a URL: the file is not in Rowpath's own form
LOGIN_KEYS = ("user", "password", "port", "dbname")
FORM = "scheme://[user[:password]@]host[:port]/database, or a file: own.db, orders.parquet, sqlite:///PATH"
ENCODE = "write the password's own @ : / ? # % as %40 %3A %2F %3F %23 %25, or leave it out and set "
_USER = r"user|username|user\ name|uid|user\ id"
_PASSWORD = r"password|passwd|pwd"
_SECRET = re.compile(r"(password|passwd|pwd|secret|token|passphrase|apikey|api_key|accesskey|credential)s?$", re.I)
_JDBC_PAIR = re.compile(r"(?P<before>[?&;:,(])(?P<key>[\w .-]+)=(?P<value>\{(?:[^}]|\}\})*\}|[^&;)]*)")
_ODBC_PAIR = re.compile(r"\s*(?P<key>[^=;{}]+?)\s*=\s*(?P<value>\{(?:[^}]|\}\})*\}|[^;]*)(?:;|$)")
_AUTHORITY = re.compile(r"^(jdbc:[\w:+.-]+?:)//([^/?;@]*)@", re.I)
_ORACLE = re.compile(r"^(jdbc:oracle:\w+:)([^/@]*)/(\"[^\"]*\"|[^@]*)@", re.I)


@dataclass(frozen=True)
class Target:
    """A database to probe. `shown` is the only text of it that may reach a user, a log or a file."""

    engine: str  # a name in ENGINES
    deployment: str  # server | embedded | file
    host: str = ""  # only of servers, like port, user, password, database
    port: int = 0
    database: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    path: Path | None = None  # of embedded engines and files
    options: dict[str, str] = field(default_factory=dict, repr=False)  # what else is in the URL; a driver's own URL
    shown: str = ""  # the URL without any secret
    driver_file: Path | None = None  # the user's own: --jar, --odbc-driver
    encryption: Tls = field(default_factory=Tls)
    notes: tuple[str, ...] = ()  # for the user: a file of passwords passed over, an option without a meaning here

    @property
    def tls(self) -> str:
        """The coordinate `tls` that the URL asks for; `default` when it names none."""
        return self.encryption.mode

    @property
    def socket(self) -> str:
        """The unix socket that the URL names: of PostgreSQL the directory that holds it; empty without one."""
        return next((self.options[key] for key in SOCKET_KEYS if key in self.options), "")

    @property
    def transport(self) -> str:
        """The coordinate `transport` of its paths."""
        if self.deployment != "server":
            return "none"
        return "unix" if self.socket and not self.host else "tcp"

    def read_only(self, in_place: bool) -> bool:
        """Whether its file must be opened read only: it is the user's own, or several have to share it."""
        layout = ENGINES[self.engine].probe.layout
        return self.deployment == "embedded" and (in_place or (layout is not None and layout.shared_read_only))

    def secrets(self) -> list[str]:
        """Everything of it that must never be seen."""
        urls = self.options.get("url", "") + self.options.get("connection", "")
        own = [value for key, value in self.options.items() if is_secret(key)]
        return [secret for secret in (self.password, *own, *secrets_in(urls)) if secret]


def read_target(
    text: str, environment: Mapping[str, str], *, jar: Path | None = None, odbc_driver: Path | None = None
) -> Target:
    """The target that a URL or a file's name means; its files exist, its login is completed from the environment and
    the user's files.

    Errors: UsageError, which shows nothing of the URL that could hold a password.
    """
    scheme, colon, rest = _with_scheme(text.strip()).partition(":")
    scheme = scheme.lower()
    engines = {name: engine for engine in ENGINES.values() for name in engine.probe.schemes}
    schemes = (*engines, FILE)
    known = scheme in schemes or rest.startswith("//")
    if not colon or not known or not re.fullmatch(r"[a-z][a-z0-9+.-]{0,19}", scheme):
        file = text.strip() if re.fullmatch(r"[\w./~ -]+\.\w+", text.strip()) else ""  # else it may hold a password
        raise UsageError(f"no file '{file}'" if file else "neither a URL nor a file that exists", FORM)
    if scheme not in schemes:
        raise UsageError(f"unknown URL scheme '{scheme}'", suggest(scheme, schemes))
    engine = engines.get(scheme, ENGINES[FILE])
    if flag := engine.probe.driver_flag:
        read, driver_file = READERS[scheme](text.strip()), {"--jar": jar, "--odbc-driver": odbc_driver}[flag]
        if driver_file is None:
            raise UsageError(f"an {engine.name} URL needs the driver that understands it", f"{flag} FILE")
        if not driver_file.is_file():
            raise UsageError(f"no driver file {driver_file}", f"{flag} FILE")
        return Target(
            engine=engine.name,
            deployment="server",
            user=read.user,
            password=read.password or environment.get(PASSWORD_VARIABLE, ""),
            options={read.option: read.rest},
            shown=read.shown,
            driver_file=driver_file.absolute(),
        )
    if not rest.startswith("//"):
        raise UsageError(f"invalid URL: expected // after {scheme}:", FORM)
    if not engine.probe.port or (rest.startswith("///") and engine.probe.layout is not None):
        return _file_target(scheme, engine, rest[2:])
    return _server_target(scheme, engine, rest[2:], environment)


def typed_secrets(text: str) -> list[str]:
    """Every secret in the text of a URL, whether or not it can be used on this machine. Errors: UsageError."""
    scheme, _, rest = text.strip().partition(":")
    if scheme.lower() in READERS:
        read = READERS[scheme.lower()](text.strip())
        return [read.password, *secrets_in(read.rest)]
    userinfo, rest = _split_userinfo(scheme, rest.removeprefix("//"))
    secret = [value for key, value in _split_options(rest)[1].items() if is_secret(key)]
    return [urllib.parse.unquote(userinfo.partition(":")[2]), *secret]


def named_file(text: str) -> Path | None:
    """The file or directory that a text names, if there is one."""
    try:
        named = Path(text).expanduser().absolute()
        return named if "://" not in text and named.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long for a name, or ~nobody
        return None


def _with_scheme(text: str) -> str:
    """A database's URL, from the name of its file or directory; every other text as it is."""
    place, mark, query = text.partition("?")
    named = named_file(text) or named_file(place)
    if named is None:
        return text
    if mark and named_file(text) is None:
        return _with_scheme(str(named)) + mark + query
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


def _server_target(scheme: str, engine: Engine, rest: str, environment: Mapping[str, str]) -> Target:
    userinfo, rest = _split_userinfo(scheme, rest)
    place, query = _split_options(rest)
    where, _, database = place.partition("/")
    host, port = _host_and_port(scheme, where)
    user, has_password, password = userinfo.partition(":")
    about_tls = {key: value for key, value in query.items() if value and is_tls_option(key)}
    options = {key: value for key, value in query.items() if value and key in engine.probe.url_options} | about_tls
    also = {key: value for key, value in query.items() if key in LOGIN_KEYS}  # libpq's URLs may say it so too
    login = Login(
        host=urllib.parse.unquote(host),
        port=port or _host_and_port(scheme, f":{also.get('port', '')}".rstrip(":"))[1],
        user=urllib.parse.unquote(user) or also.get("user", ""),
        password=urllib.parse.unquote(password) if has_password else also.get("password"),
        database=urllib.parse.unquote(database) or also.get("dbname", ""),
        socket=next((options[key] for key in SOCKET_KEYS if key in options), ""),
    )
    if login.host.startswith("/"):  # libpq's way to name a socket
        login = login.moved_to_socket()
    if login.password is None and environment.get(PASSWORD_VARIABLE):
        login = replace(login, password=environment[PASSWORD_VARIABLE])
    if engine.probe.complete_login is not None:  # by the rules of the engine's own client programs
        login = engine.probe.complete_login(login, environment)
    else:
        login = replace(login, host=login.host or "localhost", port=login.port or engine.probe.port)
    encryption = read_tls(about_tls, environment, engine.probe.tls)
    if encryption.mode == "verify-full" and login.host and host.lower() == "localhost":
        login = replace(login, host=host)  # the name that was typed is the one that is checked
    if not login.database:
        raise UsageError(f"the URL names no database: {_shown(scheme, login, options)}", FORM)
    options |= {"socket": login.socket} if login.socket else {}
    return Target(
        engine=engine.name,
        deployment="server",
        host=login.host,
        port=login.port,
        database=login.database,
        user=login.user,
        password=login.password or "",
        options=options,
        encryption=encryption,
        shown=_shown(scheme, login, options),
        notes=login.notes + _unused(engine, query),
    )


def _split_userinfo(scheme: str, rest: str) -> tuple[str, str]:
    """(user[:password], host and what follows), also where the password's own signs were not percent-encoded."""
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    ambiguous = UsageError(f"invalid {scheme} URL: the start of the host is ambiguous", ENCODE + PASSWORD_VARIABLE)
    if "@" in authority:
        end = authority.rindex("@")
        place, _, query = rest[len(authority) :].partition("?")
        if "@" in place or ("@" in query and not re.match(r"[\w-]+=", query)):
            raise ambiguous
        return rest[:end], rest[end + 1 :]
    if "@" not in rest:
        return "", rest
    _, colon, port = authority.rpartition(":")
    if not colon or port.isdigit() or rest.count("@") > 1:
        raise ambiguous
    end = rest.index("@")  # the password holds a / or ? of its own
    return rest[:end], rest[end + 1 :]


def _split_options(rest: str) -> tuple[str, dict[str, str]]:
    place, _, query = rest.partition("?")
    return place, dict(urllib.parse.parse_qsl(query, keep_blank_values=True))


def _host_and_port(scheme: str, where: str) -> tuple[str, int]:
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.%]+\]|[^:\[\]]*)(?::(\d{1,5}))?", where)
    if not match or int(match[2] or 0) > 65535:
        raise UsageError(f"invalid {scheme} URL: expected host:port", ENCODE + PASSWORD_VARIABLE)
    return match[1].strip("[]"), int(match[2] or 0)


def _shown(scheme: str, login: Login, options: dict[str, str]) -> str:
    quote = urllib.parse.quote
    host = f"[{login.host}]" if ":" in login.host else quote(login.host)
    where = f"{host}:{login.port}" if login.host else ""
    user = f"{quote(login.user, safe='')}@" if login.user else ""
    masked = {key: "***" if is_secret(key) else value for key, value in options.items()}
    query = "&".join(f"{quote(key)}={quote(value, safe='/*')}" for key, value in masked.items())
    return f"{scheme}://{user}{where}/{quote(login.database)}{'?' + query if query else ''}"


def _unused(engine: Engine, query: dict[str, str]) -> tuple[str, ...]:
    known = engine.probe.url_options
    left = [
        key
        for key in query
        if key not in (*known, *LOGIN_KEYS) and not is_tls_option(key) and re.fullmatch(r"[\w.-]{1,40}", key)
    ]
    return tuple(f"unknown URL option {key} is ignored" for key in left)


def _file_target(scheme: str, engine: Engine, rest: str) -> Target:
    layout = engine.probe.layout or FileLayout()
    named, options = _existing(scheme, layout.suffixes[0], rest)
    if scheme == FILE:
        suffixes = {suffix: engine for engine in ENGINES.values() for suffix in engine.probe.files}
        if named.suffix.lower() not in suffixes:
            raise UsageError(
                f"{named}: unknown file suffix '{named.suffix}'",
                f"one of {', '.join(suffixes)}; a database file: sqlite://{named} or duckdb://{named}",
            )
        engine = suffixes[named.suffix.lower()]
    wanted = "directory" if layout.directory_mark else "file"
    notes = _unused(engine, options)
    if not (named.is_dir() if layout.directory_mark else named.is_file() or layout.suffixes[0]):
        raise UsageError(f"{named} is not a {wanted}", FORM)
    suffix, facts = named.suffix.lower(), engine.probe
    if any(facts.files.values()) and (suffix != f".{facts.table_suffix}" or set(options) & FOREIGN_DIALECT):
        dialect, found = delimited.dialect_of(named, options, facts.files.get(suffix, ""))
        options, notes = dialect.options(), notes + found
    return Target(
        engine=engine.name,
        deployment="file" if scheme == FILE else "embedded",
        user=options.pop("user", ""),
        password=options.pop("password", ""),
        path=named,
        options=options,
        shown=f"{scheme}://{urllib.parse.quote(str(named))}",
        notes=notes,
    )


def _existing(scheme: str, suffix: str, rest: str) -> tuple[Path, dict[str, str]]:
    """The file that a URL names, percent-encoded or plain, and its options; `suffix`: what the name may leave out."""
    place, options = _split_options(rest)
    for given, chosen in ((rest, {}), (urllib.parse.unquote(rest), {}), (place, options)):
        for path in (given, urllib.parse.unquote(given)):
            file = Path(path.replace("/~/", "~/", 1) if path.startswith("/~/") else path).expanduser()
            if file.is_absolute():
                bare = file.with_name(file.name.removesuffix(suffix))
                if bare.with_name(bare.name + suffix).exists():
                    return bare, dict(chosen)
    here = Path(urllib.parse.unquote(place).lstrip("/")).absolute()
    hint = f"{scheme}://{here}" if here.exists() else f"{scheme}:///PATH with an absolute path"
    raise UsageError(f"no file {urllib.parse.unquote(place)}", hint)


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
    pairs = [*_JDBC_PAIR.finditer(text), *_ODBC_PAIR.finditer(text)]
    return sorted({_plain(pair["value"]) for pair in pairs if is_secret(pair["key"]) and pair["value"]})


def read_jdbc(text: str) -> DriverUrl:
    """The parts of a `jdbc:` URL, wherever drivers put user and password: before the host, or among the options."""
    user = password = ""
    if match := _ORACLE.match(text):
        user, password = match[2], match[3].strip('"')
        text = match[1] + "@" + text[match.end() :]
    if match := _AUTHORITY.match(text):
        user, _, password = map(urllib.parse.unquote, match[2].partition(":"))
        text = f"{match[1]}//{text[match.end() :]}"
    kept, end = [], 0
    for pair in _JDBC_PAIR.finditer(text):
        named_user = re.fullmatch(_USER, pair["key"].strip(), re.I)
        if not named_user and not re.fullmatch(_PASSWORD, pair["key"].strip(), re.I):
            continue
        value = _plain(pair["value"])
        value = urllib.parse.unquote_plus(value) if pair["before"] in "?&" else value
        user, password = (value, password) if named_user else (user, value)
        begins = pair["before"] if pair["before"] in "?:" else ""  # the options: Db2's follow a colon
        kept.append(text[end : pair.start()] + begins)
        end = pair.end()
    rest = "".join(kept) + text[end:]
    if kept:
        rest = re.sub(r"([?:])[&;]+", r"\1", rest).rstrip("?:&;")
    return DriverUrl("url", user, password, rest, _masked(rest, _JDBC_PAIR))


def read_odbc(text: str) -> DriverUrl:
    """The parts of an ODBC connection string after `odbc:`: what the driver gets beside DRIVER, UID and PWD."""
    user = password = rest = ""
    for pair in _ODBC_PAIR.finditer(text.partition(":")[2]):
        key = pair["key"].strip()
        if re.fullmatch(_USER, key, re.I):
            user = _plain(pair["value"])
        elif re.fullmatch(_PASSWORD, key, re.I):
            password = _plain(pair["value"])
        elif key.lower() != "driver":  # it is named by its file
            rest += f"{key}={pair['value']};"
    return DriverUrl("connection", user, password, rest, f"odbc:{_masked(rest, _ODBC_PAIR)}")


def _plain(value: str) -> str:
    """The value without the braces that ODBC and SQL Server put around one with signs of their own."""
    return value[1:-1].replace("}}", "}") if value.startswith("{") and value.endswith("}") else value


def _masked(text: str, form: re.Pattern[str]) -> str:
    for pair in reversed(list(form.finditer(text))):
        if is_secret(pair["key"]) and pair["value"]:
            text = text[: pair.start("value")] + "***" + text[pair.end("value") :]
    return text


READERS = {"jdbc": read_jdbc, "odbc": read_odbc}  # scheme → its URLs read
