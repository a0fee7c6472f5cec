"""What is probed: a URL or a file's name, with what the environment and the user's files add to it."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rowpath.engines import ENGINES
from rowpath.engines.base import Engine
from rowpath.engines.probe_facts import SOCKET_KEYS, FileLayout, Login
from rowpath.errors import UsageError
from rowpath.own_database import delimited
from rowpath.own_database.connection_string import as_url
from rowpath.own_database.named_files import FILE, FORM, existing, split_options, with_scheme
from rowpath.own_database.server_address import authority, by_usual_names, hosts_of, login_at
from rowpath.own_database.tls import Tls, is_tls_option, read_tls
from rowpath.own_database.url_options import Asked, asked
from rowpath.runners.manifest import Adapter
from rowpath.scrubber import JDBC_PAIR, ODBC_PAIR, Scrubber, is_secret, secrets_in, unbraced
from rowpath.toml_file import suggest

PASSWORD_VARIABLE = "ROWPATH_PROBE_PASSWORD"
FOREIGN_DIALECT = {"quote", "header", "null"}  # options of a URL: the file is not in Rowpath's own form
ENCODE = "write the password's own @ : / ? # % as %40 %3A %2F %3F %23 %25, or leave it out and set "
_USER = r"user|username|user\ name|uid|user\ id"
_PASSWORD = r"password|passwd|pwd"
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
    session: dict[str, str] = field(default_factory=dict)  # settings that the URL gives every session
    hosts: tuple[tuple[str, int], ...] = ()  # all (host or socket, port) that the URL names, where these are several
    attribute: str = ""  # which of the hosts: read-write, standby, …; empty: any that answers
    mine: Adapter | None = None  # of the driver that the URL names: what the user has now

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

    @property
    def session_statements(self) -> tuple[str, ...]:
        """What gives a session the settings of the URL."""
        statement = ENGINES[self.engine].probe.options.statement
        return tuple(statement(name, value) for name, value in self.session.items())

    @property
    def startup(self) -> str:
        """The same settings as the option `options` of a start-up message."""
        return ENGINES[self.engine].probe.options.startup(self.session)

    def at(self, host: str, port: int) -> Target:
        """The target at one of its hosts."""
        options = {key: value for key, value in self.options.items() if key not in SOCKET_KEYS}
        if host.startswith("/"):
            return replace(self, host="", port=port, options=options | {"socket": host})
        return replace(self, host=host, port=port, options=options)

    def read_only(self, in_place: bool) -> bool:
        """Whether its file must be opened read only: it is the user's own, or several have to share it."""
        layout = ENGINES[self.engine].probe.layout
        return self.deployment == "embedded" and (in_place or (layout is not None and layout.shared_read_only))

    def secrets(self) -> list[str]:
        """Everything of it that must never be seen."""
        urls = self.options.get("url", "") + self.options.get("connection", "")
        own = [value for key, value in self.options.items() if is_secret(key)]
        return [secret for secret in (self.password, *own, *secrets_in(urls)) if secret]

    def scrubber(self, *queries: str) -> Scrubber:
        """What takes its secrets out of foreign text; its own names and the words of the queries stay."""
        scrubber = Scrubber(self.secrets(), (self.user, self.database, self.host, str(self.port)))
        for text in (self.shown, str(self.path or ""), *queries):
            scrubber.keep_words(text)
        return scrubber


def read_target(
    text: str, environment: Mapping[str, str], *, jar: Path | None = None, odbc_driver: Path | None = None
) -> Target:
    """The target that a URL or a file's name means; its files exist, its login is completed from the environment and
    the user's files.

    Errors: UsageError, which shows nothing of the URL that could hold a password.
    """
    text, mine, notes = as_url(text, own_driver=bool(jar or odbc_driver))
    scheme, colon, rest = with_scheme(text.strip()).partition(":")
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
        target = _file_target(scheme, engine, rest[2:])
    else:
        target = _server_target(scheme, engine, rest[2:], environment)
    return replace(target, mine=mine, notes=notes + target.notes)


def typed_secrets(text: str) -> list[str]:
    """Every secret in the text of a URL, whether or not it can be used on this machine. Errors: UsageError."""
    scheme, _, rest = text.strip().partition(":")
    if scheme.lower() in READERS:
        read = READERS[scheme.lower()](text.strip())
        return [read.password, *secrets_in(read.rest)]
    userinfo, rest = _split_userinfo(scheme, rest.removeprefix("//"))
    secret = [value for key, value in split_options(rest)[1].items() if is_secret(key)]
    return [urllib.parse.unquote(userinfo.partition(":")[2]), *secret]


def _server_target(scheme: str, engine: Engine, rest: str, environment: Mapping[str, str]) -> Target:
    userinfo, rest = _split_userinfo(scheme, rest)
    place, query = split_options(rest)
    given = authority(scheme, userinfo, place) | by_usual_names(engine, query)
    if "password" not in given and environment.get(PASSWORD_VARIABLE):
        given["password"] = environment[PASSWORD_VARIABLE]
    full = engine.probe.with_defaults(given, environment)
    read = asked(engine, full)
    options = read.options
    logins = [
        login_at(engine, host, port, full, read, environment) for host, port in hosts_of(scheme, engine, read.place)
    ]
    login = logins[0]
    hosts = tuple((each.host or each.socket, each.port) for each in logins) if len(logins) > 1 else ()
    about_tls = {key: value for key, value in options.items() if is_tls_option(key)}
    encryption = read_tls(about_tls, environment, engine.probe.tls)
    if encryption.mode == "verify-full" and {"host", "hostaddr"} <= set(read.place):
        raise UsageError("hostaddr stands for the host, whose name the check needs", "remove hostaddr")
    if not login.database:
        raise UsageError(f"the URL names no database: {_shown(scheme, login, options)}", FORM)
    if len({each.password for each in logins}) > 1:
        raise UsageError("the hosts of the URL have different passwords", f"one host, or {PASSWORD_VARIABLE}")
    if len({bool(each.host) for each in logins}) > 1:
        raise UsageError("the URL names hosts and unix sockets", "name hosts only, or sockets only")
    options |= {"socket": login.socket} if login.socket else {}
    wire = engine.wire
    in_folder = bool(login.socket and not login.host and wire and wire.socket_folder)
    port = {"port": str(login.port)} if in_folder and not hosts else {}  # its socket is named by folder and port
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
        shown=_shown(scheme, login, options | port | read.session | _attribute(engine, read), hosts),
        notes=login.notes + read.notes,
        session=read.session,
        hosts=hosts,
        attribute=read.attribute,
    )


def _attribute(engine: Engine, read: Asked) -> dict[str, str]:
    return {engine.probe.options.attribute_option: read.attribute} if read.attribute else {}


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


def _shown(scheme: str, login: Login, options: dict[str, str], hosts: tuple[tuple[str, int], ...] = ()) -> str:
    quote = urllib.parse.quote

    def place(host: str, port: int) -> str:
        return f"{f'[{host}]' if ':' in host else quote(host, safe='')}:{port}"

    where = ",".join(place(*each) for each in hosts or [(login.host, login.port)] if each[0])
    user = f"{quote(login.user, safe='')}@" if login.user else ""
    masked = {key: "***" if is_secret(key) else value for key, value in options.items()}
    query = "&".join(f"{quote(key)}={quote(value, safe='/*')}" for key, value in masked.items())
    return f"{scheme}://{user}{where}/{quote(login.database)}{'?' + query if query else ''}"


def _unused(engine: Engine, query: dict[str, str]) -> tuple[str, ...]:
    known = engine.probe.url_options
    left = [key for key in query if key not in (*known, "user", "password") and re.fullmatch(r"[\w.-]{1,40}", key)]
    return tuple(f"unknown URL option {key} is ignored" for key in left)


def _file_target(scheme: str, engine: Engine, rest: str) -> Target:
    layout = engine.probe.layout or FileLayout()
    named, options = existing(scheme, layout.suffixes[0], rest)
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


@dataclass(frozen=True)
class DriverUrl:
    """A driver's own URL apart from its login; `option` is what the adapter calls the rest."""

    option: str
    user: str
    password: str = field(repr=False)
    rest: str = field(repr=False)
    shown: str


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
    for pair in JDBC_PAIR.finditer(text):
        named_user = re.fullmatch(_USER, pair["key"].strip(), re.I)
        if not named_user and not re.fullmatch(_PASSWORD, pair["key"].strip(), re.I):
            continue
        value = unbraced(pair["value"])
        value = urllib.parse.unquote_plus(value) if pair["before"] in "?&" else value
        user, password = (value, password) if named_user else (user, value)
        begins = pair["before"] if pair["before"] in "?:" else ""  # the options: Db2's follow a colon
        kept.append(text[end : pair.start()] + begins)
        end = pair.end()
    rest = "".join(kept) + text[end:]
    if kept:
        rest = re.sub(r"([?:])[&;]+", r"\1", rest).rstrip("?:&;")
    return DriverUrl("url", user, password, rest, _masked(rest, JDBC_PAIR))


def read_odbc(text: str) -> DriverUrl:
    """The parts of an ODBC connection string after `odbc:`: what the driver gets beside DRIVER, UID and PWD."""
    user = password = rest = ""
    for pair in ODBC_PAIR.finditer(text.partition(":")[2]):
        key = pair["key"].strip()
        if re.fullmatch(_USER, key, re.I):
            user = unbraced(pair["value"])
        elif re.fullmatch(_PASSWORD, key, re.I):
            password = unbraced(pair["value"])
        elif key.lower() != "driver":  # it is named by its file
            rest += f"{key}={pair['value']};"
    return DriverUrl("connection", user, password, rest, f"odbc:{_masked(_masked(rest, ODBC_PAIR), JDBC_PAIR)}")


def _masked(text: str, form: re.Pattern[str]) -> str:
    for pair in reversed(list(form.finditer(text))):
        if is_secret(pair["key"]) and pair["value"]:
            text = text[: pair.start("value")] + "***" + text[pair.end("value") :]
    return text


READERS = {"jdbc": read_jdbc, "odbc": read_odbc}  # scheme → its URLs read
