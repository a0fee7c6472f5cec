"""For any text the readers of a probe's options give an answer or an error for the user, and never show a secret."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from hypothesis import strategies as st

from rowpath.engines import ENGINES
from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.own_database.parameters import keyed, rows_of_csv, rows_of_words
from rowpath.own_database.query_check import check_query, leading_key
from rowpath.own_database.query_text import text_of
from rowpath.own_database.question import ProbeOptions, keyed_by_options, limited, query_of
from rowpath.own_database.table_name import queries_of
from rowpath.own_database.target import Target, read_target, typed_secrets
from rowpath.scrubber import Scrubber
from tests.fuzz import texts
from tests.fuzz.fuzzing import ending, tried

ANY_TEXT = st.text(max_size=30)
ENGINE = st.sampled_from(texts.QUERYABLE)


@contextlib.contextmanager
def answered(secret: str = "") -> Iterator[None]:
    """The body ends with an answer, or with an error for the user that shows no part of the secret."""
    try:
        with ending():
            yield
    except (UsageError, EnvironmentMissing) as error:
        hidden(error.shown(), secret)


def hidden(text: str, secret: str) -> None:
    shown = [form for form in texts.forms_of(secret) if form in text]
    assert not shown, text


def of(home: Path, text: str) -> Target:
    library = home / "lib"
    library.touch()
    return read_target(text, {"HOME": str(home)}, jar=library, odbc_driver=library)


def test_a_connection_string_gives_a_target_or_an_error_without_its_password(tmp_path: Path) -> None:
    def property_of(pair: tuple[str, str]) -> None:
        text, secret = pair
        with answered(secret):
            target = of(tmp_path, text)
            for shown in (target.shown, repr(target), *target.notes):
                if target.secrets():  # else it took the password for something else
                    hidden(shown.replace(repr(target.options), ""), secret)

    tried(property_of, texts.urls())


def test_a_broken_connection_string_never_shows_its_password_in_an_error(tmp_path: Path) -> None:
    def property_of(data: st.DataObject) -> None:
        text, secret = data.draw(texts.urls())
        text = data.draw(texts.broken(st.just(text)))
        if not re.search(rf"(?::|password='?|PWD=){secret}", text):
            return  # it stands where a user or a host does
        with answered(secret):
            of(tmp_path, text)
        with answered(secret):
            typed_secrets(text)

    tried(property_of, st.data())


def test_a_typed_password_is_found_where_the_url_is_read(tmp_path: Path) -> None:
    def property_of(pair: tuple[str, str]) -> None:
        text, secret = pair
        try:
            target = of(tmp_path, text)
        except (UsageError, EnvironmentMissing):
            return
        if target.secrets():
            assert any(secret in typed for typed in typed_secrets(text))

    tried(property_of, texts.urls())


def test_files_and_variables_give_a_target_or_an_error_without_their_password(tmp_path: Path) -> None:
    def property_of(login: tuple[str, dict[str, str], dict[str, str], str], mode: int) -> None:
        text, files, variables, secret = login
        for name, content in files.items():
            file = tmp_path / name
            file.write_bytes(content.encode("utf-8", "surrogateescape"))
            file.chmod(mode)
        with answered(secret):
            target = read_target(text.replace("~", str(tmp_path)), {"HOME": str(tmp_path), **variables})
            for shown in (target.shown, repr(target), *target.notes):
                hidden(shown, secret)

    tried(property_of, texts.logins(), st.sampled_from([0o600, 0o644, 0o666]))


def test_any_text_is_a_target_or_an_error(tmp_path: Path) -> None:
    def property_of(text: str) -> None:
        with answered():
            of(tmp_path, text)
        with answered():
            typed_secrets(text)

    tried(property_of, st.one_of(st.text(), st.tuples(st.sampled_from(texts.SCHEMES), st.text()).map("://".join)))


def test_a_query_is_checked_or_refused(tmp_path: Path) -> None:
    target = of(tmp_path, "postgresql://u@h/d")

    def property_of(text: str, engine: str, words: list[str]) -> None:
        with answered():
            text = query_of(ProbeOptions("", query=text or "x"), target)
        with answered():
            check_query(text, engine)
        with answered():
            limited(text, engine, 5)
        with answered():
            keyed_by_options(text, engine, ProbeOptions("", params=tuple(words)))
        syntax = ENGINES[engine].probe.syntax
        assert syntax is not None
        with answered():
            leading_key(text, syntax)

    tried(property_of, texts.QUERIES, ENGINE, st.lists(texts.PARAMETERS, max_size=2))


def test_a_name_of_a_table_is_a_query_or_refused() -> None:
    def property_of(name: str, engine: str) -> None:
        syntax = ENGINES[engine].probe.syntax
        assert syntax is not None
        with answered():
            for sql in queries_of(name, syntax):
                check_query(sql, engine)
                assert keyed_by_options(sql, engine, ProbeOptions("", table=name)) is None

    names = st.lists(
        st.one_of(texts.WORD, st.sampled_from(texts.words('. " ` \' "a.b" `a` -- ? ; $1 %s :a')), texts.ANY)
    )
    tried(property_of, names.map("".join), ENGINE)


def test_parameters_are_rows_or_an_error(tmp_path: Path) -> None:
    def property_of(words: list[str], text: str, engine: str) -> None:
        with answered():
            query = keyed(text, engine, rows_of_words(words))
            for row in query.rows:
                query.with_literals(engine, row)
            query.write(tmp_path / "rows")

    tried(property_of, st.lists(texts.PARAMETERS, min_size=1, max_size=2), texts.QUERIES, ENGINE)


def test_a_file_of_parameters_is_rows_or_an_error(tmp_path: Path) -> None:
    file = tmp_path / "parameters.csv"
    lines = st.lists(st.lists(texts.PARAMETERS, min_size=1, max_size=3).map(",".join), min_size=1, max_size=4)
    header = st.lists(texts.PARAMETERS.map(lambda text: f"{text}"), min_size=1, max_size=3).map(",".join)
    named = st.lists(st.sampled_from(["id:bigint", "name:text", "bigint", "day:date", "x:"]), min_size=1, max_size=3)

    def property_of(first: str, rest: list[str], ending_of_lines: str, noise: bytes) -> None:
        content = ending_of_lines.join([first, *(line.partition(":")[2] for line in rest)]).encode()
        file.write_bytes(content + noise)
        with answered():
            rows = rows_of_csv(file)
            keyed("SELECT ?", "postgresql", rows)

    ends = st.sampled_from(["\n", "\r\n", "\r"])
    tried(property_of, st.one_of(header, named.map(",".join)), lines, ends, st.binary(max_size=6))


def test_a_file_with_a_query_is_a_text_or_an_error(tmp_path: Path) -> None:
    file = tmp_path / "query.sql"

    def property_of(content: bytes) -> None:
        file.write_bytes(content)
        with answered():
            check_query(text_of(file), "postgresql")

    tried(
        property_of, st.one_of(st.binary(max_size=80), texts.QUERIES.map(lambda text: text.encode("utf-8", "replace")))
    )


def test_a_secret_between_other_signs_is_hidden() -> None:
    def property_of(secret: str, before: str, after: str) -> None:
        scrubber = Scrubber()
        scrubber.add(secret)
        with ending():
            hidden(scrubber.clean(f"{before} {secret} {after}"), secret)

    tried(property_of, texts.SECRET, ANY_TEXT, ANY_TEXT)
