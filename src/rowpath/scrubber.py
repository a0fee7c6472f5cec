"""Secrets in text: which options hold one, how it may be written there, and the text without it."""

from __future__ import annotations

import functools
import html
import json
import re
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MASK = "***"
PART = 8  # characters of a longer secret that are as bad as all of it
GENERATED = 24  # characters of one that we made
JDBC_PAIR = re.compile(r"(?P<before>[?&;:,(])(?P<key>[\w .-]+)=(?P<value>\{(?:[^}]|\}\})*\}|[^&;)]*)")
ODBC_PAIR = re.compile(r"\s*(?P<key>[^=;{}]+?)\s*=\s*(?P<value>\{(?:[^}]|\}\})*\}|[^;]*)(?:;|$)")

_KEYS = r"(?:password|passwd|pwd|secret|token|passphrase|api_?key|accesskey|credential)s?"
_SECRET_KEY = re.compile(f"{_KEYS}$", re.IGNORECASE)
_QUOTES = r"[\"'`({\[\\]"
# What stands before a password where it is no other name: `password=`, `PASSWORD '`, `IDENTIFIED BY '`.
_AS_PASSWORD = re.compile(
    rf"(?:{_KEYS}[\"'`\\]*\s*(?:(?:=>|[=:]|%3D)\s*{_QUOTES}*|{_QUOTES}+)"
    rf"|IDENTIFIED\s+(?:WITH\s+\S+\s+)?(?:BY|AS)\s+{_QUOTES}*)$",
    re.IGNORECASE,
)
_BEFORE_IN_URL, _AFTER_IN_URL = re.compile(r"(?:[:/]|%3A|%2F)$", re.IGNORECASE), re.compile(r"@|%40")
_LOOK_BACK = 80  # characters in which that stands
# The end of an escape is a letter or digit, and yet no part of a word.
_ESCAPE = re.compile(r"(?:%[0-9A-Fa-f]{2}|\\[abfnrtv0]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[0-7]{3})$")
_CUT = re.compile(r"\s*(?:…|\.\.\.|[\"'`)\]]*\s*$)", re.MULTILINE)
_WORD = re.compile(r"\w")


def is_secret(key: str) -> bool:
    """Whether an option of that name holds something that must not be seen."""
    return _SECRET_KEY.search(key.strip()) is not None


def secrets_in(text: str) -> list[str]:
    """The values of all options in a driver's URL or connection string that must not be seen."""
    pairs = [*JDBC_PAIR.finditer(text), *(pair for line in text.splitlines() for pair in ODBC_PAIR.finditer(line))]
    return sorted({unbraced(pair["value"]) for pair in pairs if is_secret(pair["key"]) and pair["value"]})


def unbraced(value: str) -> str:
    """The value without the braces that ODBC and SQL Server put around one with signs of their own."""
    return value[1:-1].replace("}}", "}") if value.startswith("{") and value.endswith("}") else value


class Scrubber:
    """Takes secrets out of foreign text: what a driver, a server or a user wrote; never out of our own words.

    A secret goes where it stands between characters that are no letter, digit or `_`, as it is or escaped: for a URL,
    JSON, SQL, C, libpq, a shell, HTML or ODBC, some of its characters or all. So do its first
    8 characters or more at a cut: before `…`, or where a line ends. A secret that looks like no word goes wherever 8 of
    its characters stand.

    A name stays where it equals the secret: then only what stands where a password does goes (`password=`, `:…@` of a
    URL, `PASSWORD '…'`, `IDENTIFIED BY '…'`).
    """

    def __init__(self, secrets: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        self._secrets: dict[str, _Secret] = {}
        self._names: set[str] = set()
        self._redacted: set[str] = set()
        for secret in secrets:
            self.add(secret)
        self.keep(*names)

    def add(self, secret: str) -> None:
        """Learn a secret; an empty one is ignored."""
        if secret.strip("*"):
            self._secrets.setdefault(secret, _Secret(secret))

    def keep(self, *names: str) -> None:
        """Learn names: of a role, database, host, driver, setting."""
        self._names.update(names)

    def keep_words(self, text: str) -> None:
        """Learn the words of a query or command as names, unless one looks like no word."""
        self._names.update(word for word in re.findall(r"\w+", text) if not _unmistakable(word))

    def redact(self, text: str) -> None:
        """Learn a text that the user wants nowhere; an empty one is ignored."""
        self._redacted |= _literal_forms(text) if text else set()

    def learn(self, options: Mapping[str, Any]) -> None:
        """Learn what a connection is opened with: its secrets by their options' names, all else as names."""
        for key, value in options.items():
            text = "" if value is None else str(value)
            if is_secret(key):
                self.add(text)
            elif found := secrets_in(text):
                for secret in found:
                    self.add(secret)
            else:
                self.keep(text)

    def clean(self, text: str) -> str:
        """Foreign text without secrets and without what is redacted."""
        for form in sorted(self._redacted, key=len, reverse=True):
            text = text.replace(form, MASK)
        for secret in sorted(self._secrets, key=len, reverse=True):
            kept = 0
            parts = []
            for begin, end in self._spans(secret, text):
                parts += [text[kept:begin], MASK]
                kept = end
            text = "".join((*parts, text[kept:]))
        return text

    def clean_values(self, value: Any) -> Any:
        """The same of every text in lists and of every value in dictionaries; keys and numbers stay."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, Mapping):
            return {key: self.clean_values(held) for key, held in value.items()}
        return [self.clean_values(held) for held in value] if isinstance(value, list | tuple) else value

    def clean_own(self, text: str) -> str:
        """Text with our own words in it: without secrets that look like no word, and without what is redacted."""
        known = (_literal_forms(secret) for secret in self._secrets if _unmistakable(secret))
        for form in sorted(self._redacted.union(*known), key=len, reverse=True):
            if form not in self._names:
                text = text.replace(form, MASK)
        return text

    def holds(self, content: bytes) -> bool:
        """Whether a secret stands in a protocol's messages; a name or a short one only where a password does."""
        text = content.decode("latin-1")
        told = Scrubber((secret for secret in self._secrets if secret.encode() in content), self._names)
        told.keep(*(secret for secret in self._secrets if len(secret) < PART))
        return bool(told.spans(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where `clean` finds secrets: begin and end of each."""
        return [span for secret in self._secrets for span in self._spans(secret, text)]

    def _spans(self, secret: str, text: str) -> Iterator[tuple[int, int]]:
        is_name = secret in self._names
        done = 0
        for begin, end, whole in self._secrets[secret].places(text, anywhere=not is_name):
            if begin < done or (text[begin:end] in self._names and not whole):
                continue
            if is_name and not _as_password(text, begin, end):
                continue
            done = end
            yield begin, end


class _Secret:
    """Where one secret stands in a text."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._leads = [_leads(sign) for sign in secret]
        self._unmistakable = _unmistakable(secret)
        # Beside a sign of its own a longer one has an end in any text.
        self._bounded = [len(secret) < PART or bool(_WORD.match(secret[end])) for end in (0, -1)]

    def places(self, text: str, *, anywhere: bool) -> list[tuple[int, int, bool]]:
        """Begin and end of each, in order, and whether it is there as a whole; `anywhere`: within words too."""
        loose = anywhere and self._unmistakable
        found = []
        for offset in range(len(self._secret) - PART + 1) if loose else (0,):
            for place in self._leads[offset].finditer(text):
                begin = place.start()
                if loose or not self._bounded[0] or _is_begin(text, begin):
                    end, whole = self._end(text, begin, offset, loose)
                    found += [(begin, end, whole)] if end else []
        return sorted(found, key=lambda span: (span[0], -span[1]))

    def _end(self, text: str, begin: int, offset: int, loose: bool) -> tuple[int, bool]:
        """Where it ends, 0 where it is not there; and whether all of it is."""
        ends = [{begin}]
        for sign in self._secret[offset:]:
            reached = {end for at in ends[-1] for end in _ends_of(sign, text, at)}
            if not reached:
                break
            ends.append(reached)
        if offset == 0 and len(ends) > len(self._secret):
            bounded = self._bounded[1] and not loose
            if whole := [end for end in ends[-1] if not bounded or not _WORD.match(text, end)]:
                return max(whole), True
            ends.pop()
        for reached in reversed(ends[PART:]):
            if cut := [end for end in reached if loose or _CUT.match(text, end)]:
                return max(cut), False
        return 0, False


@functools.cache
def _unmistakable(secret: str) -> bool:
    """Whether it looks like no word of any language, so that it can be nothing else."""
    mixed = any(map(str.islower, secret)) and any(map(str.isupper, secret))
    return len(secret) >= PART and mixed and (len(secret) >= GENERATED or any(map(str.isdigit, secret)))


def _is_begin(text: str, begin: int) -> bool:
    if begin == 0 or not _WORD.match(text[begin - 1]):
        return True
    return _ESCAPE.search(text[max(0, begin - 8) : begin]) is not None


def _as_password(text: str, begin: int, end: int) -> bool:
    before = text[max(0, begin - _LOOK_BACK) : begin]
    in_url = _BEFORE_IN_URL.search(before) and _AFTER_IN_URL.match(text, end)
    return bool(in_url or _AS_PASSWORD.search(before))


@functools.cache
def _literal_forms(text: str) -> frozenset[str]:
    escaped = {json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    return frozenset({text, urllib.parse.quote(text, safe=""), urllib.parse.quote_plus(text), *escaped})


def _ends_of(sign: str, text: str, at: int) -> Iterator[int]:
    """Where one character may end that begins there."""
    there = text[at : at + 1]
    if there == sign:
        yield at + 1
    if there and not (there.isascii() and there.isalnum()):  # no escape begins so
        yield from (match.end() for form in _escapes(sign) if (match := form.match(text, at)))


@functools.cache
def _escapes(sign: str) -> tuple[re.Pattern[str], ...]:
    """The other ways to write one character; each has one end at most, so that no text makes the search long."""
    code, octets = ord(sign), sign.encode("utf-8", "surrogateescape")
    plain = re.escape(sign)
    ways = {
        "".join(f"%(?:25)*{octet:02x}" for octet in octets),
        "".join(rf"\\+x{octet:02x}" for octet in octets),
        "".join(rf"\\+{octet:03o}" for octet in octets),
        rf"&\#(?:0*{code}|x0*{code:x});",
        re.escape(html.escape(sign)),
    }
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    ways.add("".join(rf"\\+u{units[at : at + 4]}" for at in range(0, len(units), 4)))
    if not sign.isascii():
        ways |= {re.escape(octets.decode("latin-1")), rf"\\+x{code:02x}", r"\ufffd+", r"\?+"}
    if sign == "\\":
        ways |= {r"\\" * times for times in (1, 2, 4, 8)}
    elif not sign.isalnum():  # escaped, and doubled
        ways |= {rf"\\*{plain}", rf"\\*{plain}\\*{plain}"}
    if sign == "'":
        ways |= {r"'\\''", "'\"'\"'"}  # of a shell
    if sign == " ":
        ways.add(r"\+")
    named = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}.get(sign)
    if named:
        ways.add(rf"\\+{named}")
    return tuple(re.compile(way, re.IGNORECASE) for way in sorted(ways - {plain}))


@functools.cache
def _leads(sign: str) -> re.Pattern[str]:
    """The characters with which a form of that one may begin: finds places quickly in a long text."""
    leads = {sign, "%", "&", "\\", *("+" if sign == " " else "")}
    if not sign.isascii():
        leads |= {sign.encode("utf-8", "surrogateescape").decode("latin-1")[0], "\ufffd", "?"}
    return re.compile(f"[{re.escape(''.join(sorted(leads)))}]")
