"""The programs of a probe obey what its URL asks: the session's schema, and the first of several hosts that fits."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from rowpath.machine import jvm
from rowpath.model.path import AccessPath
from rowpath.own_database.eligibility import hosts_refusal
from rowpath.own_database.target import Target, read_target
from rowpath.probe.snippets import snippet
from tests.engines.insides import psql
from tests.runners.c.talk import started
from tests.runners.protocol.test_probe_snippets import COLUMNS, QUERIES, STARTS, run, settings, some_languages
from tests.runners.protocol.test_probe_snippets import ROWS as QUERY_ROWS

pytestmark = pytest.mark.apart
SCHEMA = 'it\'s "T" ä\\b'  # a sign of every kind that a language, a URL or libpq quotes
ROWS, OTHERS = 12, 3
QUERY = "SELECT id, name FROM doors_t"


@some_languages
def test_programs_read_the_schema_and_the_host_of_the_url(chosen: frozenset[str], tmp_path: Path) -> None:
    with started("postgresql") as instance:
        options = instance.options(AccessPath.of({"engine": "postgresql", "transport": "tcp"}))
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
        wrong, drivers = [], set()
        for planned in settings("postgresql", "server"):
            language, driver = planned.path.language, planned.adapter.driver
            if language not in chosen or (language, driver) in drivers:
                continue
            drivers.add((language, driver))
            target: Target = one if hosts_refusal(planned.adapter, several.attribute)[0] else several
            made = snippet(planned.name, planned.path.as_dict(), target, QUERY, COLUMNS)
            assert made is not None, f"no template for {planned.name}"
            (tmp_path / made.file).write_text(made.text, encoding="utf-8")
            try:
                said = run(STARTS[language](planned.adapter, tmp_path, made.file), tmp_path, target.password)
                assert said == f"{ROWS} rows\n", said
            except AssertionError as error:
                wrong.append(f"{planned.name}: {error}\n{made.text}")
    assert drivers or not chosen
    assert not wrong, "\n\n".join(wrong)


def start_java_as_said(said: str) -> list[str]:
    """With the class path that the program names: Java has no unix sockets that drivers can use."""
    _java, _option, jars, file = said.split()
    names = [Path(jar).stem for jar in jars.split(":")]
    return [jvm.java_command(), "-XX:TieredStopAtLevel=1", "-cp", jvm.class_path(names), file]


@some_languages
@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_programs_reach_the_socket_of_the_url(engine: str, chosen: frozenset[str], tmp_path: Path) -> None:
    with started(engine) as instance:
        options = instance.options(AccessPath.of({"engine": engine, "transport": "unix"}))
        port = instance.options(AccessPath.of({"engine": engine, "transport": "tcp"}))["port"]
        socket = quote(str(options.get("socket_dir") or options["socket"]), safe="")
        login = f"{options['user']}:{quote(options['password'], safe='')}"
        target = read_target(f"{engine}://{login}@/{options['database']}?socket={socket}&port={port}", {})
        assert target.transport == "unix"
        wrong, drivers = [], set()
        for planned in settings(engine, "server"):
            language, adapter = planned.path.language, planned.adapter
            reaches = "unix" in adapter.coordinates.get("transport", ())
            if language not in chosen or (language, adapter.driver) in drivers or not reaches:
                continue
            drivers.add((language, adapter.driver))
            made = snippet(planned.name, planned.path.as_dict(), target, QUERIES[engine], COLUMNS)
            assert made is not None, f"no template for {planned.name}"
            (tmp_path / made.file).write_text(made.text, encoding="utf-8")
            try:
                as_said = language == "java"
                words = start_java_as_said(made.run) if as_said else STARTS[language](adapter, tmp_path, made.file)
                said = run(words, tmp_path, target.password)
                assert said == f"{QUERY_ROWS} rows\n", said
            except AssertionError as error:
                wrong.append(f"{planned.name}: {error}\n{made.text}")
    assert drivers
    assert not wrong, "\n\n".join(wrong)
