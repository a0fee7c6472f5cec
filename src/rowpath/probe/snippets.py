"""Complete small programs that run the query with a path's settings; templates lie with their language."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

import jinja2
import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import Syntax
from rowpath.model.path import CHECKED
from rowpath.model.probe import Snippet
from rowpath.model.workload import ColumnSpec
from rowpath.own_database.parameters import KeyedQuery
from rowpath.own_database.target import Target
from rowpath.own_database.tokens import pieces_of
from rowpath.runners.language import Language, SnippetDriver
from rowpath.runners.manifest import language
from rowpath.workloads.codec import plain_decimal

LONGEST_VALUE = 1024  # bytes that a buffer of a program holds where no length is declared
ABOUT = "The rows of a query by"
SSLMODE = {"on": "require", "off": "disable", **{mode: mode for mode in CHECKED}}


def snippet(
    name: str,
    path: dict[str, str],
    target: Target,
    sql: str,
    columns: Sequence[ColumnSpec],
    keyed: KeyedQuery | None = None,
) -> Snippet | None:
    """The program of a path, without any password in it; None where no template is there for its driver.

    `keyed`: the query with parameters, of which the program takes the first row.
    """
    header = language(path["language"])
    driver = header.snippets.drivers.get(path["driver"], SnippetDriver())
    template = f"{driver.template or path['driver']}{header.source_suffix}.j2"
    if not (folder_of(header) / template).is_file():
        return None
    run = how_to_run(header, driver, target.transport == "unix")
    login = f" The password comes from the environment: {driver.password}." if target.user else ""
    about = f"{ABOUT} {name}, as measured by rowpath probe.{login}"
    facts = context(path, target, sql, columns)
    if keyed is not None:
        facts |= _keyed(keyed, header, driver, facts)
    text = rendered(header, template, target.engine, {**facts, "run": run, "about": about})
    return Snippet(header.name, name, header.snippet_file, text, run)


def folder_of(header: Language) -> Path:
    """Where a language's templates are."""
    return Path(header.folder) / "snippets"


def rendered(header: Language, template: str, engine: str, facts: Mapping[str, Any]) -> str:
    """A program by a template of that language."""
    return _environment(folder_of(header), engine).get_template(template).render(facts)


@functools.cache
def _environment(folder: Path, engine: str) -> jinja2.Environment:
    """It keeps the templates that it compiled, which takes longer than all else."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {
        "c_text": c_text,
        "json_text": json_text,
        "rust_text": rust_text,
        "operators_doubled": functools.partial(operators_doubled, engine=engine),
        "sign": sign_text,
        "python_text": python_text,
        "url": quote,
        "query": query_text,
    }
    return environment


def changed(before: str, after: str) -> str:
    """The lines of a program that another one did not have: `9, 14–16`; its first comment aside."""
    lines = after.splitlines()
    spans = []
    for what, _from, _to, start, end in difflib.SequenceMatcher(None, before.splitlines(), lines, False).get_opcodes():
        if what in ("replace", "insert") and any(ABOUT not in line and line.strip() for line in lines[start:end]):
            spans.append(f"{start + 1}" if end - start == 1 else f"{start + 1}–{end}")
    return ", ".join(spans)


def how_to_run(header: Language, driver: SnippetDriver, by_socket: bool) -> str:
    """One line for a shell."""
    needs = driver.needs + driver.socket_needs * by_socket
    usual = header.snippets.run if driver.needs else header.snippets.run_bare or header.snippets.run
    file = header.snippet_file
    return " ".join((driver.run or usual).format(file=file, stem=Path(file).stem, needs=needs).split())


def context(path: dict[str, str], target: Target, sql: str, columns: Sequence[ColumnSpec]) -> dict[str, Any]:
    """What a template can use: the path's settings, the target, the query."""
    facts = ENGINES[target.engine].probe
    form, _, size = path.get("fetch", "row").partition(":")
    kind, _, result_size = path.get("result", "whole").partition(":")
    files = {key: value for key, value in ssl_words(path, target).items() if key != "sslmode"}
    lengths = [4 * column.length + 1 if column.length else LONGEST_VALUE for column in columns] or [LONGEST_VALUE]
    return {
        **{key: path.get(key, "none") for key in ("language", "driver", "statement", "format", "engine")},
        "coordinates": path,
        "implementation": path.get("implementation", ""),
        "copies": path.get("copy", "on"),
        "form": form,
        "fetch_size": int(size or 1),
        "result_kind": "whole" if kind == "none" else kind,
        "result_size": int(result_size or 0),
        "threads": path.get("threads", "1"),
        "columns": len(columns),
        "room": max(64, *lengths),
        "sql": sql,
        "parameters": [],
        "host": target.host,
        "port": target.port,
        "user": target.user,
        "database": target.database,
        "socket": target.socket if not target.host else "",
        **_asked(target),
        "path": str(target.path or ""),
        "driver_file": target.driver_file or "",
        "connection": target.shown.removeprefix("odbc:"),
        "tls": path.get("tls", "off"),
        "sslmode": SSLMODE.get(path.get("tls", "off"), ""),
        **{option: target.encryption.files.get(option, "") for option in ("tls_ca", "tls_cert", "tls_key")},
        "ssl_words": ssl_words(path, target),
        "ssl_files": _libpq_words(files),
        "pqopt": _libpq_words({"options": target.startup, **files}),
        "conninfo": conninfo(path, target),
        "protocol": facts.protocol,
        "delimited": any(facts.files.values()),
        **_written(target, columns),
    }


def _asked(target: Target) -> dict[str, Any]:
    """What the URL asks beside the login: settings of the session, and which of several hosts."""
    asked = _asked_words(target)
    hosts = target.hosts or ((target.host or target.socket, target.port),)
    return {
        "session": target.session,
        "startup": asked.get("options", ""),
        "hosts": target.hosts,
        "attribute": target.attribute if target.hosts else "",
        "asked": query_text(asked),
        "places": ",".join(f"{f'[{host}]' if ':' in host else quote(host, safe='')}:{port}" for host, port in hosts),
    }


def _asked_words(target: Target) -> dict[str, str]:
    """The session's settings and the choice of a host, as libpq and its kin call them."""
    asked = {"options": target.startup}
    asked["target_session_attrs"] = target.attribute if target.hosts else ""
    return {key: value for key, value in asked.items() if value}


def _escaped(text: str) -> str:
    """A text between libpq's quotes."""
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _written(target: Target, columns: Sequence[ColumnSpec]) -> dict[str, Any]:
    """How a single file is written; names that stand twice or are none are those of places."""
    options, names = target.options, [column.name for column in columns]
    plain = len({name.lower() for name in names}) == len(names) and "" not in names
    named = names if plain else [f"f{number}" for number in range(len(names))]
    ends = {"lf": r"new_line = '\n', ", "crlf": r"new_line = '\r\n', ", "mixed": "strict_mode = false, "}
    return {
        "delimiter": options.get("delimiter", "|"),
        "rfc4180": "quote" in options,
        "quote": options.get("quote", "off").removeprefix("off"),
        "header": options.get("header") == "yes",
        "line_end": ends.get(options.get("line_end", ""), ""),
        "block": 2 * int(options.get("longest_record", 0)),
        "typed": [msgspec.structs.replace(c, name=name) for c, name in zip(columns, named, strict=True)],
        "stream": target.engine == "arrow" and target.path is not None and _is_stream(target.path),
    }


def _is_stream(file: Path) -> bool:
    """Whether a file of Arrow IPC is in the stream format; the file format begins with its name."""
    with file.open("rb") as opened:
        return opened.read(6) != b"ARROW1"


def _keyed(keyed: KeyedQuery, header: Language, driver: SnippetDriver, facts: dict[str, Any]) -> dict[str, Any]:
    """The query as the driver takes it, and the first row of parameters; as literals where the path sends only text.

    Binary values are literals where the language has none that are short.
    """
    row, engine = keyed.rows[0], facts["engine"]
    as_text = facts["form"] == "copy" or (facts["statement"] == "text" and not driver.interpolates)
    if as_text or (not header.snippets.binary_parameters and any(isinstance(value, bytes) for value in row)):
        return {"sql": keyed.with_literals(engine, row)}
    named = driver.takes_names and keyed.placeholders.form == "%(name)s"
    parameters = []
    for value, column, name in zip(row, keyed.columns, keyed.placeholders.takes, strict=True):
        native = value is None or isinstance(value, int | float | str | bytes)
        python = repr(value if native or not ENGINES[engine].probe.text_parameters else _text(value))
        of = {"name": name} if named else {}
        parameters.append({"type": column.type, "bits": column.bits, "text": _text(value), "python": python, **of})
    sql = keyed.spelt("%(name)s" if named else driver.placeholder, driver.percent)
    return {"sql": sql, "sql_with_question_marks": keyed.spelt("?"), "parameters": parameters}


def _text(value: Any) -> str | None:
    """A parameter as text; None for NULL."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return plain_decimal(value) if isinstance(value, Decimal) else str(value)


def conninfo(path: dict[str, str], target: Target) -> str:
    """libpq's connection string."""
    return _libpq_words(libpq_words(path, target))


def libpq_words(path: dict[str, str], target: Target) -> dict[str, str]:
    """libpq's keywords of a connection."""
    hosts = target.hosts or ((target.host or target.socket, target.port),)
    words = {
        "host": ",".join(host for host, _port in hosts),
        "port": ",".join(str(port) for _host, port in hosts),
        "dbname": target.database,
        "user": target.user,
        **ssl_words(path, target),
        **_asked_words(target),
    }
    return {key: value for key, value in words.items() if value}


def ssl_words(path: dict[str, str], target: Target) -> dict[str, str]:
    """libpq's keywords of encryption, as far as they are given."""
    mode, files = SSLMODE.get(path.get("tls", "off"), ""), target.encryption
    words = {"sslmode": mode, "sslrootcert": files.ca, "sslcert": files.cert, "sslkey": files.key}
    return {key: value for key, value in words.items() if value}


def _libpq_words(words: Mapping[str, str]) -> str:
    texts = {key: _escaped(value) for key, value in words.items() if value}
    return " ".join(f"{key}='{text}'" if set(" '") & set(text) else f"{key}={text}" for key, text in texts.items())


def c_text(text: str) -> str:
    """A string literal of C, a line for each of the text's."""
    *lines, last = text.split("\n")
    lines = [*(line + "\n" for line in lines), last]
    question_mark = {"?": "\\?"}  # else three signs may be a trigraph
    return "\n    ".join(
        _quoted(line, lambda sign: "".join(f"\\{byte:03o}" for byte in sign.encode()), question_mark) for line in lines
    )


def _quoted(text: str, unseen: Callable[[str], str], signs: Mapping[str, str] = MappingProxyType({})) -> str:
    """The text between quotes. `unseen`: how a sign is written that cannot be seen, of which compilers refuse some."""
    written = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", **signs}
    return '"' + "".join(written.get(sign) or (sign if _is_seen(sign) else unseen(sign)) for sign in text) + '"'


def _is_seen(sign: str) -> bool:
    return sign.isprintable() or sign > "\uffff"  # beyond it languages have no escape in common


def operators_doubled(sql: str, engine: str) -> str:
    """The query with each `?` outside of quotes doubled, which says to some drivers that it is an operator."""
    pieces = pieces_of(sql, ENGINES[engine].probe.syntax or Syntax())
    return "".join(2 * piece.token if piece.token == "?" else sql[piece.begin : piece.end] for piece in pieces)


def sign_text(sign: str) -> str:
    """A literal of C and Java for one ASCII sign; 0 for none."""
    if not sign:
        return "0"
    return {"\t": r"'\t'", "'": r"'\''", "\\": r"'\\'"}.get(sign, f"'{sign}'")


def query_text(words: Mapping[str, str]) -> str:
    """The options of a URL; a blank is %20, because libpq takes a plus as it is."""
    return urlencode(words, quote_via=quote)


def json_text(text: str) -> str:
    """A string literal of JSON, which most languages share."""
    return _quoted(text, lambda sign: f"\\u{ord(sign):04x}")


def rust_text(text: str) -> str:
    """A string literal of Rust."""
    return _quoted(text, lambda sign: f"\\u{{{ord(sign):x}}}")


def python_text(text: str) -> str:
    """A string literal of Python, in lines where the text has some."""
    if "\n" not in text or '"""' in text or "\\" in text or not text.replace("\n", " ").isprintable():
        return repr(text)
    end = "\\\n" if text.endswith('"') else ""  # a line that is continued, so that the quotes stand apart
    return f'"""\\\n{text}{end}"""'
