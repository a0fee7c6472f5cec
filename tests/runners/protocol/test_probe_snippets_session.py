"""The programs of a probe obey what its URL asks: the session's schema, and the first of several hosts that fits."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from rowpath.engines.base import Instance
from rowpath.machine import jvm
from rowpath.model.path import AccessPath
from rowpath.model.probe import Snippet
from rowpath.own_database.eligibility import hosts_refusal
from rowpath.own_database.target import Target, read_target
from rowpath.planning.plan import PlannedPath
from rowpath.probe.snippets import snippet
from tests.engines.insides import psql
from tests.runners.c.talk import started
from tests.runners.protocol.snippet_programs import Program, failures
from tests.runners.protocol.test_probe_snippets import COLUMNS, QUERIES, settings, some_languages
from tests.runners.protocol.test_probe_snippets import ROWS as QUERY_ROWS

pytestmark = pytest.mark.apart
SCHEMA = 'it\'s "T" ä\\b'  # a sign of every kind that a language, a URL or libpq quotes
ROWS, OTHERS = 12, 3
QUERY = "SELECT id, name FROM doors_t"
BY_TCP = AccessPath.of({"transport": "tcp"})


@some_languages
def test_programs_obey_the_url_of_postgresql(chosen: frozenset[str], tmp_path: Path) -> None:
    """The schema and the host that it names, and the socket."""
    with started("postgresql") as instance:
        wrong = failures(
            [*of_the_schema_and_the_host(instance, chosen), *of_the_socket("postgresql", instance, chosen)],
            tmp_path,
            instance.options(BY_TCP)["password"],
        )
    assert not wrong, "\n\n".join(wrong)


@some_languages
def test_programs_obey_the_url_of_mariadb(chosen: frozenset[str], tmp_path: Path) -> None:
    with started("mariadb") as instance:
        wrong = failures(of_the_socket("mariadb", instance, chosen), tmp_path, instance.options(BY_TCP)["password"])
    assert not wrong, "\n\n".join(wrong)


def of_the_schema_and_the_host(instance: Instance, chosen: frozenset[str]) -> list[Program]:
    """A program of each driver that must read the table of the URL's schema, from the host that fits where it can."""
    options = instance.options(BY_TCP)
    name = SCHEMA.replace('"', '""')
    table = "CREATE TABLE {} AS SELECT i AS id, 'x' || i AS name FROM generate_series(1, {}) AS i;"
    psql(
        instance,
        f'CREATE SCHEMA "{name}"; GRANT USAGE ON SCHEMA "{name}" TO PUBLIC;'
        + table.format(f'"{name}".doors_t', ROWS)
        + table.format("public.doors_t", OTHERS)
        + f'GRANT SELECT ON ALL TABLES IN SCHEMA "{name}", public TO PUBLIC;',
        "postgres",
        options["database"],
    )
    where, login = f"127.0.0.1:{options['port']}", f"{options['user']}:{quote(options['password'], safe='')}"
    one = read_target(f"postgresql://{login}@{where}/{options['database']}?schema={quote(SCHEMA, safe='')}", {})
    several = read_target(
        f"postgresql://{login}@127.0.0.1:1,{where}/{options['database']}"
        f"?schema={quote(SCHEMA, safe='')}&target_session_attrs=read-write",
        {},
    ).at("127.0.0.1", int(options["port"]))
    programs = []
    for planned in firsts("postgresql", chosen):
        target: Target = one if hosts_refusal(planned.adapter, several.attribute)[0] else several
        programs.append(Program(planned, made(planned, target, QUERY), ROWS))
    return programs


def of_the_socket(engine: str, instance: Instance, chosen: frozenset[str]) -> list[Program]:
    """A program of each driver that can reach the server by the socket of the URL, and must."""
    options = instance.options(AccessPath.of({"engine": engine, "transport": "unix"}))
    port = instance.options(BY_TCP)["port"]
    socket = quote(str(options.get("socket_dir") or options["socket"]), safe="")
    login = f"{options['user']}:{quote(options['password'], safe='')}"
    target = read_target(f"{engine}://{login}@/{options['database']}?socket={socket}&port={port}", {})
    assert target.transport == "unix"
    programs = []
    for planned in firsts(engine, chosen):
        if "unix" in planned.adapter.coordinates.get("transport", ()):
            program = made(planned, target, QUERIES[engine])
            words = start_java_as_said(program.run) if planned.path.language == "java" else ()
            programs.append(Program(planned, program, QUERY_ROWS, words))
    assert programs
    return programs


def firsts(engine: str, chosen: frozenset[str]) -> list[PlannedPath]:
    """The first path of each driver."""
    found: dict[tuple[str, str], PlannedPath] = {}
    for planned in settings(engine, "server"):
        if planned.path.language in chosen:
            found.setdefault((planned.path.language, planned.adapter.driver), planned)
    assert found
    return list(found.values())


def made(planned: PlannedPath, target: Target, sql: str) -> Snippet:
    """The path's program."""
    program = snippet(planned.name, planned.path.as_dict(), target, sql, COLUMNS)
    assert program is not None, f"no template for {planned.name}"
    return program


def start_java_as_said(said: str) -> tuple[str, ...]:
    """With the class path that the program names: Java has no unix sockets that drivers can use."""
    _java, _option, jars, file = said.split()
    names = [Path(jar).stem for jar in jars.split(":")]
    return jvm.java_command(), "-XX:TieredStopAtLevel=1", "-cp", jvm.class_path(names), file
