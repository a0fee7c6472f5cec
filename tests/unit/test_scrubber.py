"""Secrets go from foreign text in every written form; names that equal one, and parts of words, stay."""

from __future__ import annotations

import html
import json
import shlex
import string
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rowpath.scrubber import MASK, PART, Scrubber, is_secret, secrets_in


def escaped(text: str, how: Callable[[str], str]) -> str:
    return "".join(sign if sign.isalnum() and sign.isascii() else how(sign) for sign in text)


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: quote(text, safe=""),
    "percent in lower case": lambda text: escaped(text, lambda sign: quote(sign, "").lower()),
    "percent, slashes plain": quote,
    "percent of every character": lambda text: "".join(f"%{octet:02X}" for octet in text.encode()),
    "percent twice": lambda text: quote(quote(text, safe=""), safe=""),
    "form": quote_plus,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "JSON with letters": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "SQL": lambda text: text.replace("'", "''"),
    "SQL with backslashes": lambda text: text.replace("\\", "\\\\").replace("'", "''"),
    "identifier": lambda text: text.replace('"', '""'),
    "libpq": lambda text: text.replace("\\", "\\\\").replace("'", "\\'"),
    "shell": shlex.quote,
    "braces": lambda text: "{" + text.replace("}", "}}") + "}",
    "C": lambda text: escaped(text, lambda sign: "".join(f"\\x{octet:02x}" for octet in sign.encode())),
    "octal": lambda text: escaped(text, lambda sign: "".join(f"\\{octet:03o}" for octet in sign.encode())),
    "HTML": html.escape,
    "Python": lambda text: repr(text)[1:-1],
    "read as Latin-1": lambda text: text.encode().decode("latin-1"),
}  # fmt: skip
SIGNS = "aZ0_ '\"\\/%@:?#&+={}<>$!;,.-~`^|()[]*\t\n\xf6\u20ac\U0001f600"
PASSWORDS = st.text(SIGNS, min_size=1, max_size=20).filter(lambda text: text.strip("*"))
AROUND = st.sampled_from(["", " ", "'", '"', "=", ":", "@", "\n", "(", ")", ", ", "; "])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(secret=PASSWORDS, before=AROUND, after=AROUND)
@example(secret='p@ss "w/\xf6', before=":", after="@")
@example(secret="it's \\ }x{", before="'", after="'")
def test_a_password_goes_in_every_form_whatever_stands_around_it(
    form: Callable[[str], str], secret: str, before: str, after: str
) -> None:
    written = form(secret)
    cleaned = Scrubber([secret]).clean(f"before{before} {written} {after}after")
    assert MASK in cleaned
    assert not any(part in cleaned for part in parts(written) if part not in f"before{before}  {after}after{MASK}")


def parts(text: str) -> list[str]:
    """What of a form shows it: all of a short one, 8 characters in a row of a longer one; quotes around it do not."""
    bare = text.strip("'\"{} ")
    return [bare[at : at + PART] for at in range(max(1, len(bare) - PART + 1))] if bare.isalnum() else [bare]


@given(
    secret=st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=12),
    before=st.text(string.ascii_letters + string.digits + "_\xe9", min_size=1, max_size=5),
)
def test_a_part_of_a_longer_word_stays(secret: str, before: str) -> None:
    scrubber = Scrubber([secret])
    if scrubber.clean_own(secret) != MASK:  # it may be a word
        words = [text for text in (before + secret, secret + before) if secret not in text.split(secret)]
        for word in words:
            cleaned = scrubber.clean(f"the {word}; and")
            assert word in cleaned or MASK in Scrubber([secret]).clean(word)
            assert word in cleaned or before.startswith(secret) or before == secret


@pytest.mark.parametrize(
    ("secret", "text", "cleaned"),
    [
        ("postgres", "role \"postgres\" of postgresql, adbc-postgresql", 'role "***" of postgresql, adbc-postgresql'),
        ("1234", "port 12345, 1234 rows, 0.1234 s", "port 12345, *** rows, 0.*** s"),
        ("a", "a path of a_b, a's", "*** path of a_b, ***'s"),
        ("id", "video id, ID", "video ***, ID"),
        ('"', 'relation "x" of "y"', 'relation "x" of "y"'),
        ("\\", "C:\\dir and \\", "C:\\dir and ***"),
        ("n", "line\\nn", "line\\n***"),
        ("correct horse", "correct horses, correct horse", "correct horses, ***"),
        ("correct horse", "password correct ho…, wrong", "password ***…, wrong"),
        ("correct horse", "password correct h... or", "password ***... or"),
        ("correct horse", 'near "correct ho"', 'near "***"'),
        ("correct horse", "correct ho is no cut", "correct ho is no cut"),
        ("correct horse", "correct…", "correct…"),
        ("Xk29dkQpz1aa", "zzXk29dkQpz1aazz, k29dkQpz1 and Xk29dkQ", "zz***zz, *** and Xk29dkQ"),
        ("x*y", "x*y and ***", "*** and ***"),
    ],
)  # fmt: skip
def test_what_goes_and_what_stays(secret: str, text: str, cleaned: str) -> None:
    assert Scrubber([secret]).clean(text) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ('role "rp" of rp does not exist', 'role "rp" of rp does not exist'),
        ('password authentication failed for user "rp"', 'password authentication failed for user "rp"'),
        ("postgresql://rp:rp@rp/rp", "postgresql://rp:***@rp/rp"),
        ("postgresql%3A%2F%2Frp%3Arp%40rp", "postgresql%3A%2F%2Frp%3A***%40rp"),
        ("user=rp password=rp dbname='rp'", "user=rp password=*** dbname='rp'"),
        ("PGPASSWORD='rp' UID=rp;PWD={rp};", "PGPASSWORD='***' UID=rp;PWD={***};"),
        ('{"user": "rp", "password": "rp"}', '{"user": "rp", "password": "***"}'),
        ("ALTER ROLE rp PASSWORD 'rp'", "ALTER ROLE rp PASSWORD '***'"),
        ("CREATE USER rp IDENTIFIED BY 'rp'", "CREATE USER rp IDENTIFIED BY '***'"),
        ("jdbc:oracle:thin:rp/rp@rp", "jdbc:oracle:thin:rp/***@rp"),
    ],
)
def test_a_name_that_equals_the_password_stays_except_where_a_password_stands(text: str, cleaned: str) -> None:
    assert Scrubber(["rp"], ["rp"]).clean(text) == cleaned


def test_the_begin_of_a_password_that_is_a_name_stays() -> None:
    assert Scrubber(["postgres-admin"], ["postgres"]).clean('for user "postgres"') == 'for user "postgres"'


def test_what_a_connection_is_opened_with_tells_secrets_and_names() -> None:
    scrubber = Scrubber()
    scrubber.learn({"host": "db", "port": 5432, "user": "rp", "password": "shop", "database": "shop", "driver": "x"})
    scrubber.learn({"url": "jdbc:x://h;trustStorePassword=hunter2", "url_options": "a=b\nsslpassword=hunter3"})
    assert scrubber.clean('"shop" has no hunter2, hunter3; password=shop') == '"shop" has no ***, ***; password=***'
    scrubber.learn({"password": None})
    scrubber.add("")
    assert scrubber.clean("None") == "None"


def test_words_of_a_query_are_names_unless_they_look_like_no_word() -> None:
    scrubber = Scrubber(["id", "Xk29dkQpz1aa"])
    scrubber.keep_words("SELECT id, f('Xk29dkQpz1aa') FROM t")
    assert scrubber.clean("column id of Xk29dkQpz1aa") == "column id of ***"
    assert scrubber.clean_own("column id of Xk29dkQpz1aa") == "column id of ***"


def test_text_with_our_words_loses_only_what_can_be_none_of_them() -> None:
    scrubber = Scrubber(["postgres", "Xk29d kQpz1", "NameOf1Role"], ["NameOf1Role"])
    scrubber.redact('SELECT "x"')
    ours = 'postgres of NameOf1Role: Xk29d kQpz1, Xk29d%20kQpz1, SELECT \\"x\\"'
    assert scrubber.clean_own(ours) == "postgres of NameOf1Role: ***, ***, ***"
    assert scrubber.clean('at SELECT "x"') == "at ***"


def test_keys_and_numbers_of_values_stay() -> None:
    values = {"on": "on", "list": ["on off", 7, None], "inside": {"on": "x=on"}}
    assert Scrubber(["on"]).clean_values(values) == {
        "on": "***",
        "list": ["*** off", 7, None],
        "inside": {"on": "x=***"},
    }


def test_messages_of_a_protocol_hold_a_password_or_only_a_short_word() -> None:
    scrubber = Scrubber(["a", "hunter2hunter", "rp"], ["rp"])
    assert not scrubber.holds(b"\x00\x01a\x00rp\x00hunter2")
    assert scrubber.holds(b"\x00\x07hunter2hunter\x00")
    assert scrubber.holds(b"ALTER ROLE rp PASSWORD 'rp'")


def test_options_that_hold_secrets() -> None:
    assert all(map(is_secret, ("password", "trustStorePassword", "PWD", "sslpassword", "Token ", "api_key")))
    assert not any(map(is_secret, ("user", "password_file", "tokenizer")))
    assert secrets_in("jdbc:x://h;password={a;b}}c};x=1") == ["a;b}c"]


@pytest.mark.parametrize("length", [10, 10_000])
def test_the_search_ends_in_any_text(length: int) -> None:
    """Forms that overlap would take exponential time in a regular expression."""
    secret = "\\'" * 10 + "z"
    text = "\\'" * (length // 10) + " and more"
    assert Scrubber([secret]).clean(text) == text
