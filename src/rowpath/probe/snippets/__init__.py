"""Complete small programs that run the query with a path's settings; one template per driver, or per family of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2

from rowpath.model.probe import Snippet
from rowpath.probe.snippets import details
from rowpath.probe.snippets.running import how_to_run
from rowpath.probe.target import Target
from rowpath.runners.protocol import ColumnSpec

FOLDER = Path(__file__).parent
LONGEST_VALUE = 1024  # bytes that a buffer of a program holds where no length is declared
UNLIMITED = 256  # rows a call where a program binds buffers and the path takes rows one by one
TEMPLATES = {
    ("c", "libpq"): "libpq.c.j2",
    ("c", "libmariadb"): "libmariadb.c.j2",
    ("c", "sqlite"): "sqlite.c.j2",
    ("c", "psqlodbc"): "odbc.c.j2",
    ("c", "odbc-mariadb"): "odbc.c.j2",
    ("c", "libsqliteodbc"): "odbc.c.j2",
    ("python", "asyncpg"): "asyncpg.py.j2",
    ("python", "adbc-postgresql"): "adbc.py.j2",
    ("python", "adbc-sqlite"): "adbc.py.j2",
    ("python", "connectorx"): "connectorx.py.j2",
    ("python", "duckdb"): "duckdb.py.j2",
    ("python", "duckdb-files"): "duckdb.py.j2",
    ("c", "file"): "lines.c.j2",
    ("java", "file"): "Lines.java.j2",
    ("python", "pyarrow"): "files.py.j2",
    ("python", "polars"): "files.py.j2",
    ("python", "file"): "files.py.j2",
    **{("python", driver): "dbapi.py.j2" for driver in details.DBAPI},
    **{("java", driver): "Jdbc.java.j2" for driver in details.JDBC},
    **{("csharp", driver): "ado.cs.j2" for driver in details.ADO},
}
SUFFIXES = {"c": "c", "python": "py", "java": "java", "csharp": "cs"}


def snippet(name: str, path: dict[str, str], target: Target, sql: str, columns: Sequence[ColumnSpec]) -> Snippet | None:
    """The program of a path, without any password in it; None where no template is there for its driver."""
    language, driver = path["language"], path["driver"]
    template = TEMPLATES.get((language, driver))
    if template is None:
        return None
    file = f"Fastest.{SUFFIXES[language]}" if language == "java" else f"fastest-{language}.{SUFFIXES[language]}"
    found = context(path, target, sql, columns)
    found["run"] = run = how_to_run(language, driver, file, found)
    found["about"] = f"The rows of a query by {name}, as rowpath probe found it. {details.password_of(found)}".strip()
    text = _environment().get_template(template).render(found)
    return Snippet(language, name, file, text, run)


def context(path: dict[str, str], target: Target, sql: str, columns: Sequence[ColumnSpec]) -> dict[str, Any]:
    """What a template can ask for."""
    form, _, size = path.get("fetch", "row").partition(":")
    kind, _, result_size = path.get("result", "whole").partition(":")
    lengths = [4 * column.length + 1 if column.length else LONGEST_VALUE for column in columns] or [LONGEST_VALUE]
    found: dict[str, Any] = {
        **{key: path.get(key, "none") for key in ("language", "driver", "statement", "format", "engine")},
        "implementation": path.get("implementation", ""),
        "copies": path.get("copy", "on"),
        "form": form,
        "fetch_size": int(size or 1),
        "result_kind": "whole" if kind == "none" else kind,
        "result_size": int(result_size or 0),
        "threads": path.get("threads", "1"),
        "columns": len(columns),
        "types": [column.type for column in columns],
        "room": max(64, *lengths),
        "sql": sql,
        "host": target.host,
        "port": target.port,
        "user": target.user,
        "database": target.database,
        "socket": target.socket if not target.host else "",
        "path": str(target.path or ""),
        "tls": path.get("tls", "off"),
        "delimiter": target.options.get("delimiter", "," if str(target.path).endswith(".csv") else "|"),
    }
    found["conninfo"] = details.conninfo(found)
    for family in (details.dbapi, details.jdbc, details.ado, details.odbc, details.duckdb):
        found |= family(found)
    return found


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"c": c_text, "java": java_text, "cs": java_text, "py": python_text, "url": quote}
    return environment


def c_text(text: str) -> str:
    """A string literal of C, a line for each of the text's."""
    lines = text.split("\n")
    return "\n    ".join(
        _escaped(line + ("\n" if number < len(lines) - 1 else "")) for number, line in enumerate(lines)
    )


def _escaped(text: str) -> str:
    signs = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "?": "\\?"}
    return '"' + "".join(signs.get(sign, sign) for sign in text) + '"'


def java_text(text: str) -> str:
    """A string literal of Java or C#."""
    return json.dumps(text, ensure_ascii=False)


def python_text(text: str) -> str:
    """A string literal of Python."""
    return repr(text) if "\n" not in text or '"""' in text or "\\" in text else f'"""\\\n{text}"""'
