"""Connection strings as people have them, as the URL that means the same: of libpq, ODBC, JDBC and SQLAlchemy."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from typing import NamedTuple

from rowpath.engines import ENGINES
from rowpath.engines.base import Engine
from rowpath.engines.probe_facts import shown
from rowpath.errors import UsageError
from rowpath.runners.manifest import Adapter, every_adapter
from rowpath.scrubber import ODBC_PAIR, unbraced

PLUS = re.compile(r"([A-Za-z][A-Za-z0-9]*)\+([\w-]+)(://.*)", re.S)
JDBC = re.compile(r"jdbc:(\w+):(.*)", re.S | re.I)
KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
DRIVER_PAIR = re.compile(r"(?:^|;|odbc:)\s*(?:driver|dsn)\s*=", re.I)
OWN_URL = "postgresql://user@host:5432/database, or mysql://user@host:3306/database"


class Written(NamedTuple):
    """A connection string as a URL; `mine`: the adapter of the driver that it names, which the user has now."""

    url: str
    mine: Adapter | None = None
    notes: tuple[str, ...] = ()


def as_url(text: str, *, own_driver: bool = False) -> Written:
    """The text as `scheme://…` where it is another form for an engine that is known; else as it is.

    `own_driver`: a file of a driver is named, so the driver's own forms stay. Errors: UsageError, without a password.
    """
    text = text.strip()
    if plus := PLUS.fullmatch(text):
        return _with_driver(*plus.groups())
    if own_driver:
        return Written(text)
    if (jdbc := JDBC.fullmatch(text)) and (engine := _named(jdbc[1].lower(), "jdbc")):
        return Written(_jdbc_url(engine, jdbc[2]))
    if DRIVER_PAIR.search(text) and "://" not in text:
        return Written(_odbc_url(text.removeprefix("odbc:")) or text)
    first = KEY.match(text)
    for engine in ENGINES.values():
        if first and first[1].lower() in engine.probe.key_values.keys:
            return Written(_url(engine, _pairs(text, engine)))
    return Written(text)


def _with_driver(scheme: str, driver: str, rest: str) -> Written:
    """SQLAlchemy's form: the driver that it names is what the user has now."""
    engine = next((engine for engine in ENGINES.values() if scheme.lower() in engine.probe.schemes), None)
    if engine is None:
        return Written(f"{scheme}+{driver}{rest}")
    for adapter in every_adapter():
        if engine.name in adapter.engines and driver in adapter.named_in_urls:
            return Written(scheme + rest, adapter)
    note = f"{driver}, which the URL names, is no driver that Rowpath has: name the nearest with --mine"
    return Written(scheme + rest, None, (note,))


def _named(word: str, kind: str) -> Engine | None:
    return next((engine for engine in ENGINES.values() if word in getattr(engine.probe.key_values, kind)), None)


def _jdbc_url(engine: Engine, rest: str) -> str:
    """Java's drivers connect by TCP, to the engine's own port unless the URL names another."""
    word = engine.probe.key_values.jdbc[0]
    if not rest.startswith("//"):
        if ":" in rest.partition("?")[0]:  # replication:, loadbalance:, sequential:
            mode = rest.partition(":")[0]
            what = f"jdbc:{word}:{mode}: is not available for a probe, which measures one host"
            raise UsageError(what, f"jdbc:{word}://host:{engine.probe.port}/database")
        rest = "///" + rest.lstrip("/")
    if re.match(r"//[^?]*\(", rest):
        raise UsageError(f"an address in brackets of jdbc:{word} is not read", f"jdbc:{word}://host/database")
    authority = re.split(r"[/?#]", rest[2:], maxsplit=1)[0]
    userinfo, at, places = authority.rpartition("@")
    hosts = [place or "localhost" for place in places.split(",")]
    ported = [host if re.search(r":\d+$", host) else f"{host.rstrip(':')}:{engine.probe.port}" for host in hosts]
    database, mark, query = rest[2 + len(authority) :].partition("?")
    # Java's drivers take a plus in the options as a blank.
    options = mark + query.replace("+", "%20")
    return f"{engine.probe.schemes[0]}://{userinfo}{at}{','.join(ported)}{database}{options}"


def _odbc_url(text: str) -> str:
    """The URL; empty where the driver is none of an engine that is known."""
    pairs = {pair["key"].strip().lower(): unbraced(pair["value"].strip()) for pair in ODBC_PAIR.finditer(text)}
    driver = pairs.get("driver", "").lower()
    for engine in ENGINES.values():
        facts = engine.probe.key_values
        if driver.startswith(facts.odbc_drivers) and facts.odbc_drivers:
            more = _pairs(pairs.pop("pqopt"), engine) if "pqopt" in pairs else {}
            given = {facts.odbc_keys.get(key, key): value for key, value in pairs.items() if key != "driver"}
            local = {} if given.get("socket") else {"host": "localhost", "port": str(engine.probe.port)}
            return _url(engine, more | local | {key: value for key, value in given.items() if value})
    if "dsn" in pairs:
        what = f"data source {shown(pairs['dsn'])}: odbc.ini is not read"
        raise UsageError(what, "Driver={PostgreSQL Unicode};Server=host;Port=5432;Database=shop;Uid=me, or " + OWN_URL)
    return ""


def _pairs(text: str, engine: Engine) -> dict[str, str]:
    """The keys and values of libpq's own form: parted by blanks, quoted where they hold one, with backslashes."""
    pairs: dict[str, str] = {}
    at = 0
    while text[at:].strip():
        key = KEY.match(text, at)
        if key is None:
            what = "a connection string has a word without '='" if pairs else "a connection string begins without a key"
            raise UsageError(what, "host=db.example port=5432 dbname=shop user=me; quote a value with blanks: 'a b'")
        at = key.end()
        value = re.compile(r"'((?:\\.|[^'\\])*)'" if text[at : at + 1] == "'" else r"((?:\\.|[^\s\\])*)", re.S).match(
            text, at
        )
        if value is None:
            raise UsageError(f"the quotes of {key[1]} are not closed", f"{key[1]}='a value'")
        pairs[key[1]] = re.sub(r"\\(.)", r"\1", value[1])
        at = value.end()
    if unknown := [key for key in pairs if key not in engine.probe.key_values.keys]:
        raise UsageError(f"unknown key {unknown[0]} in a connection string", "host=… port=… dbname=… user=…")
    return pairs


def _url(engine: Engine, pairs: Mapping[str, str]) -> str:
    query = urllib.parse.urlencode(pairs, quote_via=urllib.parse.quote, safe="")
    return f"{engine.probe.schemes[0]}://?{query}"
